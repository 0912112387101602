"""Data."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Data",
    "What any source of examples can say.",
    {
        "data_path_missing": ProblemEntry(
            "No file or folder was chosen.",
            "The kind of data needs one.",
            "Choose it.",
        ),
        "data_file_missing": ProblemEntry(
            "A file or folder of the data does not exist.",
            "It was moved, renamed, or its disk is not there.",
            "Choose another one, or put it back.",
        ),
        "data_file_unreadable": ProblemEntry(
            "A file or folder of the data cannot be read.",
            "Permissions, or a disk that does not answer.",
            "Choose one that you may read, or check the disk.",
        ),
        "data_file_damaged": ProblemEntry(
            "A file is truncated, or is not what its name says.",
            "A copy or download was interrupted.",
            "Get or write it again.",
        ),
        "data_files_too_many": ProblemEntry(
            "A profile names too many files one by one.",
            "It holds 5,000 at most, fewer where names are long.",
            "Put them into a folder of their own, and choose that.",
        ),
        "data_files_missing": ProblemEntry(
            "Chosen images are not in their folder.",
            "They were moved or deleted.",
            "Put them back, or leave them out.",
        ),
        "data_files_no_pictures": ProblemEntry(
            "Chosen files are not images by their names.",
            "Their endings are of another kind.",
            "Leave them out.",
        ),
        "data_key_unused": ProblemEntry(
            "A key of the data has no effect.",
            "Another key, as it is set, leaves nothing to it.",
            "Remove it, or change the other one.",
        ),
        "data_array_missing": ProblemEntry(
            "The file has no array of that name, or none of labels.",
            "The name is mistyped, or only examples were saved.",
            "Choose one of the arrays that are named, or save labels beside the examples.",
        ),
        "data_array_of_objects": ProblemEntry(
            "An array holds Python objects.",
            "Reading them would run code from the file, which is refused.",
            "Save it with a number type: `array.astype(numpy.float32)`.",
        ),
        "data_arrays_ambiguous": ProblemEntry(
            "It is not clear which array holds the examples or the labels.",
            "None, or several, have a usual name.",
            "Choose them, or name the arrays `x` and `y`.",
        ),
        "data_empty": ProblemEntry(
            "There are no examples.",
            "The file, or what was selected of it, has none.",
            "Choose a file with at least one example.",
        ),
        "data_examples_differ": ProblemEntry(
            "Examples of your code have different shapes or types.",
            "A batch needs all alike.",
            "Give every example the same shape and the same type of numbers.",
        ),
        "data_features_not_finite": ProblemEntry(
            "Examples hold NaN or infinite values.",
            "Missing measurements or divisions by 0 look like this.",
            "Replace or remove them: training on them makes every weight NaN.",
        ),
        "data_features_not_numbers": ProblemEntry(
            "The examples are not numbers.",
            "The array holds texts, dates or objects.",
            "Convert them to numbers and save the array again.",
        ),
        "data_labels_missing": ProblemEntry(
            "The images have no labels.",
            "There is neither a folder for each class nor the CSV that is named.",
            "Sort them into folders, or choose a CSV; predicting needs neither.",
        ),
        "data_labels_negative": ProblemEntry(
            "A class label is negative.",
            "Classes are counted from 0.",
            "Number the classes from 0.",
        ),
        "data_labels_not_finite": ProblemEntry(
            "Values to be predicted are not finite numbers of 32 bits.",
            "Cells are empty, or much too large.",
            "Replace or remove these examples.",
        ),
        "data_labels_not_integer": ProblemEntry(
            "Class labels are not whole numbers.",
            "They are fractions, texts or values to be predicted.",
            "Number the classes 0, 1, 2, …; or predict values.",
        ),
        "data_labels_not_one_each": ProblemEntry(
            "Labels are not one for each example.",
            "A class is one number, or a row with a single 1.",
            'Save class numbers; or set `data.predicts` to `"labels"` or `"values"`.',
        ),
        "data_labels_not_zero_or_one": ProblemEntry(
            "Several labels hold other values than 0 and 1.",
            "Each label is true or not.",
            "Save a column of 0 and 1 for each; or predict classes or values.",
        ),
        "data_labels_out_of_range": ProblemEntry(
            "A label is larger than the number of classes.",
            "`data.class_count` is too small, or labels begin at 1.",
            "Correct the labels, or the number of classes.",
        ),
        "data_lengths_differ": ProblemEntry(
            "There are more examples than labels, or fewer.",
            "Both arrays were not saved from the same examples.",
            "Save them again together.",
        ),
        "data_one_class": ProblemEntry(
            "All examples have one class.",
            "There is nothing to distinguish.",
            "Use examples of two classes or more.",
        ),
        "data_too_many_classes": ProblemEntry(
            "There are more classes than can be distinguished.",
            "The label is a number of something else, such as a price.",
            "Choose the column or folders that are classes; or predict values.",
        ),
        "data_classes_differ": ProblemEntry(
            "The classes of one set are not those of another.",
            "Folders or labels are named otherwise.",
            "Name them alike.",
        ),
        "data_predicts_misfit": ProblemEntry(
            "The data cannot give what is to be predicted.",
            "Folders give classes only.",
            "Choose a CSV or table with what is predicted, or predict classes.",
        ),
        "data_axes_misfit": ProblemEntry(
            "An array has too few axes for the order that was chosen.",
            "Channels that come first, or examples that come last, are an axis of their own.",
            "Choose the automatic order in `data.axes`.",
        ),
        "data_classes_alike": ProblemEntry(
            "Two classes have names that are read as one.",
            "Folders or labels spell one name in two ways: capitals, spaces, or an accent that is "
            "a character of its own, as macOS writes it.",
            "Give one class one name in the data, or keep them where they are two classes.",
        ),
        "data_values_seem_classes": ProblemEntry(
            "Values that are predicted may be classes.",
            "They are few whole numbers, such as 1.0, 2.0 and 3.0 where a program wrote classes as "
            "decimal numbers; or each example's are together 1.",
            "Choose `data.predicts`.",
        ),
        "data_classes_without_examples": ProblemEntry(
            "Classes have no example that is trained on.",
            "Labels count from 1, have gaps, or are numbers such as 0 and 255.",
            "Number the classes from 0 without gaps, unless it is meant.",
        ),
        "data_classes_of_one_example": ProblemEntry(
            "Most classes have one example only.",
            "They are names of the examples, dates or amounts, and no classes.",
            "Choose another column of labels, or predict values.",
        ),
        "data_labels_empty": ProblemEntry(
            "A label that is the name of a class is empty.",
            "An array of text has nothing in its place.",
            "Name the class of each example, or remove those without one.",
        ),
        "data_sets_scaled_differently": ProblemEntry(
            "The values of a held out set go much further than those that are trained on.",
            "One was saved as 0 to 255 and the other as 0 to 1.",
            "Save both from numbers that were divided by the same.",
        ),
        "data_folders_in_classes": ProblemEntry(
            "Folders of classes hold folders of the same names, or such as train and test.",
            "The folders are cameras, persons, folds or sets, and the classes are in them.",
            "Choose one of them for training and others for validation and test, or turn "
            "`data.find_sets` off.",
        ),
        "data_files_beside_classes": ProblemEntry(
            "Images or texts stand beside the folders of the classes.",
            "They belong to no class, and are not used.",
            "Move them into the folder of their class.",
        ),
        "data_masks_as_classes": ProblemEntry(
            "Images and their masks are two classes, or examples of the same.",
            "A folder holds folders such as images and masks, which are taken for classes; or the "
            "folders of classes do.",
            "Choose a folder with a sub-folder for each class, or a CSV with labels; leave folders "
            "of masks out by `data.leave_out`.",
        ),
        "data_classes_in_class": ProblemEntry(
            "A folder of a class holds folders that are called as other classes.",
            "An archive holds the same folders twice, one copy within the other.",
            "Leave that folder out, or choose it as the folder of the classes.",
        ),
        "data_sets_alike": ProblemEntry(
            "Examples that are trained on are measured on, too.",
            "The same file, folder or split was chosen twice.",
            "Choose others, or leave one empty.",
        ),
        "data_sets_ambiguous": ProblemEntry(
            "It is not clear which files or folders are which set.",
            "Two names mean the same set, such as val and validation.",
            "Choose the sets, or turn `data.find_sets` off.",
        ),
        "data_sets_as_classes": ProblemEntry(
            "Classes have the names of sets.",
            "A folder holds folders such as seg_train and seg_test beside others, so that all are "
            "taken for classes.",
            "Choose the folders of the sets, or turn `data.find_sets` off.",
        ),
        "data_test_set_misfit": ProblemEntry(
            "What is held out does not fit what is trained on.",
            "Shapes or types of both differ.",
            "Save both from the same kind of examples and labels.",
        ),
        "data_validation_fraction": ProblemEntry(
            "Nothing is left to train on, or to validate.",
            "The fraction of so few examples gives none.",
            "Choose another fraction, or 0 for no validation.",
        ),
        "validation_fraction_unused": ProblemEntry(
            "No part of the training examples is held out.",
            "Another set validates.",
            "Leave the fraction out; or leave the path empty.",
        ),
        "stratify_unused": ProblemEntry(
            "Stratification changes nothing.",
            "Nothing is held out, or the labels are not classes.",
            "Turn it off.",
        ),
        "data_download_failed": ProblemEntry(
            "A data set or its weights could not be downloaded.",
            "There is no network, or the server does not answer.",
            "Connect to the network and start again.",
        ),
        "data_download_damaged": ProblemEntry(
            "What was downloaded is not the file that is known.",
            "Something between this machine and the server alters downloads.",
            "Start again; if it stays so, use another network.",
        ),
        "data_digits_missing": ProblemEntry(
            "The bundled digits are missing.",
            "The package scikit-learn, which holds them, is not complete.",
            "`pip install --force-reinstall scikit-learn`",
        ),
        "data_wines_missing": ProblemEntry(
            "The bundled wines are missing.",
            "The package scikit-learn, which holds them, is not complete.",
            "`pip install --force-reinstall scikit-learn`",
        ),
        "download_died": ProblemEntry(
            "The process that downloads ended.",
            "The detail has its last words.",
            "Try again, or start a run, which downloads as well.",
        ),
        "download_goes_on": ProblemEntry(
            "Another data set is being downloaded.",
            "Only one can be at a time.",
            "Wait until it is done, or stop it.",
        ),
        "preview_not_started": ProblemEntry(
            "The process that reads the data for the preview could not be started.",
            "The installation is damaged, or the system has no room for a process.",
            "Repair the installation; the detail has the system's answer.",
        ),
        "preview_too_slow": ProblemEntry(
            "Reading the data for the preview took too long.",
            "A very large file, or a slow disk.",
            "Start: a run may still read it.",
        ),
        "preview_died": ProblemEntry(
            "The process that reads the data for the preview ended.",
            "The data may be damaged, or larger than memory.",
            "Check the file; the detail has the last words.",
        ),
        "preview_unreadable": ProblemEntry(
            "The preview gave an answer that cannot be read.",
            "This is a defect of gpupanel.",
            "Report it with the detail.",
        ),
        "examples_changed": ProblemEntry(
            "The data has fewer examples than when the run read it.",
            "It has changed since.",
            "Run it again.",
        ),
        "examples_not_shown": ProblemEntry(
            "Examples could not be shown.",
            "The data may be damaged, too large for memory, or on a slow disk.",
            "Check the data; the detail has the last words.",
        ),
        "evaluated_examples_missing": ProblemEntry(
            "An evaluation has no record of each example.",
            "An earlier version made it, or there were more than 20 million.",
            "Evaluate again to see them.",
        ),
        "run_file_unreadable": ProblemEntry(
            "A file of a run's predictions or evaluation cannot be read.",
            "A copy was interrupted, or the file is damaged.",
            "Run it again.",
        ),
        "data_changed": ProblemEntry(
            "The data is not what the run has learned from.",
            "Files were added, removed or altered since.",
            "Put it back as it was, or continue with `--accept-changed-data`.",
        ),
        "data_changed_accepted": ProblemEntry(
            "The run continues with data that has changed.",
            "That was asked for.",
            "Nothing: what the model has learned is kept; earlier metrics are of the previous "
            "data.",
        ),
        "data_not_compared": ProblemEntry(
            "The data could not be compared with what the run has learned from.",
            "An earlier version began the run, or the record is damaged or gone.",
            "Check yourself whether it is the same; it is recorded from now on.",
        ),
        "data_not_recorded": ProblemEntry(
            "What the data is like could not be recorded.",
            "The run's folder could not be written.",
            "Free some space; when the run is resumed, changed data may not be noticed.",
        ),
        "channels_first": ProblemEntry(
            "The channels of the images seem to come first.",
            "PyTorch has them in this order; TensorFlow takes the last axis for the channels.",
            "Choose `data.axes` of a NumPy file, or give the array as `numpy.moveaxis(x, 1, -1)`.",
        ),
        "images_dark": ProblemEntry(
            "Images use only a small part of their range.",
            "Cameras and microscopes of 10, 12 or 14 bits save images of 16 bits so. The upper 8 "
            "bits are taken, and hardly anything is left.",
            "Choose the value that is white in `data.white_value`, as the fix does.",
        ),
        "white_value_misfit": ProblemEntry(
            "The white value is not that of the images.",
            "Their values go beyond it, or they have 8 bits a value.",
            "Choose another `data.white_value`, or none.",
        ),
    },
)

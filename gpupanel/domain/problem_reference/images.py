"""Images."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Images",
    "Folders of images, by class or with a CSV of labels.",
    {
        "data_no_classes": ProblemEntry(
            "There are no class folders.",
            "The folder has no sub-folders, or all of them are left out.",
            "Sort the images into a folder for each class, or put a CSV with their labels "
            "beside them.",
        ),
        "data_class_empty": ProblemEntry(
            "The folder of a class has no images.",
            "They are of another kind, or were moved.",
            "Put images there, or leave the class out.",
        ),
        "data_annotations_are_no_labels": ProblemEntry(
            "The images have annotations and no classes.",
            "A folder beside them is called labels, annotations or masks and holds no images: "
            "boxes of objects, or outlines.",
            "Sort the images into a folder for each class, or choose a CSV with a label for each.",
        ),
        "data_masks_as_images": ProblemEntry(
            "Images of classes are called as the masks of others.",
            "Such as `1_mask.png` beside `1.png`, or `1.png` beside `1.jpg`.",
            "Move them out of the folders of the classes, unless they are examples.",
        ),
        "data_beside_sets": ProblemEntry(
            "Images beside the folders of the sets are not used.",
            "Folders called train, val or test are the sets, and other ones are none.",
            "Move them into the folders of the sets, or choose these in `data.path`, "
            "`data.validation_path` and `data.test_path`.",
        ),
        "images_see_through": ProblemEntry(
            "Images are transparent.",
            "What is behind them is taken for white; or their fourth channel is something else.",
            "Nothing, if it is meant; else save them without that channel.",
        ),
        "data_sets_in_column": ProblemEntry(
            "A column of the CSV says which set each image is in.",
            "It holds train, val and test, or 0 and 1; all images of the CSV are trained on.",
            "Put the images of each set into a folder of its own; one CSV beside these is enough.",
        ),
        "data_csv_not_utf8": ProblemEntry(
            "Names in the CSV of labels are not UTF-8 text.",
            "It was saved in another encoding, such as that of Western Europe.",
            "Save the table again as CSV (UTF-8, comma separated).",
        ),
        "images_of_several_frames": ProblemEntry(
            "Images have several frames or pages.",
            "They are stacks of a microscope, documents or animations; the first frame is read.",
            "Nothing, if it is meant; else save each frame as an image of its own.",
        ),
        "data_left_out_unknown": ProblemEntry(
            "A class that is to be left out has no folder.",
            "Its name is mistyped: capital letters count.",
            "Check its name.",
        ),
        "data_csv_empty": ProblemEntry(
            "The CSV of labels has no lines.",
            "It was not saved, or is another file.",
            "Choose a CSV with a line for each image.",
        ),
        "data_csv_unreadable": ProblemEntry(
            "The CSV of labels cannot be read.",
            "A line is not UTF-8, is too long or has an open quote; or the file may not be read.",
            "Correct that line, or save the table again as CSV (UTF-8, comma separated).",
        ),
        "data_csv_one_column": ProblemEntry(
            "The CSV has no column of labels.",
            "It has one column only, or the other one is the group.",
            "Beside the file of each image there has to be its label.",
        ),
        "data_csv_columns_differ": ProblemEntry(
            "Two sets have different columns of labels.",
            "Their CSV files are not of the same form.",
            "Give each set the same columns.",
        ),
        "data_csv_leaves_folder": ProblemEntry(
            "The CSV names a file outside its folder.",
            "Its paths begin elsewhere.",
            "Name each image from the folder that holds them, such as `cats/1.png`.",
        ),
        "data_csv_no_pictures": ProblemEntry(
            "No line of the CSV names an image of the folder.",
            "It is of other images, or its names are written otherwise, such as 1 for 001.png.",
            "Name each image as the folder does; its suffix and folders may be left out. If the "
            "wrong column was taken, choose `data.file_column`.",
        ),
        "data_csv_names_several": ProblemEntry(
            "A name in the CSV may be that of several images.",
            "Images in several folders have the same name, or differ in suffix or capitals only; "
            "or lines of different folders lead to one image.",
            "Name each image with its folder and suffix.",
        ),
        "data_column_unknown": ProblemEntry(
            "A column that was chosen is not in the CSV of labels.",
            "Its name is mistyped, or it is another file.",
            "Choose a column that is there, or let it be found.",
        ),
        "data_file_column_unclear": ProblemEntry(
            "Several columns of the CSV may name the images.",
            "Images are called by numbers, and several columns hold such numbers.",
            "Say which in `data.file_column`.",
        ),
        "data_label_columns_unclear": ProblemEntry(
            "Nothing shows which column of the CSV is to be predicted.",
            "It has several beside that of the images, such as an age and a diagnosis.",
            "Say which in `data.label_columns`.",
        ),
        "data_label_column_taken": ProblemEntry(
            "One of several columns is predicted, by its name.",
            "It is called label, class, target, category or tags; the others are not used.",
            "Choose another one in `data.label_columns`, if that is meant.",
        ),
        "data_labels_beside": ProblemEntry(
            "Folders are taken for classes, and a CSV beside them names their images.",
            "The folders may be parts of a set, and the CSV says what the images are.",
            "Take the labels from the CSV, unless the names of the folders are the classes.",
        ),
        "data_sets_left_out": ProblemEntry(
            "Folders of sets are not used: nothing says what their images are.",
            "Test images of a competition have no labels.",
            "Predict on them; or put a CSV of the same name, or folders of classes, into their "
            "folder.",
        ),
        "data_labels_left_out": ProblemEntry(
            "Images whose label is empty are left out.",
            "`data.empty_words` is chosen.",
            "Give them a label to use them.",
        ),
        "data_words_kept": ProblemEntry(
            "A word such as None or ? is taken for a class.",
            "It may mean that the image has no label.",
            "Say in `data.empty_words` which words mean that.",
        ),
        "data_numbers_unclear": ProblemEntry(
            "A number in the CSV of labels may be two.",
            "A cell such as 1,234 is a thousand in one country and little more than 1 in another, "
            "and no cell of its column shows which.",
            "Say in `data.decimal` which character stands before decimals.",
        ),
        "data_numbers_read": ProblemEntry(
            "Numbers in the CSV of labels are written otherwise than programs write them.",
            "They have a decimal comma, thousands separators or a unit.",
            "Check that they are read as they are meant; else set `data.decimal`.",
        ),
        "data_labels_seem_values": ProblemEntry(
            "Classes look like amounts.",
            "They are many different numbers, or numbers and some other texts.",
            "Choose in `data.predicts` whether they are values or classes.",
        ),
        "data_labels_seem_several": ProblemEntry(
            "Classes look like combinations of labels.",
            "A cell holds several, such as `a;b` or `['a', 'b']`.",
            "Choose in `data.predicts` whether they are several labels or classes.",
        ),
        "data_group_unknown": ProblemEntry(
            "The group column is not in the CSV.",
            "Its name is mistyped.",
            "Choose a column that is there, or leave `data.group` empty.",
        ),
        "data_images_missing": ProblemEntry(
            "Images that the CSV names are not in the folder.",
            "They were moved or deleted.",
            "Put them there, or allow for more in `data.unreadable_share`.",
        ),
        "data_images_unlabelled": ProblemEntry(
            "Images of the folder have no line in the CSV.",
            "The CSV is of fewer images.",
            "They are left out; give each a line to use them.",
        ),
        "data_files_not_read": ProblemEntry(
            "Files in the folder are not images by their names.",
            "Their suffixes are of other formats, of ones that need another package (HEIC: "
            "`pillow-heif`; AVIF: Pillow 11.3), or are missing.",
            "Save images among them as JPEG or PNG, with a suffix that says so.",
        ),
        "data_image_missing": ProblemEntry(
            "An image is not there any more.",
            "It was removed after the folder was listed, or is a link to nothing.",
            "Put it back, and leave the folder alone while a run is in progress.",
        ),
        "data_image_too_large": ProblemEntry(
            "An image has too many pixels to be decoded.",
            "A scan or a panorama; a malicious file looks like this, too.",
            "Scale it down, or remove it.",
        ),
        "data_image_unreadable": ProblemEntry(
            "An image cannot be decoded.",
            "It is truncated, damaged or of another kind than its name says.",
            "Repair or remove it.",
        ),
        "data_images_skipped": ProblemEntry(
            "Some images are skipped.",
            "They cannot be read, and are few enough.",
            "Repair or remove them; or set `data.unreadable_share` to 0, to end a run at the "
            "first.",
        ),
        "data_images_unreadable": ProblemEntry(
            "More images cannot be read than may be skipped.",
            "Files are damaged, or the disk is.",
            "Repair or remove them, or raise `data.unreadable_share`.",
        ),
        "decoded_images_no_space": ProblemEntry(
            "The decoded images do not fit on the disk of the cache.",
            "They take more than the files.",
            'Make space, set `data.cache` to `"none"`, or `GPUPANEL_CACHE_DIR` to a folder on '
            "another disk.",
        ),
        "decoded_images_not_kept": ProblemEntry(
            "Decoded images cannot be written to the cache.",
            "Permissions, or a disk that fails.",
            'Set `data.cache` to `"none"`, or `GPUPANEL_CACHE_DIR` to a folder that you may '
            "write to.",
        ),
        "decoded_images_unreadable": ProblemEntry(
            "Decoded images cannot be read from the cache any more.",
            "The files were changed, or the disk fails.",
            "Remove the files that are named and start again: the images are decoded again.",
        ),
    },
)

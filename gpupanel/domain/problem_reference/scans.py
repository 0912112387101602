"""Scans of the data."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Scans of the data",
    "What *Scan data…* and `gpupanel scan` find in the examples.",
    {
        "scan_validation_leak": ProblemEntry(
            "Validation examples are among the training examples, too.",
            "The same content is in both sets.",
            "Keep one of each, or all copies in one set.",
        ),
        "scan_test_leak": ProblemEntry(
            "Test examples are among those that are trained or validated on.",
            "The same content is in both sets.",
            "Keep one of each, or all copies in one set.",
        ),
        "scan_labels_differ": ProblemEntry(
            "The same content has different labels.",
            "Somebody labelled it twice, or by mistake.",
            "Check which label is right.",
        ),
        "scan_copies": ProblemEntry(
            "Examples are copies of others.",
            "Files were copied, or rows repeated.",
            "Remove duplicates that are not intended.",
        ),
        "scan_class_names_alike": ProblemEntry(
            "Names of classes differ only in case, spaces or accents.",
            "The same class was written in several ways.",
            "Give them the same name if they mean the same.",
        ),
        "scan_class_not_in_training": ProblemEntry(
            "A class has no training example.",
            "It is only in another set.",
            "Add some: such a class is never learned.",
        ),
        "scan_class_not_in_validation": ProblemEntry(
            "A class has no validation example.",
            "It is rare, and the held out part has none.",
            "Hold out more, or stratify: how well the model does on it is not measured.",
        ),
        "scan_class_not_in_test": ProblemEntry(
            "A class has no test example.",
            "It is rare.",
            "Add some: how well the model does on it is not measured.",
        ),
        "scan_class_of_one": ProblemEntry(
            "A class has a single training example.",
            "A mistyped name does this, too.",
            "Add some, or correct the name.",
        ),
        "scan_classes_uneven": ProblemEntry(
            "Classes have very different numbers of examples.",
            "A model that never predicts the rare ones is nearly always right.",
            'Weight classes (`"balanced"`), or oversample.',
        ),
        "scan_constant_columns": ProblemEntry(
            "Features hold the same number in every example.",
            "Borders of images, or columns that were never filled.",
            "Leave them out when you save the array.",
        ),
        "scan_examples_unreadable": ProblemEntry(
            "Examples cannot be read.",
            "Their records or files are damaged.",
            "Repair or remove them.",
        ),
        "scan_images_unreadable": ProblemEntry(
            "Images cannot be read.",
            "They are damaged.",
            "Repair or remove them, or skip them as the fix does.",
        ),
        "scan_pictures_blank": ProblemEntry(
            "Images are of one colour.",
            "A covered camera, or an interrupted copy.",
            "Remove them.",
        ),
        "scan_values_far_outside": ProblemEntry(
            "Some values lie far from all others.",
            "A typing error, another unit, or a placeholder for a missing value.",
            "Correct them: one such value shifts the mean and the scale of all others.",
        ),
        "scan_files_changed": ProblemEntry(
            "Files changed while they were examined.",
            "Another program writes there.",
            "Scan again when it is done.",
        ),
        "scan_folder_gone": ProblemEntry(
            "The folder disappeared while it was scanned.",
            "Its disk was removed, or somebody deleted it.",
            "Check whether its disk is still there, and scan again.",
        ),
        "scan_not_started": ProblemEntry(
            "The process that scans could not be started.",
            "The installation is damaged, or the system has no room for a process.",
            "Repair the installation; the detail has the system's answer.",
        ),
        "scan_died": ProblemEntry(
            "The process that scans ended.",
            "The data may be damaged or larger than memory.",
            "Copy the detail into a report.",
        ),
        "scan_unreadable": ProblemEntry(
            "The scan gave an answer that cannot be read.",
            "This is a defect of gpupanel.",
            "Report it with the detail.",
        ),
    },
)

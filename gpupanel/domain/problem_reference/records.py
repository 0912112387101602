"""TFRecord files and the catalogue."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "TFRecord files and the catalogue",
    "Records of TensorFlow, and the data sets of tensorflow-datasets.",
    {
        "record_not_an_example": ProblemEntry(
            "A record is not a `tf.train.Example`.",
            "The file holds other messages, or is of another kind.",
            "Write each example as a serialised `tf.train.Example`.",
        ),
        "record_feature_missing": ProblemEntry(
            "Records have no feature of that name.",
            "It is mistyped, or only some records have it.",
            "Choose a feature that every record has.",
        ),
        "record_feature_unfit": ProblemEntry(
            "A feature cannot be what it was chosen for.",
            "It is of another type, or empty.",
            "Choose another one.",
        ),
        "record_features_ambiguous": ProblemEntry(
            "It is not clear which feature holds the examples or the labels.",
            "None, or several, have a usual name.",
            "Choose them.",
        ),
        "record_features_differ": ProblemEntry(
            "A feature differs from record to record.",
            "Lengths or types are not the same.",
            "Write all examples alike; encoded images may be of any size.",
        ),
        "record_shape_misfit": ProblemEntry(
            "The shape or type that was set does not fit the bytes.",
            "Another number of bytes was written.",
            "Set `data.shape` and `data.raw_type` to what was written, or leave them out.",
        ),
        "record_type_ambiguous": ProblemEntry(
            "Raw bytes may be numbers of several types.",
            "The records do not say the type, and the bytes look like more than one.",
            "Set `data.raw_type` to what was written, and `data.shape` where no feature says it.",
        ),
        "record_mask_is_no_label": ProblemEntry(
            "Records hold an image and a mask of it, and no label.",
            "They are made for segmentation, which predicts each pixel.",
            "Choose records with a class, labels or values of each image; or the feature that has "
            "them.",
        ),
        "record_names_are_classes": ProblemEntry(
            "A feature names classes, and something else is to be predicted.",
            "Texts can only be classes.",
            "Leave `data.predicts` and `data.class_count` out, or choose another feature.",
        ),
        "record_picture_unreadable": ProblemEntry(
            "The image in a record cannot be decoded.",
            "It is damaged; a malicious image looks like this, too.",
            "Write the file again without it.",
        ),
        "record_links_left_out": ProblemEntry(
            "Links in a folder of records are left out.",
            "They may lead anywhere.",
            "Choose the folder that holds the files themselves.",
        ),
        "record_shards_missing": ProblemEntry(
            "Files of a set are missing.",
            "The names of the others say how many there are.",
            "Copy them, too.",
        ),
        "records_changed": ProblemEntry(
            "The records were changed while they were read.",
            "Another program writes them.",
            "Wait until it is done, and start again.",
        ),
        "records_no_space": ProblemEntry(
            "Unpacked records do not fit on the disk of the cache.",
            "Files in GZIP are unpacked there once.",
            "Make space, or set `GPUPANEL_CACHE_DIR` to a folder on another disk.",
        ),
        "records_not_kept": ProblemEntry(
            "Unpacked records cannot be written to the cache.",
            "Permissions, or a disk that fails.",
            "Make room, set `GPUPANEL_CACHE_DIR`, or write them without compression.",
        ),
        "records_not_counted": ProblemEntry(
            "There are too many records to be counted while you wait.",
            "A run counts them at its start.",
            "Nothing.",
        ),
        "records_too_many": ProblemEntry(
            "There are more records than can be indexed.",
            "The files hold billions.",
            "Train on a part of them.",
        ),
        "records_too_many_files": ProblemEntry(
            "A path means too many files.",
            "Each holds few records.",
            "Write fewer and larger ones, of some 100 MB each.",
        ),
        "tfds_name_unknown": ProblemEntry(
            "The catalogue has no data set of that name.",
            "It is mistyped, or names another place or arguments, which may run code.",
            "Write a name as `mnist`, `cifar10_corrupted/blur_1` or `mnist:3.0.1`.",
        ),
        "tfds_not_installed": ProblemEntry(
            "The package that prepares the data set is not installed.",
            "Reading what is prepared needs none.",
            '`pip install "gpupanel[tfds]"`, or choose the folder that it was prepared in.',
        ),
        "tfds_not_prepared": ProblemEntry(
            "The data set is not prepared yet.",
            "The start of a run downloads and prepares it.",
            "Start the run, or choose the folder that it was prepared in.",
        ),
        "tfds_config_ambiguous": ProblemEntry(
            "Several configs of the data set are there.",
            "Its name does not say which.",
            "Name one: `NAME/CONFIG`.",
        ),
        "tfds_split_missing": ProblemEntry(
            "The data set has no such split.",
            "It is mistyped; parts such as `train[:80%]` are not splits.",
            "Choose one of those that are named.",
        ),
        "tfds_feature_unused": ProblemEntry(
            "A feature of the data set cannot be read.",
            "Only images, classes and numbers of one shape are.",
            "Choose another feature, or another data set.",
        ),
        "tfds_file_format": ProblemEntry(
            "The data set is kept in another format than TFRecord.",
            "It was prepared so.",
            "Prepare it in another data folder.",
        ),
    },
)

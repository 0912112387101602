"""TFRecord files of a person's own: what is asked about them."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, get_args

from pydantic import BeforeValidator, Field
from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import ImageSource, Target
from gpupanel.domain.decoded_images import Color, ImageSize, color_setting, image_size_setting
from gpupanel.domain.kind import kind
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.source_settings import (
    ONE_INPUT,
    ONE_OUTPUT,
    ClassCount,
    class_count_setting,
    inputs_setting,
    names_in,
    one_or_several,
    outputs_setting,
    unreadable_share_setting,
)
from gpupanel.domain.value import Fraction

RECORD_SUFFIXES = (".tfrecord", ".tfrecords", ".tfrec", ".tfr")
FeatureName = Annotated[str, Field(min_length=1)]
Length = Annotated[int, Field(gt=0, le=2**24)]
RawType = Literal[
    "uint8",
    "int8",
    "bool",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
    "tensor",
]
RAW_TYPES: Final[Mapping[str, RawType]] = {name: name for name in get_args(RawType)}
"""Element types by NumPy name; a serialized ``tensor`` has its own type."""
_LAST_PART = (
    " A feature such as image/mask may be called by what stands behind its last slash, too."
)
_PATTERN = (
    " A pattern of names in one folder, such as train-*.tfrecord, means all files that match it (* "
    "any text, ? any letter, [ab] one of these)."
)


class TfrecordData(ImageSource):
    """Records of ``tf.train.Example`` in TFRecord files, plain or compressed with GZIP.

    The features that there are, their types and lengths are read from the first records. What is
    left out is found: an encoded image is the example; else a feature with a usual name, such as
    image, x or features; its label is called label, y or target. A feature must have the same type
    and length in every record; images may be of any size. Several inputs and outputs, for a model
    of Python code alone, are said and never found.

    A folder whose files are called train, val and test by a word of their names, or by folders of
    these names, is taken for these sets. Files are read in the order of their names. Links in a
    folder are not followed.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["tfrecord"] = kind(
        Choice(
            "tfrecord",
            "TFRecord files…",
            "Records that TensorFlow wrote, in one file or in many: images, bytes or numbers with "
            "their labels.",
        ),
    )
    path: str = setting(
        "Files",
        f"A TFRecord file, or a folder of them.{_PATTERN}",
        path=PathKind(RECORD_SUFFIXES, "TFRecord files", "Choose the records", may_be_folder=True),
    )
    features: FeatureName | None = setting(
        "Examples feature",
        "The feature that is learned from: an encoded image, raw bytes, or numbers. Detected "
        "where there is one image, or one with a common name, such as image or x.",
        default=None,
        off="automatic",
        is_offered=True,
        applies=ONE_INPUT,
    )
    labels: FeatureName | None = setting(
        "Labels feature",
        "The feature that is predicted: a number, a row of numbers, or the name of a class. "
        "Detected where it has a common name, such as label, y or target.",
        default=None,
        off="automatic",
        is_offered=True,
        applies=ONE_OUTPUT,
    )
    inputs: tuple[FeatureName, ...] = inputs_setting("feature", "features", _LAST_PART)
    outputs: dict[str, Target] = outputs_setting("feature", "features", _LAST_PART)
    predicts: Target | None = setting(
        "Predicted",
        "What the labels are. Detected: whole numbers and names are classes, and so are rows with "
        "a single 1; other rows of 0 and 1 are several labels; other numbers are values.",
        default=None,
        off="automatic",
        applies=ONE_OUTPUT,
    )
    unreadable_share: Fraction = unreadable_share_setting("unreadable")
    image_size: ImageSize = image_size_setting("encoded image")
    color: Color = color_setting("encoded images")
    validation_path: str = setting(
        "Validation files",
        "A file, a folder or a pattern of the records that validate; no others are held out then.",
        default="",
        off="none",
        advanced=True,
        path=PathKind(
            RECORD_SUFFIXES, "TFRecord files", "Choose the validation records", may_be_folder=True
        ),
    )
    test_path: str = setting(
        "Test files",
        "A file, a folder or a pattern of the records that the trained model is measured on once, "
        "at the end.",
        default="",
        off="none",
        advanced=True,
        path=PathKind(
            RECORD_SUFFIXES, "TFRecord files", "Choose the test records", may_be_folder=True
        ),
    )
    find_sets: bool = setting(
        "Find sets in the folder",
        "Files with train, val or test as a word of their names are the training, the validation "
        "and the test set. Otherwise all files of a folder are trained on.",
        default=True,
        advanced=True,
    )
    shape: Annotated[tuple[Length, ...], Field(max_length=4)] = setting(
        "Shape",
        "The shape of an example of numbers or raw bytes, such as 28, 28, 1. By default taken "
        "from features of the record called shape, or height and width; else a row.",
        default=(),
        off="automatic",
        advanced=True,
        applies=ONE_INPUT,
    )
    shape_features: Annotated[
        FeatureName | tuple[FeatureName, ...] | None, BeforeValidator(one_or_several)
    ] = setting(
        "Shape features",
        "The feature with the shape of an example of numbers or raw bytes; or several with one "
        "number each, such as height, width and depth.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
        applies=ONE_INPUT,
    )
    raw_type: RawType | None = setting(
        "Type of raw bytes",
        "The type of the numbers in an example's bytes, least significant byte first; tensor: what "
        "tf.io.serialize_tensor wrote, which says it. Detected by the number of bytes where the "
        "shape is known, and by what the bytes hold.",
        default=None,
        off="automatic",
        advanced=True,
        applies=ONE_INPUT,
    )
    class_count: ClassCount | None = class_count_setting(advanced=True, applies=ONE_OUTPUT)

    module: ClassVar[str] = "tfrecord"
    asked_as: ClassVar[AskedKind] = AskedKind.IMAGE
    predicts_on_unlabelled: ClassVar[bool] = True
    may_lack_labels: ClassVar[bool] = True
    may_predict_several: ClassVar[bool] = True
    may_have_inputs: ClassVar[bool] = True
    may_have_arrays: ClassVar[bool] = True
    path_noun: ClassVar[str] = "TFRecord file"

    @property
    @override
    def asked_kind(self) -> AskedKind:
        return AskedKind.NONE if self.inputs else self.asked_as

    @property
    @override
    def is_plain(self) -> bool:
        return not (self.inputs or self.outputs)

    @property
    @override
    def needs_detection(self) -> bool:
        return (self.find_sets or super().needs_detection) and not self.lacks_path

    @property
    def chosen_shape_features(self) -> tuple[str, ...]:
        """The features that were chosen to say the shape."""
        return names_in(self.shape_features)

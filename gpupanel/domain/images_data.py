"""Folders of images of a person's own: what is asked about them."""

from itertools import chain
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field
from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.data_source import ImageSource, Scaling, Target
from gpupanel.domain.decoded_images import Color, ImageSize, color_setting, image_size_setting
from gpupanel.domain.empty_words import EmptyWord, empty_words_setting
from gpupanel.domain.image_names import IMAGE_SUFFIXES, SUFFIXES_BY_READER
from gpupanel.domain.kind import kind
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.source_settings import names_in, one_or_several, unreadable_share_setting
from gpupanel.domain.table_data import ColumnName, ColumnNames, DecimalMark, decimal_setting
from gpupanel.domain.value import Fraction

_AT_A_PART = "At a half, a quarter or an eighth where that is"
_FAST = (
    f"{_AT_A_PART} at most 15 % smaller than the image size, and then scaled up. In photographs "
    "a value of 0 to 255 differs by 1 to 10 on average, and by up to 100 at sharp edges, which "
    "become somewhat softer."
)


class JpegDecoding(ChoiceEnum):
    """How JPEGs that are larger than is wanted are unpacked."""

    EXACT = "exact", "Exact", f"{_AT_A_PART} no smaller than the image size, and then scaled down."
    FAST = "fast", "Fast", _FAST


ClassName = Annotated[str, Field(min_length=1)]
FileName = Annotated[str, Field(min_length=1)]
LabelColumns = Annotated[ColumnName | ColumnNames, BeforeValidator(one_or_several)]
IMAGE_INPUT, NUMBERS_INPUT = "image", "numbers"
"""The inputs of a model of images with numbers beside them."""
_CHOSEN_SUFFIXES = (*IMAGE_SUFFIXES, *chain.from_iterable(SUFFIXES_BY_READER.values()))
FOUND_CSV_TARGET = (
    "Detected: folders by class are classes; in a CSV, text and whole numbers in one column are "
    "classes, columns of 0 and 1 are labels, and other numbers are values. Chosen to be several "
    "labels, the text of one column is read as these: a;b, a|b, a, b, a b or ['a', 'b']."
)


class ImagesData(ImageSource):
    """Images: a folder for each class, or a CSV that says what each of them is.

    A folder of images alone has no labels: a model can predict on it, or on some of its images
    (``files``). One that has a folder
    ``train`` beside ``val`` or ``test`` is taken for three sets, each like any other folder
    (:mod:`gpupanel.trainer.datasets.images.set_folders`).

    The path is empty while none was chosen; a relative one is meant from the profile's folder, and
    ``labels_csv`` from that of the images.
    """

    source: Literal["images"] = kind(
        Choice(
            "images",
            "Folder of images…",
            "A folder with one sub-folder of images for each class, or with a CSV of their labels.",
        ),
    )
    path: str = setting(
        "Folder",
        "A folder with one sub-folder for each class, whose names are the classes'; one with a "
        "CSV of labels; or one with images only, to predict on.",
        path=PathKind((), "", "Choose the data"),
    )
    files: tuple[FileName, ...] = setting(
        "Only these images",
        "Images in the folder, each by its path within it: nothing else in it is used. They have "
        "no labels: a model can predict on them.",
        default=(),
        off="all of the folder",
        path=PathKind(_CHOSEN_SUFFIXES, "Images", "Choose images", within="path"),
    )
    labels_csv: str = setting(
        "Labels in a CSV",
        "A CSV file with a line for each image: its file and what is to be predicted, in one "
        "column or several. Each set has a file of that name in its own folder.",
        default="",
        off="none",
        path=PathKind((".csv", ".tsv", ".txt"), "CSV files", "Choose the labels", within="path"),
        applies={"files": ((),)},
    )
    file_column: ColumnName | None = setting(
        "File column",
        "The column of the CSV of labels that names the images; without a header columns are "
        "called 0, 1 and so on. Detected: the one whose cells name images of the folder, with or "
        "without suffix and folders.",
        default=None,
        off="automatic",
        is_offered=True,
        applies={"files": ((),)},
        needs=("labels_csv",),
    )
    label_columns: LabelColumns | None = setting(
        "Label columns",
        "The column of the CSV of labels that is predicted, or a list of several. Detected: the "
        "only one beside that of the files, the one called label, class, target, category or "
        "tags, or all where each holds numbers; else it is asked for.",
        default=None,
        off="automatic",
        is_offered=True,
        applies={"files": ((),)},
        needs=("labels_csv",),
    )
    predicts: Target | None = setting(
        "Predicted",
        f"What the labels are. {FOUND_CSV_TARGET}",
        default=None,
        off="automatic",
    )
    group: ColumnName | None = setting(
        "Group column",
        "The column of the CSV of labels of which equal values mark images that belong together, "
        "such as those of one patient: all images of a group are held out, or none, so that "
        "validation uses new groups. It is not a label.",
        default=None,
        off="none",
        is_offered=True,
        advanced=True,
        applies={"files": ((),), "holdout": ("random",)},
        needs=("labels_csv",),
    )
    numbers: ColumnNames = setting(
        "Numbers beside images",
        "For a model of Python code with two inputs: columns of the CSV of labels with numbers "
        f'that belong to each image. The inputs are called "{IMAGE_INPUT}" and "{NUMBERS_INPUT}"; '
        "the numbers come in this order, as they are written.",
        default=(),
        off="none",
        is_offered=True,
        advanced=True,
        examples=[["age", "weight"]],
        applies={"files": ((),)},
        needs=("labels_csv",),
    )
    decimal: DecimalMark | None = decimal_setting(applies={"files": ((),)}, needs=("labels_csv",))
    empty_words: tuple[EmptyWord, ...] | None = empty_words_setting(
        " Where this is chosen, images whose label is empty are left out; else they are refused.",
        applies={"files": ((),)},
        needs=("labels_csv",),
    )
    validation_path: str = setting(
        "Validation folder",
        "Another folder with the same classes, on whose images the model is validated after each "
        "epoch; no others are held out then.",
        default="",
        off="none",
        path=PathKind((), "", "Choose the validation images"),
        applies={"files": ((),)},
    )
    test_path: str = setting(
        "Test folder",
        "Another folder with the same classes, whose images the trained model is measured on "
        "once, at the end.",
        default="",
        off="none",
        path=PathKind((), "", "Choose the test images"),
        applies={"files": ((),)},
    )
    find_sets: bool = setting(
        "Find sets in the folder",
        "Folders named train, val and test within the folder, also such as seg_train or Test-Set, "
        "are the training, the validation and the test set. Otherwise they are classes like all "
        "others.",
        default=True,
        advanced=True,
        applies={"files": ((),)},
    )
    leave_out: tuple[ClassName, ...] = setting(
        "Left out",
        "Folders that are not used: in each set those of classes with these names are ignored, and "
        "those within classes.",
        default=(),
        off="none",
        is_offered=True,
        advanced=True,
        applies={"labels_csv": ("",), "files": ((),)},
    )
    unreadable_share: Fraction = unreadable_share_setting("unreadable or missing")
    image_size: ImageSize = image_size_setting()
    color: Color = color_setting()
    white_value: Annotated[int, Field(ge=1, le=2**32 - 1)] | None = setting(
        "White value",
        "The value that is white where the files do not use the whole of their range: 4095 of a "
        "camera of 12 bits whose images have 16. Up to 255 it is that of images of 8 bits, too. "
        "Automatic: the greatest that 8 or 16 bits have, or what a saved model was trained with.",
        default=None,
        off="automatic",
        advanced=True,
    )
    decode: JpegDecoding | None = setting(
        "JPEG decoding",
        "How JPEGs are unpacked that are larger than the image size. Automatic: exact, or as the "
        "images were read that a saved model was trained with.",
        default=None,
        off="automatic",
        advanced=True,
    )

    module: ClassVar[str] = "images"
    may_lack_labels: ClassVar[bool] = True
    predicts_on_unlabelled: ClassVar[bool] = True
    may_predict_several: ClassVar[bool] = True
    may_have_inputs: ClassVar[bool] = True
    is_decoded: ClassVar[bool] = True
    asked_as: ClassVar[AskedKind] = AskedKind.IMAGE
    path_noun: ClassVar[str] = "folder of images"

    @property
    @override
    def target_kind(self) -> Target | None:
        return self.predicts or (None if self.labels_csv else Target.CLASSES)

    @property
    @override
    def needs_detection(self) -> bool:
        are_found = self.labels_csv and None in (self.file_column, self.label_columns)
        is_open = (self.find_sets or are_found) and not self.files
        return bool(is_open or self.target_kind is None) and not self.lacks_path

    @property
    def chosen_labels(self) -> ColumnNames:
        """The columns of the CSV that were chosen to be predicted."""
        return names_in(self.label_columns)

    @property
    @override
    def asked_kind(self) -> AskedKind:
        return AskedKind.NONE if self.numbers else self.asked_as

    @property
    @override
    def is_plain(self) -> bool:
        return not self.numbers

    @property
    @override
    def left_out_classes(self) -> tuple[str, ...] | None:
        return None if self.labels_csv or self.files else self.leave_out

    @property
    @override
    def chosen_group(self) -> str:
        return (self.labels_csv and self.group) or ""

    @property
    @override
    def is_in_class_order(self) -> bool:
        return not self.labels_csv

    @property
    @override
    def example_axes(self) -> int:
        return len(self.chosen_shape)

    @property
    @override
    def chosen_shape(self) -> tuple[int, ...]:
        return (*self.image_size, 3 if self.color == "rgb" else 1)

    @property
    @override
    def scaling(self) -> Scaling:
        return Scaling.DIVIDE

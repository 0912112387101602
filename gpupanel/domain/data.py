"""What a run learns from.

Each source is a value here, with what is asked about it; the union at the end is the one list of
them. How a source is read stands in the file of ``gpupanel/trainer/datasets/sources`` that its
``module`` names, how a script reads it in the file of that name in
``gpupanel/planning/script/sources``.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.bundled_data import DigitsData as DigitsData
from gpupanel.domain.bundled_data import WineData as WineData
from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import Axes as Axes
from gpupanel.domain.data_source import ClassWeights as ClassWeights
from gpupanel.domain.data_source import DataCache as DataCache
from gpupanel.domain.data_source import Holdout as Holdout
from gpupanel.domain.data_source import ImageSource
from gpupanel.domain.data_source import Scaling as Scaling
from gpupanel.domain.data_source import Target as Target
from gpupanel.domain.decoded_images import Color, ImageSize, color_setting, image_size_setting
from gpupanel.domain.images_data import ImagesData as ImagesData
from gpupanel.domain.keras_data import KerasData as KerasData
from gpupanel.domain.kind import kind
from gpupanel.domain.npz_data import NpzData as NpzData
from gpupanel.domain.setting import PathKind, Setting, setting, setting_of
from gpupanel.domain.source_settings import FOUND_TARGET, unreadable_share_setting
from gpupanel.domain.source_settings import MOST_CLASSES as MOST_CLASSES
from gpupanel.domain.table_data import TableData as TableData
from gpupanel.domain.text_data import TextData as TextData
from gpupanel.domain.tfrecord_data import TfrecordData as TfrecordData
from gpupanel.domain.value import Fraction

NO_SPLIT = "none"


class TfdsData(ImageSource):
    """A data set of tensorflow-datasets by its name, read from the TFRecord files it is kept in.

    One that was prepared before is read without the package and without a network: images and
    numbers, with classes or values. Another one is downloaded and prepared by the package
    (``pip install "gpupanel[tfds]"``) when a run starts.
    """

    source: Literal["tfds"] = kind(
        Choice(
            "tfds",
            "TensorFlow Datasets…",
            "A data set of the catalogue of tensorflow-datasets, by its name. Downloaded once.",
        ),
    )
    name: str = setting(
        "Name",
        "As in the catalogue: mnist, or with a config and a version, such as "
        "cifar10_corrupted/blur_1:1.0.0. Without a version, the newest one on this machine.",
        default="",
        examples=["mnist"],
    )
    path: str = setting(
        "Data folder",
        "The folder that holds the prepared data sets, each in a folder of its name. By default "
        "$TFDS_DATA_DIR or ~/tensorflow_datasets.",
        default="",
        off="automatic",
        path=PathKind((), "", "Choose the folder of data sets"),
    )
    training_split: str = setting(
        "Training split", "The split to train on.", default="train", advanced=True
    )
    validation_split: str | None = setting(
        "Validation split",
        "The split that validates; no others are held out then. Detected where it is called "
        'validation; "none" for none.',
        default=None,
        off="automatic",
        is_offered=True,
    )
    test_split: str | None = setting(
        "Test split",
        "The split that the trained model is measured on once, at the end. Detected where it is "
        'called test; "none" for none.',
        default=None,
        off="automatic",
        is_offered=True,
    )
    features: str | None = setting(
        "Examples feature",
        "The feature that is learned from: an image, or numbers. By default the one that the data "
        "set declares.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
    )
    labels: str | None = setting(
        "Labels feature",
        "The feature that is predicted. By default the one that the data set declares.",
        default=None,
        off="automatic",
        is_offered=True,
        advanced=True,
    )
    unreadable_share: Fraction = unreadable_share_setting("unreadable")
    image_size: ImageSize = image_size_setting()
    color: Color = color_setting()
    predicts: Target | None = setting(
        "Predicted",
        f"What the labels are. {FOUND_TARGET}",
        default=None,
        off="automatic",
    )

    module: ClassVar[str] = "tfds"
    asked_as: ClassVar[AskedKind] = AskedKind.IMAGE
    may_lack_labels: ClassVar[bool] = True
    may_predict_several: ClassVar[bool] = True
    path_noun: ClassVar[str] = "data set"

    @property
    @override
    def path_setting(self) -> Setting:
        return setting_of(type(self), "name")

    @property
    @override
    def described(self) -> str:
        return f'the data set "{self.name}"'

    @property
    @override
    def has_validation_set(self) -> bool:
        return self.validation_split not in (None, NO_SPLIT)

    @property
    @override
    def chosen_test_path(self) -> str:
        return "" if self.test_split in (None, NO_SPLIT) else str(self.test_split)


class PythonData(ImageSource):
    """Examples that a Python file of the person's loads.

    The file is one whole: it may import what is installed, but no file beside it, because the
    content of this one is what a person trusts. It has a function ``load``::

        def load():
            return {"x": x, "y": y, "x_test": x_test, "y_test": y_test, "class_names": names}

    The last three may be left out, and ``(x, y)`` or ``((x, y), (x_test, y_test))`` say the same.
    ``x`` is a NumPy array of numbers, first axis the examples (``uint8``: pixels from 0 to 255), or
    anything with ``__len__`` and ``__getitem__`` that gives an example for each number: such
    examples are asked for when they are needed where ``cache`` is not ``memory``, or where they
    would take more than a quarter of the memory that is free. ``__getitem__`` is called in
    threads, one at a time. For a model of Python code ``x`` may be a dictionary of several such, by
    the names of the model's inputs.
    ``y`` one class number from 0, or one value, an example; or a row of values, or of 0 and 1 for
    several labels; or, for a model of Python code, an array of classes, of 0 and 1, or of values.
    Of a model with several outputs ``y`` is a dictionary by their names, and ``predicts`` one that
    says what each predicts. Without ``y`` values are predicted that are the example itself.
    ``load`` runs once in each process of a run, after the devices are configured, and must give the
    same each time: ``random`` and ``numpy.random`` are seeded by ``training.seed`` before.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["python"] = kind(
        Choice(
            "python",
            "Python code…",
            "A function of your own loads examples and labels; it runs when a run is started.",
        ),
    )
    path: str = setting(
        "File",
        "A Python file with a function load() that gives NumPy arrays: examples and labels, and a "
        "test set if you have one. It may import what is installed, but no file beside it. You are "
        "asked before it is run for the first time.",
        path=PathKind((".py",), "Python files", "Choose the code that loads the data"),
    )
    predicts: Target = setting(
        "Predicted",
        "What load()'s labels are: one, a row or an array of them for each example. Without labels "
        "each example is to be predicted itself, as values.",
        default=Target.CLASSES,
    )

    module: ClassVar[str] = "python_data"
    has_test_set: ClassVar[bool | None] = None
    may_predict_several: ClassVar[bool] = True
    may_have_inputs: ClassVar[bool] = True
    may_have_arrays: ClassVar[bool] = True
    is_code: ClassVar[bool] = True
    path_noun: ClassVar[str] = "Python file"

    @property
    @override
    def described(self) -> str:
        return f"what load() of {self.path} gives"


DataSettings = Annotated[
    ImagesData
    | TableData
    | TextData
    | NpzData
    | TfrecordData
    | TfdsData
    | PythonData
    | KerasData
    | DigitsData
    | WineData,
    Field(discriminator="source"),
]

DEFAULT_DATA: DataSettings = DigitsData(validation_fraction=0.2)
"""What a new profile learns from."""

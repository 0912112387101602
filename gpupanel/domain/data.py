"""What a run learns from."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.kind import kind
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.value import Fraction, Value

MOST_CLASSES = 100_000
"""The names of so many still fit into the one line that a run reports them in (1 MiB)."""
ClassCount = Annotated[int, Field(gt=0, le=MOST_CLASSES)]
GREATEST_SIDE = 16_384
"""Pixels: a square of it takes 3 GiB as the float32 that layers take in."""
ImageSide = Annotated[int, Field(gt=0, le=GREATEST_SIDE)]


class DataCache(ChoiceEnum):
    """Where decoded examples are kept between epochs."""

    NONE = "none", "Nowhere", "Reads and decodes anew in each epoch."
    MEMORY = "memory", "In memory", "Fastest; the decoded examples must fit."
    DISK = "disk", "On disk", "For decoded examples that do not fit in memory."


class Target(ChoiceEnum):
    """What the labels are."""

    CLASSES = "classes", "A class", "Labels are class numbers, from 0 on."
    VALUES = "values", "A value", "Labels are numbers to be predicted, such as prices."


class _DataBase(Value):
    """What every source has.

    ``validation_fraction`` is 0 for no validation. Left out (``None``): a source with a test set of
    its own validates on it, another holds back nothing.
    """

    validation_fraction: Fraction | None = setting(
        "Validation",
        "Examples that are never trained on tell after each epoch whether the model learned "
        "something or only remembers.",
        default=None,
    )
    shuffle: bool = setting(
        "Shuffle each epoch",
        "Draw a new order of the training examples in each epoch, from the seed alone. Without it "
        "every epoch sees the same batches.",
        default=True,
    )
    cache: DataCache = setting(
        "Cache",
        "Where decoded examples are kept between epochs.",
        default=DataCache.MEMORY,
    )

    @property
    def target(self) -> Target:
        """What the labels are: class numbers, or values to be predicted."""
        return Target.CLASSES


class DigitsData(_DataBase):
    """The embedded data: scikit-learn's 1,797 handwritten digits of 8x8 pixels."""

    source: Literal["digits"] = kind(
        Choice(
            "digits",
            "Digits: handwritten, 8x8",
            "1,797 handwritten digits that come with gpupanel; nothing is downloaded.",
        ),
    )


KerasDataName = Literal[
    "mnist",
    "fashion_mnist",
    "cifar10",
    "cifar100",
    "imdb",
    "reuters",
    "boston_housing",
    "california_housing",
]


class KerasData(_DataBase):
    """A data set that Keras downloads by name, once, and keeps in its cache."""

    source: KerasDataName = kind(
        Choice(
            "mnist",
            "MNIST: handwritten digits, 28x28",
            "60,000 digits for training and 10,000 for testing. Downloaded once, 11 MiB.",
        ),
        Choice(
            "fashion_mnist",
            "Fashion-MNIST: clothes, 28x28",
            "70,000 grey pictures of clothes in 10 classes; harder than MNIST. Downloaded once.",
        ),
        Choice(
            "cifar10",
            "CIFAR-10: photographs, 32x32",
            "60,000 small colour photographs of 10 kinds of things. Downloaded once, 163 MiB.",
        ),
        Choice(
            "cifar100",
            "CIFAR-100: photographs, 100 classes",
            "60,000 small colour photographs of 100 kinds of things. Downloaded once, 161 MiB.",
        ),
        Choice(
            "imdb",
            "IMDB: film reviews, good or bad",
            "50,000 reviews as word numbers, in two classes. Downloaded once.",
        ),
        Choice(
            "reuters",
            "Reuters: newswires, 46 topics",
            "11,228 newswires as word numbers, in 46 classes. Downloaded once.",
        ),
        Choice(
            "boston_housing",
            "Boston housing: prices",
            "506 suburbs with 13 measures; a price is predicted, not a class. Downloaded once.",
        ),
        Choice(
            "california_housing",
            "California housing: prices",
            "20,640 districts with 8 measures; a price is predicted, not a class. Downloaded once.",
        ),
    )

    @property
    @override
    def target(self) -> Target:
        if self.source in ("boston_housing", "california_housing"):
            return Target.VALUES
        return Target.CLASSES


class NpzData(_DataBase):
    """Arrays in a NumPy ``.npz`` file, read without pickle.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["npz"] = kind(
        Choice(
            "npz",
            "NumPy file (.npz)…",
            "Two arrays of your own in one file: the examples, and a class number for each.",
        ),
    )
    path: str = setting(
        "File",
        "A file with two arrays: the examples, and one class number for each. It is read without "
        "pickle, so that it cannot run code.",
        path=PathKind(".npz", "NumPy files", "Choose the data"),
    )
    features: str = setting(
        "Examples array",
        "The name of the array of examples in the file; its first axis counts them.",
        default="x",
    )
    labels: str = setting(
        "Labels array",
        "The name of the array of class numbers in the file, from 0 on, one an example.",
        default="y",
    )
    class_count: ClassCount | None = setting(
        "Classes",
        "How many classes there are. Left to the labels, it is the greatest of them plus one.",
        default=None,
        off="as the labels say",
    )


class ImagesData(_DataBase):
    """A folder with one sub-folder of images per class.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["images"] = kind(
        Choice(
            "images",
            "Folder of images…",
            "A folder with one sub-folder of pictures for each class.",
        ),
    )
    path: str = setting(
        "Folder",
        "A folder with one sub-folder for each class; the sub-folders' names are the classes'.",
        path=PathKind("", "", "Choose the data"),
    )
    image_size: tuple[ImageSide, ImageSide] = setting(
        "Image size",
        "Every picture is scaled to this height and width, in pixels. Larger ones show more and "
        "cost more memory and time.",
        default=(64, 64),
        unit="pixel",
    )
    color: Literal["rgb", "grayscale"] = setting(
        "Colour",
        "Whether pictures are read in colour or in greyscale.",
        default="rgb",
        choices=(
            Choice("rgb", "Colour (RGB)", "Three channels: red, green, blue."),
            Choice(
                "grayscale",
                "Greyscale",
                "One channel; less to compute where colour tells nothing.",
            ),
        ),
    )


class PythonData(_DataBase):
    """Examples that a Python file of the person's loads.

    The file is one whole: it may import what is installed, but no file beside it, because the
    content of this one is what a person trusts. It has a function ``load``::

        def load():
            return {"x": x, "y": y, "x_test": x_test, "y_test": y_test, "class_names": names}

    The last three may be left out, and ``(x, y)`` or ``((x, y), (x_test, y_test))`` say the same.
    ``x`` is a NumPy array of numbers, first axis the examples (``uint8``: pixels from 0 to 255),
    ``y`` one class number from 0, or one value, an example. ``load`` runs once in each process of
    a run, after the devices are configured, and must give the same each time: ``random`` and
    ``numpy.random`` are seeded by ``training.seed`` before.

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
        path=PathKind(".py", "Python files", "Choose the code that loads the data"),
    )
    predicts: Target = setting(
        "Predicted",
        "What the labels are that load() gives, one for each example.",
        default=Target.CLASSES,
    )

    @property
    @override
    def target(self) -> Target:
        return self.predicts


DataSettings = Annotated[
    DigitsData | KerasData | NpzData | ImagesData | PythonData, Field(discriminator="source")
]

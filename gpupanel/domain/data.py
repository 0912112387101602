"""What a run learns from."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.value import Fraction, Value

MOST_CLASSES = 100_000
"""The names of so many still fit into the one line that a run reports them in (1 MiB)."""
ClassCount = Annotated[int, Field(gt=0, le=MOST_CLASSES)]
GREATEST_SIDE = 16_384
"""Pixels: a square of it takes 3 GiB as the float32 that layers take in."""
ImageSide = Annotated[int, Field(gt=0, le=GREATEST_SIDE)]


class DataCache(StrEnum):
    """Where decoded examples are kept between epochs."""

    NONE = "none"
    MEMORY = "memory"
    DISK = "disk"


class Target(StrEnum):
    """What the labels are."""

    CLASSES = "classes"
    VALUES = "values"


class _DataBase(Value):
    """What every source has.

    Attributes:
        validation_fraction: The part of the examples held back for validation, drawn by the
            seed; 0 for none. Left out (``None``): a source with a test set of its own validates
            on it, another holds back nothing.
        shuffle: Draw a new order of the training examples each epoch, from the seed alone.
    """

    validation_fraction: Fraction | None = None
    shuffle: bool = True
    cache: DataCache = DataCache.MEMORY

    @property
    def target(self) -> Target:
        """What the labels are: class numbers, or values to be predicted."""
        return Target.CLASSES


class DigitsData(_DataBase):
    """The embedded data: scikit-learn's 1,797 handwritten digits of 8x8 pixels."""

    source: Literal["digits"] = "digits"


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

    source: KerasDataName

    @property
    @override
    def target(self) -> Target:
        if self.source in ("boston_housing", "california_housing"):
            return Target.VALUES
        return Target.CLASSES


class NpzData(_DataBase):
    """Arrays in a NumPy ``.npz`` file, read without pickle.

    Attributes:
        path: The file, empty while none was chosen; a relative one is meant from the profile's
            folder.
        features: Name of the array of examples, first axis the examples.
        labels: Name of the array of class numbers, one an example.
        class_count: How many classes there are; left out: the greatest label plus one.
    """

    source: Literal["npz"] = "npz"
    path: str
    features: str = "x"
    labels: str = "y"
    class_count: ClassCount | None = None


class ImagesData(_DataBase):
    """A folder with one sub-folder of images per class.

    Attributes:
        path: The folder, empty while none was chosen; a relative one is meant from the profile's
            folder.
        image_size: Height and width that every image is scaled to, in pixels.
        color: Read as RGB (3 channels) or as greyscale (1).
    """

    source: Literal["images"] = "images"
    path: str
    image_size: tuple[ImageSide, ImageSide] = (64, 64)
    color: Literal["rgb", "grayscale"] = "rgb"


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

    Attributes:
        path: The file, empty while none was chosen; a relative one is meant from the profile's
            folder.
        predicts: What the labels are.
    """

    source: Literal["python"] = "python"
    path: str
    predicts: Target = Target.CLASSES

    @property
    @override
    def target(self) -> Target:
        return self.predicts


DataSettings = Annotated[
    DigitsData | KerasData | NpzData | ImagesData | PythonData, Field(discriminator="source")
]

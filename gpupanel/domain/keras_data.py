"""Keras's built-in data sets: what is asked about them, their files and the names of classes."""

from typing import ClassVar, Literal

from typing_extensions import override

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.choice import Choice
from gpupanel.domain.data_source import ImageSource, Scaling, Target
from gpupanel.domain.decoded_images import LIGHT_ON_DARK, PictureForm
from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.kind import kind

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

_GREY = PictureForm(size=(28, 28), color="grayscale", edges=LIGHT_ON_DARK)
_PHOTOGRAPHS = PictureForm(size=(32, 32), color="rgb")
_PICTURES = {
    "mnist": _GREY,
    "fashion_mnist": _GREY,
    "cifar10": _PHOTOGRAPHS,
    "cifar100": _PHOTOGRAPHS,
}

_GOOGLE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_TORONTO = "https://www.cs.toronto.edu/~kriz/"


def _npz(name: str, size_bytes: int, digest: str) -> tuple[KerasFile, ...]:
    url = f"{_GOOGLE}{name}.npz"
    return (KerasFile(url, f"{name}.npz", digest, size_bytes=size_bytes),)


KERAS_FILES: dict[str, tuple[KerasFile, ...]] = {
    "mnist": _npz(
        "mnist", 11_490_434, "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
    ),
    "fashion_mnist": tuple(
        KerasFile(f"{_GOOGLE}{name}", f"fashion-mnist/{name}", size_bytes=size_bytes)
        for name, size_bytes in (
            ("train-images-idx3-ubyte.gz", 26_421_880),
            ("train-labels-idx1-ubyte.gz", 29_515),
            ("t10k-images-idx3-ubyte.gz", 4_422_102),
            ("t10k-labels-idx1-ubyte.gz", 5_148),
        )
    ),
    "cifar10": (
        KerasFile(
            f"{_TORONTO}cifar-10-python.tar.gz",
            "cifar-10-batches-py-target",
            "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
            holds="cifar-10-batches-py/test_batch",
            size_bytes=170_498_071,
        ),
    ),
    "cifar100": (
        KerasFile(
            f"{_TORONTO}cifar-100-python.tar.gz",
            "cifar-100-python-target",
            "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
            holds="cifar-100-python/test",
            size_bytes=169_001_437,
        ),
    ),
    "imdb": _npz(
        "imdb", 17_464_789, "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"
    ),
    "reuters": _npz(
        "reuters", 2_110_848, "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"
    ),
    "boston_housing": _npz(
        "boston_housing", 57_026, "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"
    ),
    "california_housing": _npz(
        "california_housing",
        743_530,
        "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f",
    ),
}
"""The files of each data set; all of them are needed."""

_DIGITS = tuple(str(digit) for digit in range(10))

# keras.datasets.reuters.get_label_names()
_REUTERS = (
    "cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves "
    "ship cotton carcass crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin "
    "strategic-metal livestock retail ipi iron-steel rubber heat jobs lei bop zinc orange pet-chem "
    "dlr gas silver wpi hog lead"
)

_CIFAR10 = "airplane automobile bird cat deer dog frog horse ship truck"

# meta in cifar-100-python.tar.gz, fine_label_names
_CIFAR100 = (
    "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus "
    "butterfly camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch "
    "crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster house kangaroo "
    "keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain mouse "
    "mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree plain plate poppy "
    "porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk skyscraper "
    "snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television "
    "tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm"
)

KERAS_CLASS_NAMES: dict[KerasDataName, tuple[str, ...]] = {
    "mnist": _DIGITS,
    "fashion_mnist": (
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
    "cifar10": tuple(_CIFAR10.split()),
    "cifar100": tuple(_CIFAR100.split()),
    "imdb": ("negative", "positive"),
    "reuters": tuple(_REUTERS.split()),
}
"""Data sets of classes only; the rest have values to be predicted."""


class KerasData(ImageSource):
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
            "70,000 grey images of clothes in 10 classes; harder than MNIST. Downloaded once.",
        ),
        Choice(
            "cifar10",
            "CIFAR-10: photographs, 32x32",
            "60,000 small colour photographs in 10 classes. Downloaded once, 163 MiB.",
        ),
        Choice(
            "cifar100",
            "CIFAR-100: photographs, 100 classes",
            "60,000 small colour photographs in 100 classes. Downloaded once, 161 MiB.",
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
            "506 suburbs with 13 features; a price is predicted, not a class. Downloaded once.",
        ),
        Choice(
            "california_housing",
            "California housing: prices",
            "20,640 districts with 8 features; a price is predicted, not a class. Downloaded once.",
        ),
    )

    module: ClassVar[str] = "keras_data"
    has_test_set: ClassVar[bool | None] = True

    @property
    @override
    def target_kind(self) -> Target:
        if self.source in ("boston_housing", "california_housing"):
            return Target.VALUES
        return Target.CLASSES

    @property
    @override
    def described(self) -> str:
        return f'the data set "{self.source}"'

    @property
    @override
    def downloads(self) -> tuple[KerasFile, ...]:
        return KERAS_FILES[self.source]

    @property
    @override
    def example_axes(self) -> int:
        return {"mnist": 2, "fashion_mnist": 2, "cifar10": 3, "cifar100": 3}.get(self.source, 1)

    @property
    @override
    def picture(self) -> PictureForm | None:
        return _PICTURES.get(self.source)

    @property
    @override
    def asked_kind(self) -> AskedKind:
        # Nobody has a text as the numbers of its words.
        return AskedKind.NONE if self.source in ("imdb", "reuters") else AskedKind.ARRAY

    @property
    @override
    def scaling(self) -> Scaling:
        if self.target_kind is Target.VALUES:
            return Scaling.STANDARDISE
        return Scaling.DIVIDE if self.has_images else Scaling.NONE

"""The sources of data as people know them, and what a newly chosen one starts with."""

from typing import get_args

from pydantic import TypeAdapter

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import DataSettings, KerasDataName

_SETTINGS: TypeAdapter[DataSettings] = TypeAdapter(DataSettings)

KERAS_NAMES: tuple[str, ...] = get_args(KerasDataName)
"""The data sets that Keras downloads by name; each brings a test set of its own."""

SOURCES = (
    Choice(
        "digits",
        "Digits: handwritten, 8x8",
        "1,797 handwritten digits that come with gpupanel; nothing is downloaded.",
    ),
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
    Choice(
        "npz",
        "NumPy file (.npz)…",
        "Two arrays of your own in one file: the examples, and a class number for each.",
    ),
    Choice(
        "images",
        "Folder of images…",
        "A folder with one sub-folder of pictures for each class.",
    ),
    Choice(
        "python",
        "Python code…",
        "A function of your own loads examples and labels; it runs when a run is started.",
    ),
)


def has_own_test_set(source: str) -> bool:
    """Whether a source brings examples that were set aside for testing."""
    return source in KERAS_NAMES


def may_have_test_set(source: str) -> bool:
    """Whether a source brings a test set, or may: what Python code loads is not known before."""
    return has_own_test_set(source) or source == "python"


def new_settings(source: str, before: DataSettings) -> DataSettings:
    """Settings of a source that was never chosen; order and cache stay as they were."""
    document: dict[str, object] = {
        "source": source,
        "shuffle": before.shuffle,
        "cache": before.cache,
    }
    if not has_own_test_set(source):
        document["validation_fraction"] = 0.2
    if source in ("npz", "images", "python"):
        document["path"] = ""
    return _SETTINGS.validate_python(document)


def changed(settings: DataSettings, **update: object) -> DataSettings:
    """The settings with other values for some keys."""
    return _SETTINGS.validate_python({**settings.model_dump(), **update})

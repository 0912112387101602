"""The files of Keras's built-in data sets: where they come from and where Keras keeps them."""

from dataclasses import dataclass

_GOOGLE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_TORONTO = "https://www.cs.toronto.edu/~kriz/"


@dataclass(frozen=True, slots=True)
class KerasFile:
    """One file as :mod:`keras.datasets` names it (addresses and hashes: its source, 3.15).

    Attributes:
        url: Where it is downloaded from.
        place: Where it is kept below ``datasets`` in Keras's home; for an archive, the folder
            that it is unpacked into.
        sha256: Of the downloaded file; empty where Keras knows none.
        holds: For an archive, a file in it that shows it was unpacked.
    """

    url: str
    place: str
    sha256: str = ""
    holds: str = ""


def _npz(name: str, sha256: str) -> tuple[KerasFile, ...]:
    return (KerasFile(f"{_GOOGLE}{name}.npz", f"{name}.npz", sha256),)


KERAS_FILES: dict[str, tuple[KerasFile, ...]] = {
    "mnist": _npz("mnist", "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"),
    "fashion_mnist": tuple(
        KerasFile(f"{_GOOGLE}{name}", f"fashion-mnist/{name}")
        for name in (
            "train-images-idx3-ubyte.gz",
            "train-labels-idx1-ubyte.gz",
            "t10k-images-idx3-ubyte.gz",
            "t10k-labels-idx1-ubyte.gz",
        )
    ),
    "cifar10": (
        KerasFile(
            f"{_TORONTO}cifar-10-python.tar.gz",
            "cifar-10-batches-py-target",
            "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
            holds="cifar-10-batches-py/test_batch",
        ),
    ),
    "cifar100": (
        KerasFile(
            f"{_TORONTO}cifar-100-python.tar.gz",
            "cifar-100-python-target",
            "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
            holds="cifar-100-python/test",
        ),
    ),
    "imdb": _npz("imdb", "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"),
    "reuters": _npz("reuters", "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"),
    "boston_housing": _npz(
        "boston_housing", "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"
    ),
    "california_housing": _npz(
        "california_housing", "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f"
    ),
}
"""The files of each data set; all of them are needed."""

"""Which TensorFlow is installed, read from what pip noted: nothing is imported."""

from importlib import metadata
from typing import Final

TENSORFLOW_PACKAGES: Final = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu")
"""The packages that bring a module of the name tensorflow; the first one installed counts."""


def tensorflow_package() -> tuple[str, str] | None:
    """Name and version of the package that TensorFlow is installed from; ``None`` without."""
    for name in TENSORFLOW_PACKAGES:
        try:
            return name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None

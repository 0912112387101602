"""What a single example is that a model is asked about."""

from enum import StrEnum


class AskedKind(StrEnum):
    """What a person gives."""

    IMAGE = "image"
    ROW = "row"
    TEXT = "text"
    ARRAY = "array"
    """Numbers: in a ``.npy`` file, or a picture where it is known which number is white."""
    NONE = "none"
    """Nothing that a person drops or types."""

"""What a single example is that a person gives a trained model."""

from enum import StrEnum


class AskedKind(StrEnum):
    """What a single example of a model is."""

    IMAGE = "image"
    ROW = "row"
    TEXT = "text"
    NONE = "none"
    """Nothing that a person drops or types, such as a row of numbers without a table."""

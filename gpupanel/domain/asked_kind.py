"""What a single example is that a model is asked about."""

from enum import StrEnum


class AskedKind(StrEnum):
    """What a person gives."""

    IMAGE = "image"
    ROW = "row"
    TEXT = "text"
    NONE = "none"
    """Nothing that a person drops or types, such as a row of numbers without a table."""

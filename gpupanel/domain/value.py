"""The base of every value in the domain."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import override


class Value(BaseModel):
    """An immutable value that refuses keys it does not know.

    Two values are equal when all their fields are. A changed copy comes from
    ``value.model_copy(update={...})``, which checks it.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=False, allow_inf_nan=False, protected_namespaces=()
    )

    @override
    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields, checked as one that is made from nothing is.

        Raises:
            TypeError: It has no such field.
            ValidationError: It takes no such value.
        """
        if not update:
            return super().model_copy(deep=deep)
        unknown = update.keys() - type(self).model_fields.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        return type(self).model_validate({**self.__dict__, **update})


Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]
GREATEST_COUNT = 2**31 - 1
"""TensorFlow's shapes and indices, and the fields of the window, count with 32 bits."""
PositiveInt = Annotated[int, Field(gt=0, le=GREATEST_COUNT)]
Count = Annotated[int, Field(ge=0, le=GREATEST_COUNT)]
Float32 = Annotated[float, Field(ge=1e-30, le=1e30)]
"""A positive number that is neither 0 nor infinite as float32, nor is its inverse."""
Mib = Annotated[
    int, Field(gt=0, le=GREATEST_COUNT, description="a size in mebibytes (2**20 bytes)")
]
MOST_PLACES = 1_024
"""More replicas or processes than any workstation takes: a slip of the finger beyond that would be
carried out to the letter, and cost all memory."""

PerPlace = Field(max_length=MOST_PLACES)
"""Bounds a list or table with an entry for each device, replica or process."""
MOST_AXES = 254
"""The most axes of a tensor (``TensorShape::MaxDimensions`` of TensorFlow)."""
PlaceCount = Annotated[int, Field(gt=0, le=MOST_PLACES)]

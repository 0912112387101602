"""Columns of a table that examples are rows of: also those that nothing is learned from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class ExampleColumn:
    """What stands in one column.

    Attributes:
        name: Its name.
        categories: By their numbers, where it holds these; ``None``: numbers or dates.
        first_day: Of dates: the day that is 0, in days since 1970; ``None``: these are none.
        is_target: It is predicted.
    """

    name: str
    categories: tuple[str, ...] | None = None
    first_day: float | None = None
    is_target: bool = False


class ExampleColumns(Protocol):
    """The cells of examples, by their places in the source."""

    @property
    def columns(self) -> Sequence[ExampleColumn]:
        """In the order of the table."""
        ...

    def read(self, indices: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        """The cells of these examples, shape [examples, columns]; NaN: it holds nothing.

        Raises:
            ProblemError: They cannot be read.
        """
        ...

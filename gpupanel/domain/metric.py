"""What is measured while a model learns, and how people are shown it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType
from typing import get_type_hints


class Unit(Enum):
    """What the numbers of a metric are."""

    NUMBER = "number"
    """A number of at least 0."""
    FRACTION = "fraction"
    """A number from 0 to 1, shown in percent."""
    UP_TO_ONE = "up to one"
    """A coefficient of at most 1, without a lower bound."""
    EXAMPLES_PER_SECOND = "examples per second"
    ANY = "any"
    """A number of which nobody knows more."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured quantity, declared beside the key that holds it.

    Attributes:
        title: In plots and tables.
        tip: What it says, for those who see it the first time.
        unit: See :class:`Unit`.
        column: Its title where there is little room; empty: the title.
        more_is_better: Whether the best value is the greatest; else it is the least.
        is_of_model: It says how good the model is; else how it was trained.
        is_of_epochs: There is one value an epoch, of the whole set; else one for each report of
            steps.
        is_even: It is known exactly, or a mean over seconds already: nobody smooths it.
        is_in_report: A run's report draws it.
        empty_note: What its plot says as long as there is nothing to draw.
        name: The key.
    """

    title: str
    tip: str
    unit: Unit = Unit.NUMBER
    column: str = ""
    more_is_better: bool = False
    is_of_model: bool = False
    is_of_epochs: bool = False
    is_even: bool = False
    is_in_report: bool = True
    empty_note: str = "No steps recorded"
    name: str = ""

    @property
    def is_fraction(self) -> bool:
        """A number from 0 to 1, shown in percent."""
        return self.unit is Unit.FRACTION

    @property
    def short_title(self) -> str:
        """The title of its column in tables."""
        return self.column or self.title


def metrics_of(declared: type) -> Mapping[str, Metric]:
    """The metrics that a class declares beside its keys, by key, in their order."""
    return MappingProxyType(
        {
            name: replace(metric, name=name)
            for name, hint in get_type_hints(declared, include_extras=True).items()
            for metric in getattr(hint, "__metadata__", ())
            if isinstance(metric, Metric)
        }
    )

"""Sets whose values are not scaled alike."""

from collections.abc import Iterator, Mapping
from typing import Final

from gpupanel.domain.number_text import short_number
from gpupanel.domain.problem import Problem, Severity

_FAR: Final = 50.0
"""Greatest values so many times apart are 1 and 255, and not two halves of the same data."""


def range_doubts(ranges: Mapping[str, tuple[float, float] | None]) -> Iterator[Problem]:
    """A warning for each held out set whose values go much further, or less far, than training's.

    Args:
        ranges: Least and greatest value of some examples of each set, by its name; ``None``: not
            known.
    """
    greatest = {name: max(map(abs, found)) for name, found in ranges.items() if found is not None}
    trained = greatest.pop("training", 0.0)
    for name, most in greatest.items():
        less, more = sorted((trained, most))
        if less and more > _FAR * less:
            yield Problem(
                code="data_sets_scaled_differently",
                severity=Severity.WARNING,
                field="data.path",
                message=f"Values of the {name} set go up to {short_number(most)}, and those that "
                f"are trained on up to {short_number(trained)}: they are not scaled alike.",
                hint="Save both from numbers that were divided by the same.",
            )

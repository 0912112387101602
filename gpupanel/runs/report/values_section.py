"""How far predicted values are from the true ones."""

from typing import Final

from gpupanel.domain.number_text import count
from gpupanel.runs.report.chart import histogram, scatter
from gpupanel.runs.report.markup import Html, element, note, section
from gpupanel.runs.report.material import ReportMaterial

_MOST_DOTS: Final = 2_000
"""Each takes some bytes of the page."""


def values_section(material: ReportMaterial) -> Html:
    """A point for each value, and a histogram of the errors."""
    values = material.evaluated.values
    if values is None:
        return Html()
    # Evenly spread over what is kept, which is in the order of the data.
    every = -(-values.true.size // _MOST_DOTS)
    shown = slice(None, None, every)
    points = list(zip(values.true[shown].tolist(), values.predicted[shown].tolist(), strict=True))
    words = values.words
    if every > 1:
        words += f" Of these {count(len(points))} values are points of the first picture."
    counts, end = values.errors
    pictures = (
        scatter("Predicted over true value", "true value", points),
        histogram("Values by error", "predicted minus true value", counts, (-end, end)),
    )
    return section("Predicted values", note(words), element("div", *pictures, class_="charts"))

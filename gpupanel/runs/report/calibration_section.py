"""Whether a model is as often right as it is confident: a curve and its numbers."""

from gpupanel.domain.number_text import count
from gpupanel.runs.following.calibration import BINS
from gpupanel.runs.report.chart import histogram, reliability
from gpupanel.runs.report.markup import Html, element, note, section, table
from gpupanel.runs.report.material import ReportMaterial

_CONFIDENCE = "confidence: the probability of the predicted class"


def calibration_section(material: ReportMaterial) -> Html:
    """A row for each tenth of probability that holds examples."""
    found = material.evaluated.calibration
    if found is None:
        return Html()
    rows = [
        (
            f"{each.low:.1f} to {each.low + 1 / BINS:.1f}",
            count(each.examples),
            f"{each.confidence:.4f}",
            f"{each.accuracy:.4f}",
        )
        for each in found.bins
    ]
    counts = [0] * BINS
    for each in found.bins:
        counts[round(each.low * BINS)] = each.examples
    points = [(each.confidence, each.accuracy) for each in found.bins]
    pictures = (
        reliability("Accuracy over confidence", _CONFIDENCE, points),
        histogram("Examples by confidence", _CONFIDENCE, counts, (0.0, 1.0)),
    )
    heads = ("Confidence", "Examples", "Mean confidence", "Accuracy")
    return section(
        "Calibration",
        note(found.words),
        element("div", *pictures, class_="charts"),
        table(heads, rows),
    )

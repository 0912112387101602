"""Whether a model is as often right as it is confident: a curve and its numbers."""

from gpupanel.domain.number_text import count
from gpupanel.runs.following.calibration import BINS
from gpupanel.runs.report.chart import Line, chart
from gpupanel.runs.report.markup import Html, element, note, section, table
from gpupanel.runs.report.material import ReportMaterial


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
    picture = chart(
        "Accuracy over confidence",
        "mean probability of the predicted class",
        [
            Line("accuracy", [(each.confidence, each.accuracy) for each in found.bins]),
            Line("well calibrated", [(0.0, 0.0), (1.0, 1.0)], 1),
        ],
    )
    heads = ("Confidence", "Examples", "Mean confidence", "Accuracy")
    return section(
        "Calibration",
        note(found.words),
        element("div", picture, class_="charts"),
        table(heads, rows),
    )

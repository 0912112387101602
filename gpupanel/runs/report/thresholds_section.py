"""What other thresholds than the model's own come to."""

from typing import Final

from gpupanel.domain.confusion import ClassMetrics
from gpupanel.domain.number_text import DASH
from gpupanel.files.score_counts_file import STEPS
from gpupanel.runs.following.thresholds import Thresholds
from gpupanel.runs.report.chart import Line, fractions
from gpupanel.runs.report.markup import Html, breakable, element, note, section, table
from gpupanel.runs.report.material import ReportMaterial

_MOST_ROWS: Final = 20
_LONGEST_NAME: Final = 40
_EVERY: Final = STEPS // 100
_WORDS: Final = (
    "One class against all others: precision, recall and F1 if an example is taken for the class "
    "from this probability on, where F1 of these examples is the greatest. The model's own answer "
    "is the most probable class."
)
_OF_LABELS: Final = (
    "Precision, recall and F1 if a label is taken as there from this probability on, where F1 of "
    "these examples is the greatest. The model itself says a label above 0.5."
)


def thresholds_section(material: ReportMaterial) -> Html:
    """The threshold of the greatest F1 for each class; of two classes both curves of the second."""
    found = material.evaluated.thresholds
    if found is None:
        return Html()
    rows = [_row(found, number) for number in range(min(_MOST_ROWS, len(found.names)))]
    words = _WORDS if material.evaluated.labels is None else _OF_LABELS
    if len(rows) < found.class_count:
        words += f" These are the first {len(rows)} of {found.class_count:,}."
    heads = ("Class", "Threshold", "Precision", "Recall", "F1")
    picture = _picture(found, 1) if found.class_count == 2 else Html()
    return section("Thresholds", note(words), picture, table(heads, rows))


def _row(found: Thresholds, number: int) -> tuple[str, ...]:
    place = found.most_f1(number)
    name = breakable(found.names[number], _LONGEST_NAME)
    if place is None:
        return name, *([DASH] * 4)
    metrics = found.at(number, place)
    return (name, f"{place / STEPS:.3f}", *map(_fraction, _figures(metrics)))


def _figures(metrics: ClassMetrics) -> tuple[float | None, float | None, float | None]:
    return metrics.precision, metrics.recall, metrics.f1


def _picture(found: Thresholds, number: int) -> Html:
    curves = found.curves(number)
    lines = [
        Line(label, [(place / STEPS, value) for place, value in _shown(values)], style)
        for style, (label, values) in enumerate(
            (("precision", curves.precision), ("recall", curves.recall))
        )
    ]
    title = f"Precision and recall of {found.names[number][:_LONGEST_NAME]}"
    return element("div", fractions(title, "threshold", lines), class_="charts")


def _shown(values: tuple[float | None, ...]) -> list[tuple[int, float]]:
    """Every hundredth, where there is a value."""
    every = range(0, len(values), _EVERY)
    return [(place, value) for place in every if (value := values[place]) is not None]


def _fraction(value: float | None) -> str:
    return DASH if value is None else f"{value:.4f}"

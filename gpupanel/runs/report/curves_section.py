"""Curves of a training: loss, metrics, learning rate, gradient norm, speed."""

from typing import Final

from gpupanel.runs.history.metrics import METRICS
from gpupanel.runs.report.chart import Line, chart
from gpupanel.runs.report.markup import Html, element, note, section
from gpupanel.runs.report.material import ReportMaterial
from gpupanel.runs.report.run_events import RunEvents
from gpupanel.runs.report.run_texts import metric_title

_VALIDATION: Final = "val_"
_MOST_OWN: Final = 24
"""Figures of a program of the person's own that are drawn."""
_TRAINING: Final = [
    metric.name for metric in METRICS.values() if not metric.is_of_model and metric.is_in_report
]


def curves_section(material: ReportMaterial) -> Html:
    """A picture for each metric, with training and validation in it."""
    events = material.events
    of_epoch = 0 if events.data is None else events.data.steps_per_epoch
    # By epochs, where their length is known: that is what a person chose.
    unit, below = (of_epoch, "epoch") if of_epoch > 0 else (1, "step")
    measured = [metric for name, metric in METRICS.items() if name in events.curves]
    of_model = dict.fromkeys(
        metric.name.removeprefix(_VALIDATION) for metric in measured if metric.is_of_model
    )
    # How fast it was comes last.
    others = [*_TRAINING[1:], *_TRAINING[:1]]
    own = dict.fromkeys(
        figure
        for name in events.curves
        if name not in METRICS and (figure := name.removeprefix(_VALIDATION)) not in of_model
    )
    names = (*of_model, *list(own)[:_MOST_OWN], *others)
    pictures = [_picture(events, name, unit, below) for name in names]
    drawn = [picture for picture in pictures if picture]
    if not drawn:
        return Html()
    left = len(own) - _MOST_OWN
    words = f"{left:,} further figures of the program are not drawn." if left > 0 else ""
    return section("Curves", element("div", *drawn, class_="charts"), note(words))


def _picture(events: RunEvents, name: str, unit: int, below: str) -> Html:
    if name == "learning_rate":
        # To the last digit, where all others are means.
        rates = [(step / unit, rate) for step, rate in events.rates]
        return chart(metric_title(name), below, [Line("last", rates)])
    lines = []
    for style, (key, label) in enumerate(
        ((name, "training"), (f"{_VALIDATION}{name}", "validation"))
    ):
        points = events.curves.get(key)
        if points is not None:
            steps, values = points.steps.tolist(), points.values.tolist()
            places = [(step / unit, value) for step, value in zip(steps, values, strict=True)]
            lines.append(Line(label, places, style))
    return chart(metric_title(name), below, lines)

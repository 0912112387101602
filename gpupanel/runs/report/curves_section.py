"""Curves of a training: loss, metrics, learning rate, gradient norm, speed."""

from collections.abc import Mapping
from typing import Final

from gpupanel.runs.history.curves import MetricPoints
from gpupanel.runs.history.metrics import Metric
from gpupanel.runs.report.chart import Line, chart
from gpupanel.runs.report.markup import Html, element, section
from gpupanel.runs.report.material import ReportMaterial
from gpupanel.runs.report.run_words import metric_title

_VALIDATION: Final = "val_"


def curves_section(material: ReportMaterial) -> Html:
    """A picture for each metric, with training and validation in it."""
    events = material.events
    of_epoch = 0 if events.data is None else events.data.steps_per_epoch
    # By epochs, where their length is known: that is what a person chose.
    unit, below = (of_epoch, "epoch") if of_epoch > 0 else (1, "step")
    last = Metric.EXAMPLES_PER_SECOND.value
    names = dict.fromkeys(
        metric.value.removeprefix(_VALIDATION)
        for metric in events.curves
        if metric.is_of_model or metric.value == last
    )
    pictures = [
        _picture(events.curves, name, unit, below)
        for name in sorted(names, key=lambda name: name == last)
    ]
    rates = [(step / unit, rate) for step, rate in events.rates]
    place = len(pictures) - (last in names)
    further = [
        chart("Learning rate", below, [Line("last", rates)]),
        _picture(events.curves, Metric.GRADIENT_NORM.value, unit, below),
    ]
    pictures[place:place] = further
    drawn = [picture for picture in pictures if picture]
    return section("Curves", element("div", *drawn, class_="charts")) if drawn else Html()


def _picture(curves: Mapping[Metric, MetricPoints], name: str, unit: int, below: str) -> Html:
    lines = []
    for style, (key, label) in enumerate(
        ((name, "training"), (f"{_VALIDATION}{name}", "validation"))
    ):
        points = next((each for metric, each in curves.items() if metric.value == key), None)
        if points is not None:
            steps, values = points.steps.tolist(), points.values.tolist()
            places = [(step / unit, value) for step, value in zip(steps, values, strict=True)]
            lines.append(Line(label, places, style))
    return chart(metric_title(name), below, lines)

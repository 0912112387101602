"""Which curves each plot of a run has: their labels, colours and words, smoothed or not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtGui import QColor

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.metric import Metric
from gpupanel.ui import device_colors, formatting, theme
from gpupanel.ui.plots.curve import Best, Curve
from gpupanel.ui.plots.device_spread import ReadingSpread
from gpupanel.ui.plots.run_curves import RunCurves
from gpupanel.ui.plots.sample_buffer import SampleBuffer
from gpupanel.ui.plots.smoothed_points import SmoothedPoints
from gpupanel.ui.plots.unit_text import percent_text, unit_text

_WIDEST_RATE = "9,999,999 ex/s"
_WIDEST_MEMORY = "1,023.9 GiB"


def loss_curves(run: RunCurves, span: float) -> tuple[Curve, ...]:
    """Of steps and of validations.

    Args:
        run: What it reported.
        span: Steps over which curves of steps are smoothed; 0: not at all.
    """
    trained, validated = _pair(run.loss, run.validation_loss, formatting.number, Best.LEAST)
    return (*_smoothed(run, trained, span), validated)


def is_error(run: RunCurves) -> bool:
    """Whether what is measured beside the loss is an error of values: the less the better."""
    return run.metric_name == "mean_absolute_error"


def metric_curves(run: RunCurves, span: float) -> tuple[Curve, ...]:
    """What is measured beside the loss; see :func:`loss_curves`."""
    if is_error(run):
        pair = _pair(run.metric, run.validation_metric, formatting.number, Best.LEAST)
        # Errors come once an epoch; of a program of the person's own they may come with its steps.
        return (*_smoothed(run, pair[0], span), pair[1]) if run.is_program else pair
    trained, validated = _pair(run.metric, run.validation_metric, percent_text, Best.GREATEST)
    return (*_smoothed(run, trained, span), validated)


def further_curves(run: RunCurves, metric: Metric, span: float) -> tuple[Curve, ...]:
    """Another metric of steps; see :func:`loss_curves`."""
    unit = unit_text(metric)
    curve = Curve(run.further[metric.name], "", _training_color, unit.text, unit.widest)
    return (curve,) if metric.is_even else _smoothed(run, curve, span)


def figure_curves(run: RunCurves, name: str, span: float) -> tuple[Curve, ...]:
    """A figure that a program calls so, and its twin of validation; see :func:`loss_curves`."""
    found = run.own.curves[name]
    trained, validated = _pair(found.training, found.validation, formatting.number, None)
    if not len(found.validation):
        return _smoothed(run, replace(trained, label=""), span)
    return (*_smoothed(run, trained, span), validated) if len(found.training) else (validated,)


@dataclass(frozen=True, slots=True)
class CurvesOfDevices:
    """A curve for each device that the run has or reads, in its colour.

    Attributes:
        labels: What each device is called, by its key.
        rates: Examples a second, of all and of each.
        utilization: Of each.
        memory: Used memory of each.
    """

    labels: Mapping[str, str]
    rates: tuple[Curve, ...]
    utilization: tuple[Curve, ...]
    memory: tuple[Curve, ...]

    @classmethod
    def of(
        cls, run: RunCurves, inventory: DeviceInventory | None, span: float
    ) -> "CurvesOfDevices":
        """See :func:`loss_curves`; of very many devices their spread."""
        devices = () if inventory is None else inventory.devices
        keys = [device.key for device in devices]
        labels = dict(zip(keys, formatting.labels_of(devices), strict=True))
        numbers = device_colors.known.numbers(keys)
        rates = run.device_rates.curves
        # The colour of training is too much like that of a device to stand beside it.
        title, color_of_all = ("all", _total_color) if rates else ("", _training_color)
        speeds = [
            Curve(run.examples_per_second, title, color_of_all, formatting.rate, _WIDEST_RATE)
        ]
        utilization, memory = [], []
        for key, label in labels.items():
            color = partial(theme.device_color, numbers[key])
            if key in rates:
                speeds.append(Curve(rates[key], label, color, formatting.rate, _WIDEST_RATE))
            found = run.devices.get(key)
            if found is None:
                continue
            utilization.append(Curve(found.utilization, label, color, formatting.percent, "100 %"))
            memory.append(Curve(found.memory, label, color, found.memory_text, _WIDEST_MEMORY))
        if run.spread is not None:
            utilization = _spread_curves(run.spread.utilization, run.spread.count)
            memory = _spread_curves(run.spread.memory, run.spread.count)
        smooth = [each for curve in speeds for each in _smoothed(run, curve, span)]
        behind_first = sorted(smooth, key=lambda curve: not curve.is_backdrop)
        return cls(labels, tuple(behind_first), tuple(utilization), tuple(memory))


def _pair(
    training: SampleBuffer,
    validation: SampleBuffer,
    text: Callable[[float | None], str],
    best: Best | None,
) -> tuple[Curve, Curve]:
    """The curves of something that is measured in training and in validation."""
    trained = Curve(training, "training", _training_color, text, "0.0000")
    validated = Curve(
        validation, "validation", _validation_color, text, "0.0000", has_dots=True, best=best
    )
    return trained, validated


def _smoothed(run: RunCurves, curve: Curve, span: float) -> tuple[Curve, ...]:
    if span <= 0.0:
        return (curve,)
    return curve.smoothed(SmoothedPoints(curve.buffer, run.steps, span))


def _spread_curves(spread: ReadingSpread, count: int) -> list[Curve]:
    """Three curves for very many devices."""
    of = ((f"mean of {count:,}", spread.mean, _total_color, ()),)
    ends = (
        ("least", spread.least, _training_color, (2.0, 2.0)),
        ("greatest", spread.greatest, _validation_color, (2.0, 2.0)),
    )
    return [
        Curve(buffer, label, color, formatting.percent, "100 %", dashes=dashes)
        for label, buffer, color, dashes in (*ends, *of)
    ]


def _training_color() -> QColor:
    return theme.current().color("accent")


def _total_color() -> QColor:
    return theme.current().color("text")


def _validation_color() -> QColor:
    return theme.current().color("warning")

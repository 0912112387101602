"""Each plot of a run: its title, what it says of itself, its bounds, and its words while empty."""

from typing import Final

from gpupanel.domain.metric import Metric
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.plots.unit_text import plot_title, unit_text

_NOTHING_BELOW: Final = (0.0, float("inf"))
_PERCENT: Final = (0.0, 100.0)
NO_STEP: Final = "No steps recorded"
_NAMES: Final = {"waiting_for_data": "waiting_plot"}
"""The names of objects that are not called as their metric is."""


def loss_plot() -> TimePlot:
    """Losses of steps and validations, with checkpoints, resumptions and findings."""
    return TimePlot(
        "loss_plot",
        "Loss",
        "Mean loss over the examples of each step; a dot for each validation, a ring around "
        "the best one. Triangles at the bottom are checkpoints, a dashed line is where the run "
        "was resumed: the time between is left out. Triangles at the top are where something "
        "began to hold the training up.",
        bounds=_NOTHING_BELOW,
        empty_note=NO_STEP,
        can_be_log=True,
        has_readout=True,
    )


def metric_plot() -> TimePlot:
    """The measure beside the loss; who shows it gives its title."""
    return TimePlot(
        "metric_plot",
        "Accuracy, %",
        "Fraction of examples classified correctly; a dot for each validation, a ring around "
        "the best one.",
        empty_note=NO_STEP,
        has_readout=True,
    )


def utilization_plot() -> TimePlot:
    """How busy each device was."""
    return TimePlot(
        "utilization_plot",
        "Utilization, %",
        "Percent of the last moment in which some kernel ran: not how full a GPU is.",
        value_range=_PERCENT,
        has_readout=True,
    )


def memory_plot() -> TimePlot:
    """How full each device's memory was."""
    return TimePlot(
        "memory_plot",
        "Memory, %",
        "Percent of each device's memory in use by all processes.",
        value_range=_PERCENT,
        has_readout=True,
    )


def rate_plot() -> TimePlot:
    """Examples a second."""
    return TimePlot(
        "rate_plot",
        "Examples/s",
        "Examples per second. Training only: validation and start-up are not counted.",
        bounds=_NOTHING_BELOW,
        empty_note=NO_STEP,
        has_readout=True,
    )


def figure_plot(number: int) -> TimePlot:
    """A figure of a program of the person's own; who shows it gives its title."""
    return TimePlot(
        f"figure_plot_{number}",
        "",
        "A figure that the program reports under this name; a dot for each value of its "
        "validation (val_ before the name).",
        has_readout=True,
    )


def further_plot(metric: Metric) -> TimePlot:
    """What steps report beside."""
    unit = unit_text(metric)
    return TimePlot(
        _NAMES.get(metric.name) or f"{metric.name}_plot",
        plot_title(metric),
        metric.tip,
        bounds=unit.bounds,
        empty_note=metric.empty_note,
        can_be_log=unit.can_be_log,
        has_readout=True,
    )

"""The plots of a program of the person's own: one for each figure, none for what it reports not."""

from collections.abc import Callable

from gpupanel.domain.visible_text import visible_beginning
from gpupanel.ui.plots import run_plots
from gpupanel.ui.plots.run_curves import RunCurves
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.plots.wall_curves import figure_curves


class FigurePlots:
    """Made as they are needed, and kept for the next run.

    Args:
        made: Called with each that was made.

    Attributes:
        every: All that there are, shown or not.
    """

    def __init__(self, made: Callable[[TimePlot], None]) -> None:
        self.every: list[TimePlot] = []
        self._made = made
        self._shown: tuple[object, ...] = ()

    def of(self, run: RunCurves) -> list[TimePlot]:
        """Those that the run has a figure for, in their order."""
        return self.every[: len(run.own.curves)]

    def are_outdated(self, run: RunCurves) -> bool:
        """Whether figures were reported for the first time since they were shown."""
        return self._shown != (run.own.shape, len(run.own.rest))

    def show(self, run: RunCurves, span: float) -> None:
        """Draw the figures of a run.

        Args:
            run: What it reported.
            span: Steps over which curves of steps are smoothed; 0: not at all.
        """
        self._shown = run.own.shape, len(run.own.rest)
        while len(self.every) < len(run.own.curves):
            self.every.append(run_plots.figure_plot(len(self.every)))
            self._made(self.every[-1])
        for plot, name in zip(self.every, run.own.curves, strict=False):
            plot.setTitle(visible_beginning(name))
            plot.setCurves(figure_curves(run, name, span))


def beside(figures: list[TimePlot], left: list[TimePlot], right: list[TimePlot]) -> None:
    """Put each below the column that has fewer plots."""
    for plot in figures:
        (left if len(left) <= len(right) else right).append(plot)


def is_loss_needless(run: RunCurves) -> bool:
    """Whether a program reports other figures and no loss; of none at all its plot says so."""
    reports_other = run.metric_name is not None or bool(run.own.curves)
    return reports_other and not len(run.loss) and not len(run.validation_loss)

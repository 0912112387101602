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
        every: All that there are.
        shown: Those that the run has a figure for, in their order.
    """

    def __init__(self, made: Callable[[TimePlot], None]) -> None:
        self.every: list[TimePlot] = []
        self.shown: list[TimePlot] = []
        self._made = made
        self._drawn: tuple[object, ...] = ()

    def are_outdated(self, run: RunCurves) -> bool:
        """Whether figures were reported for the first time since they were shown."""
        is_other = self._drawn != (run.own.shape, len(run.own.rest))
        return is_other or len(self.shown) != len(run.own.curves)

    def make_one(self, run: RunCurves) -> bool:
        """Make another plot, ready to be drawn; whether there was one to make.

        All in one piece would keep the window from answering.
        """
        if len(self.every) >= len(run.own.curves):
            return False
        plot = run_plots.figure_plot(len(self.every))
        plot.prepare()
        self.every.append(plot)
        self._made(plot)
        return True

    def show(self, run: RunCurves, span: float) -> None:
        """Draw the figures of a run, as far as they have plots.

        Args:
            run: What it reported.
            span: Steps over which curves of steps are smoothed; 0: not at all.
        """
        self._drawn = run.own.shape, len(run.own.rest)
        self.shown = self.every[: len(run.own.curves)]
        for plot, name in zip(self.shown, run.own.curves, strict=False):
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

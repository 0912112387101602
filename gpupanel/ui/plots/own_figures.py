"""Figures that a program of the person's own reports beside loss and accuracy, as it calls them."""

from typing import TYPE_CHECKING, Final

from gpupanel.domain.events import MOST_FIGURES
from gpupanel.ui.plots.sample_buffer import SampleBuffer

MOST_PLOTS: Final = 24
"""Figures that are drawn, each with its twin of validation."""
if TYPE_CHECKING:
    from gpupanel.ui.plots.sample_buffer import Floats

_VALIDATION: Final = "val_"
_CAPACITY: Final = 65_536


class FigureCurves:
    """One figure, and what a validation gives of it."""

    def __init__(self) -> None:
        self.training = SampleBuffer(_CAPACITY)
        self.validation = SampleBuffer(4_096)


class OwnFigures:
    """The first figures that were reported; of the others it is known that they are there.

    Attributes:
        curves: By the figure's name, in the order in which they were first reported.
        rest: The names of those that are not drawn, as far as they are kept.
    """

    def __init__(self) -> None:
        self.curves: dict[str, FigureCurves] = {}
        self.rest: dict[str, None] = {}

    @property
    def shape(self) -> tuple[tuple[str, bool, bool], ...]:
        """Which there are, and whether each has points of training and of validation."""
        return tuple(
            (name, bool(len(each.training)), bool(len(each.validation)))
            for name, each in self.curves.items()
        )

    def extend(self, reported: str, moments: "Floats", values: "Floats") -> None:
        """Take in values of a figure.

        Args:
            reported: Its name; that of its twin begins with ``val_``.
            moments: When they were reported, in seconds since the start of the run.
            values: As many.
        """
        name = reported.removeprefix(_VALIDATION) or reported
        curves = self._curves_of(name)
        if curves is not None:
            buffer = curves.training if name == reported else curves.validation
            buffer.extend(moments, values)

    def end_line(self) -> None:
        """Let no line lead from here to what comes next."""
        for curves in self.curves.values():
            curves.training.end_line()

    def _curves_of(self, name: str) -> FigureCurves | None:
        if name not in self.curves:
            if len(self.curves) == MOST_PLOTS:
                if len(self.rest) < MOST_FIGURES:
                    self.rest[name] = None
                return None
            self.curves[name] = FigureCurves()
        return self.curves[name]

"""What the axis at the bottom of plots counts."""

from enum import StrEnum

from gpupanel.ui import formatting


class AxisKind(StrEnum):
    """Seconds or steps, each from the start of a run."""

    TIME = "time"
    STEP = "step"

    def position_words(self, position: float) -> str:
        """A place on the axis: "step 1,204", "at 0:30"."""
        if self is AxisKind.STEP:
            return f"step {position:,.0f}"
        return f"at {formatting.duration(position)}"

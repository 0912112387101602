"""What a picture of a strategy is, whichever it draws."""

from dataclasses import dataclass
from typing import Protocol

from gpupanel.domain.plan import LaunchPlan
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.panels.strategy_panel.pictures.canvas import Canvas
from gpupanel.ui.task_choices import Task


@dataclass(frozen=True, slots=True)
class Division:
    """What is to be drawn.

    Attributes:
        task: What the steps are for.
        placement: The place of each layer that was placed by hand, in the order of the model;
            empty where the trainer places them.
    """

    plan: LaunchPlan
    device_labels: DeviceLabels
    task: Task = "train"
    placement: tuple[tuple[str, int], ...] = ()

    @property
    def batch_words(self) -> str:
        """The size of a global batch: "64 examples"."""
        return f"{formatting.count(self.plan.global_batch_size)} examples"

    @property
    def parts_words(self) -> str:
        """How many micro-batches a share is taken in, where it is more than one."""
        parts = self.plan.accumulation_steps
        return f", in {parts} accumulation steps" if parts > 1 else ""


class Picture(Protocol):
    """Draws one strategy from top to bottom, and says the same in words."""

    @property
    def lesson(self) -> str:
        """What a person learns who looks closer."""

    @property
    def title(self) -> str:
        """The line above the picture."""

    @property
    def words(self) -> str:
        """The picture for those who cannot see it."""

    def height(self, line: float) -> float:
        """Pixels below the title, when a line of text is so high."""

    def paint(self, canvas: Canvas, top: float) -> None:
        """Draws everything below the title, which ends at ``top``."""

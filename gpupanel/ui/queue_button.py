"""What the button beside Start does: it adds to the queue, or puts an edited entry back."""

from dataclasses import dataclass

from gpupanel.planning.prepare import Preparation
from gpupanel.runs.queue.entry import QueueEntry


@dataclass(frozen=True, slots=True)
class QueueButton:
    """The button's words, and whether it can be pressed."""

    text: str
    tip: str
    is_enabled: bool


def queue_button(
    preparation: Preparation, edited: QueueEntry | None, waiting: int, *, reading: bool = False
) -> QueueButton:
    """The button as it follows from what is chosen and what is edited.

    Args:
        preparation: What would happen with the session's profile.
        edited: The entry whose profile is in the session.
        waiting: How many entries wait.
        reading: The data is being read, so that nobody knows yet what would run.
    """
    text = "Queue" if edited is None else "Put back"
    if not preparation.is_startable:
        tip = "Fix the problems first: see What will happen in Session"
        return QueueButton(text, tip, is_enabled=False)
    if reading:
        return QueueButton(text, "The data is being read: a moment", is_enabled=False)
    if edited is not None:
        tip = f"Updates the queue entry “{edited.name}” with this profile"
        return QueueButton(text, tip, is_enabled=True)
    several = f"\n{waiting:,} entries wait already"
    before = {0: "", 1: "\n1 entry waits already"}.get(waiting, several)
    tip = "Adds a run of this profile to the queue: it starts when its devices are free"
    return QueueButton(text, f"{tip} (Ctrl+Shift+Enter){before}", is_enabled=True)

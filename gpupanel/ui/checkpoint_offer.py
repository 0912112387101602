"""Saving a checkpoint of the run that goes on: whether it is offered, and in which words."""

from dataclasses import dataclass

from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.run_state import RunState


@dataclass(frozen=True, slots=True)
class CheckpointOffer:
    """What the button that saves a checkpoint says.

    Attributes:
        is_saving: One was asked for, and is not there yet.
        tip: What it does, and which one is the last.
    """

    is_saving: bool
    tip: str


def checkpoint_offer(
    run: RunState, shown: RunStatus | None, *, is_saving: bool
) -> CheckpointOffer | None:
    """The offer for a run that trains; ``None``: there is nothing to save.

    Args:
        run: Of the run that goes on.
        shown: Its status; ``None``: another one is shown, or none.
        is_saving: One was asked for, and is not there yet.
    """
    if shown is None or not shown.trains or run is not RunState.RUNNING:
        return None
    last = "No checkpoint was saved yet."
    if shown.checkpoint is not None:
        last = f"The last checkpoint is of step {formatting.count(shown.checkpoint.step)}."
    return CheckpointOffer(
        is_saving, f"Saves a checkpoint after the next step; the run continues. {last}"
    )

"""What of a training that was stopped is saved, and what is lost, in words."""

from gpupanel.domain.outcome import Outcome, SavedWork

_STOPPED = (Outcome.STOPPED, Outcome.SUSPENDED)


def loses_steps(outcome: Outcome | None, saved: SavedWork | None) -> bool:
    """Whether a training was stopped in such a way that a part of it is lost."""
    return outcome in _STOPPED and saved is not None and saved.unsaved_steps > 0


def short_end_text(outcome: Outcome | None, saved: SavedWork | None) -> str:
    """How a training was stopped, for a cell of a table; empty where its outcome says all.

    "ended without saving" or "stopped, not saved".
    """
    if saved is None or not loses_steps(outcome, saved) or outcome is Outcome.SUSPENDED:
        return ""
    return "ended without saving" if saved.ended_at_once else "stopped, not saved"


def end_text(outcome: Outcome | None, saved: SavedWork | None) -> str:
    """How a training was stopped, with what is saved of it; empty where its outcome says all.

    "Stopped: model saved", "Stopped: nothing saved since the checkpoint of step 1,200; 143 steps
    are lost", or "Ended without saving; 143 steps since the last checkpoint are lost".
    """
    if saved is None or outcome not in _STOPPED:
        return ""
    if outcome is Outcome.SUSPENDED:
        return f"Suspended; {_lost_text(saved)}" if saved.unsaved_steps else ""
    if saved.model:
        return "Stopped: model saved"
    step = saved.checkpoint_step
    if not saved.unsaved_steps:
        if step is None:
            return "Stopped before its first step"
        return f"Stopped: checkpoint of step {step:,} saved"
    if saved.ended_at_once:
        return f"Ended without saving; {_lost_text(saved)}"
    if step is None:
        return f"Stopped: nothing saved; {_lost_text(saved)}"
    steps = _count(saved.unsaved_steps)
    return f"Stopped: nothing saved since the checkpoint of step {step:,}; {steps} lost"


def unsaved_text(saved: SavedWork | None) -> str:
    """What ending a run now, without saving, would mean.

    Args:
        saved: What is saved by now; ``None``: the run evaluates a saved model, predicts, or runs a
            program of the person's own.
    """
    if saved is None:
        return "Its results so far would be lost."
    step, unsaved = saved.checkpoint_step, saved.unsaved_steps
    if not unsaved:
        return (
            "It has made no step yet: nothing would be lost."
            if step is None
            else f"All its steps are in the checkpoint of step {step:,}: only the model would "
            "not be saved."
        )
    steps = "1 step" if unsaved == 1 else f"{unsaved:,} steps"
    if step is None:
        return (
            f"It has saved no checkpoint: its {steps} would be lost, and it could not be resumed."
        )
    return (
        f"The {steps} since the checkpoint of step {step:,} would be lost; it could be resumed "
        "from there."
    )


def _lost_text(saved: SavedWork) -> str:
    if saved.checkpoint_step is None:
        return f"its {_count(saved.unsaved_steps)} lost"
    count = saved.unsaved_steps
    steps, are = ("1 step", "is") if count == 1 else (f"{count:,} steps", "are")
    return f"{steps} since the last checkpoint {are} lost"


def _count(steps: int) -> str:
    return "1 step is" if steps == 1 else f"{steps:,} steps are"

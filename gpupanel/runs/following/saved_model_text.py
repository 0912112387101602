"""Which epoch's weights the model of a run has, in words."""

from gpupanel.runs.following.status import RunStatus


def saved_model_text(status: RunStatus) -> str:
    """Which weights the saved model has, within a sentence; empty if none is known."""
    saved, best = status.model_saved, status.best
    if saved is None or not saved.epoch:
        return ""
    if not saved.is_last:
        return f"model of epoch {saved.epoch:,} of {status.epoch:,}, the best one"
    if saved.is_best:
        return f"model of epoch {saved.epoch:,}, the last and the best one"
    # A training that is stopped within an epoch is some steps further.
    said = "nothing was validated" if best is None else f"best epoch {best.epoch:,}"
    return f"model of the last step, after epoch {saved.epoch:,}; {said}"

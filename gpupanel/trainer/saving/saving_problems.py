"""What to tell when something could not be saved, or should not be."""

import errno
import traceback

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.trainer.loop.position import Position

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


def not_saved(step: int, cause: OSError) -> Problem:
    """The warning about a checkpoint without which the training goes on."""
    return Problem(
        code="checkpoint_not_saved",
        severity=Severity.WARNING,
        message=f"The checkpoint of step {step:,} could not be saved, because {_why(cause)}; the "
        "training goes on, and the one before is kept.",
        hint=f"{_what_to_do(cause)}; the next checkpoint is tried again.",
        detail="".join(traceback.format_exception(cause)),
    )


def last_not_saved(step: int, cause: OSError) -> Problem:
    """The error of a training that ended without the checkpoint that it should leave behind."""
    return Problem(
        code="last_checkpoint_not_saved",
        message=f"The training ended at step {step:,}, but its last checkpoint could not be "
        f"saved, because {_why(cause)}.",
        hint=f"{_what_to_do(cause)}, and resume the run: it goes on from the checkpoint before.",
        detail="".join(traceback.format_exception(cause)),
    )


def not_finite(what: str, position: Position) -> ProblemError:
    """The problem of a training that has run into numbers that are none.

    Args:
        what: The loss, the validation loss, the weights.
        position: Its step is the first that shows it.
    """
    return ProblemError(
        Problem(
            code="loss_not_finite",
            field="training.learning_rate",
            message=f"NaN or infinity in the {what} at step {position.step:,} (epoch "
            f"{position.epoch}), so training ended; nothing would be learned from there on.",
            hint="Lower the learning rate, or look for extreme values in the data; the last "
            "complete checkpoint is kept.",
        )
    )


def _why(cause: OSError) -> str:
    if cause.errno in _NO_SPACE:
        return "no space is left on the disk that holds the run"
    return f"the system says: {cause.strerror or cause}"


def _what_to_do(cause: OSError) -> str:
    if cause.errno in _NO_SPACE:
        return "Free some space"
    return "Look at the run's folder and at the disk that holds it"

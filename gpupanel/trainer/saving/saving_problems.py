"""Problems where something could not be saved, or should not be."""

import traceback

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.trainer.file_errors import disk_obstacle, run_obstacle
from gpupanel.trainer.saving.position import Position


def not_saved(step: int, cause: OSError) -> Problem:
    """The warning about a checkpoint without which the training goes on."""
    return Problem(
        code="checkpoint_not_saved",
        severity=Severity.WARNING,
        message=f"The checkpoint of step {step:,} could not be saved, because {_why(cause)}; the "
        "training continues, and the previous one is kept.",
        hint=f"{_what_to_do(cause)}; the next checkpoint is tried again.",
        detail="".join(traceback.format_exception(cause)),
    )


def last_not_saved(step: int, cause: OSError) -> Problem:
    """The error of a training that ended without the checkpoint that it should leave behind."""
    return Problem(
        code="last_checkpoint_not_saved",
        message=f"The training ended at step {step:,}, but its last checkpoint could not be "
        f"saved, because {_why(cause)}.",
        hint=(
            f"{_what_to_do(cause)}, and resume the run: it continues from the previous checkpoint."
        ),
        detail="".join(traceback.format_exception(cause)),
    )


def other_model_not_saved(cause: OSError, *, is_best: bool) -> Problem:
    """The warning about a second model, of the weights that are not kept."""
    return Problem(
        code="other_model_not_saved",
        severity=Severity.WARNING,
        message="The model is saved; a second one, with the weights of "
        f"{'the best epoch' if is_best else 'the last step'}, could not be, because {_why(cause)}.",
        hint=f"{_what_to_do(cause)}, and resume the run: it saves both again.",
        detail="".join(traceback.format_exception(cause)),
    )


def tensorboard_not_written(cause: Exception) -> Problem:
    """The warning about TensorBoard's files, without which the training goes on."""
    obstacle = disk_obstacle(cause)
    words = str(cause).splitlines()[0][:200] if str(cause) else repr(cause)
    why = f"TensorFlow reports: {words}" if obstacle is None else obstacle.because
    return Problem(
        code="tensorboard_not_written",
        severity=Severity.WARNING,
        message=f"The files for TensorBoard could not be written, because {why}; the training "
        "continues without them.",
        hint="What was written before is there, and the Live tab shows the same curves. A run "
        "that is resumed writes them again.",
        detail="".join(traceback.format_exception(cause)),
    )


def examples_not_predicted(cause: Exception) -> Problem:
    """The warning about the validation examples of which no prediction is shown any more."""
    obstacle = disk_obstacle(cause)
    words = str(cause).splitlines()[0][:200] if str(cause) else repr(cause)
    why = f"{type(cause).__name__}: {words}" if obstacle is None else obstacle.because
    return Problem(
        code="examples_not_predicted",
        severity=Severity.WARNING,
        message="What the model says of single validation examples is not shown any more, because "
        f"of this: {why}. The training and its validation go on.",
        hint="Evaluate the model once it is saved: that shows its mistakes.",
        detail="".join(traceback.format_exception(cause)),
    )


def confusion_not_saved(cause: OSError) -> Problem:
    """The warning about a confusion matrix without which an evaluation ends."""
    return Problem(
        code="confusion_not_saved",
        severity=Severity.WARNING,
        message=f"The confusion matrix could not be saved, because {_why(cause)}; the metrics over "
        "all examples are there.",
        hint=f"{_what_to_do(cause)}, and evaluate again for the metrics of each class.",
        detail="".join(traceback.format_exception(cause)),
    )


def not_finite(what: str, position: Position) -> ProblemError:
    """The problem of a training that has run into numbers that are none.

    Args:
        what: The loss, the validation loss, the test loss, the weights.
        position: Its step is the first that shows it.
    """
    return ProblemError(
        Problem(
            code="loss_not_finite",
            field="training.learning_rate",
            message=f"NaN or infinity in the {what} at step {position.step:,} (epoch "
            f"{position.epoch:,}), so training ended; nothing would be learned after that.",
            hint="Lower the learning rate, or search for extreme values in the data; complete "
            "checkpoints are kept.",
        )
    )


def _why(cause: OSError) -> str:
    return run_obstacle(cause).because


def _what_to_do(cause: OSError) -> str:
    return run_obstacle(cause).hint[:-1]

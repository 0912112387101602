"""What a model that was not built here may end in, by what is predicted: known without Keras."""

from typing import Final

from gpupanel.domain.data import Target
from gpupanel.domain.model import Outputs
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity

SOFTMAX, SIGMOID, LINEAR, UNKNOWN = "softmax", "sigmoid", "linear", "unknown"
ENDINGS: Final = {Target.CLASSES: SOFTMAX, Target.LABELS: SIGMOID}
"""What a model may end in instead of logits: it is taken off, and put back when it is saved."""


class ModelMisfitError(Exception):
    """What of the model cannot be trained here, as the end of a sentence."""


def check_ending(ending: str, target: Target, said: Outputs | None, *, is_single: bool) -> None:
    """Refuse what a model ends in where it cannot be trained so.

    Args:
        ending: As :func:`~gpupanel.trainer.parts.model_ending.ending_of` finds it.
        target: What the labels are.
        said: What the outputs are, as a person says; ``None``: the layers have to show it.
        is_single: It gives one number an example.

    Raises:
        ModelMisfitError: It ends in something else than is needed.
        ProblemError: Nothing shows whether it ends in probabilities.
    """
    probable = ENDINGS.get(target)
    if probable is None:
        if ending not in (LINEAR, UNKNOWN):
            wanted = "the value as it is is" if is_single else "the values as they are are"
            raise ModelMisfitError(f"it ends in {ending}, but {wanted} needed")
    elif ending == probable:
        if said is Outputs.LOGITS:
            raise ModelMisfitError(f"it ends in a {ending}, and model.outputs says logits")
    elif said is None and ending == UNKNOWN:
        raise ProblemError(outputs_unknown(probable))
    elif said is None and ending != LINEAR:
        raise ModelMisfitError(f"it ends in {ending}, but logits or a {probable} are needed")


def outputs_unknown(probable: str, *, is_trained: bool = True) -> Problem:
    """The question that nobody but a person can answer.

    Args:
        probable: What gives the probabilities that are predicted.
        is_trained: Further; otherwise the first outputs decide where a person does not.
    """
    are, key = "They are", "model.outputs"
    hint = f"Say it in {key}: a {probable} over probabilities would be learned from wrongly."
    if not is_trained:
        hint = f"Say it in {key}: otherwise what the first outputs look like decides."
    return Problem(
        code="model_outputs_unknown",
        severity=Severity.ERROR if is_trained else Severity.HINT,
        field=key,
        message="Whether the model gives probabilities or logits cannot be seen: its last layers "
        f"end neither in a {probable} nor in a layer without an activation.",
        hint=hint,
        fix=Fix.of(f"{are} probabilities", key, Outputs.PROBABILITIES.value),
        alternatives=(Fix.of(f"{are} logits", key, Outputs.LOGITS.value),),
    )

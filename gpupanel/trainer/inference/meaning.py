"""What the outputs of a saved model mean, and whether that is a guess."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpupanel.domain.data import Target
from gpupanel.domain.model import Outputs
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.parts.output_meaning import Activation, Floats, Meaning, meaning_of


@dataclass(frozen=True, slots=True)
class OutputMeaning:
    """A meaning, and whether it was a guess.

    Attributes:
        class_count: 0 for values and for several labels.
        label_count: Of several labels at once.
        hint: What was assumed, when the model does not say it itself.
    """

    meaning: Meaning
    class_count: int
    hint: Problem | None = None
    label_count: int = 0

    @property
    def of_labels(self) -> bool:
        """Whether each output is about a label of its own."""
        return self.label_count > 0

    def class_names(self, known: Sequence[str]) -> tuple[str, ...]:
        """A name for each class or label, none for values.

        Args:
            known: Those that somebody knows; the others are called by their numbers.
        """
        return tuple(
            known[number] if number < len(known) else str(number)
            for number in range(self.class_count or self.label_count)
        )


def read_outputs(
    activation: Activation, first: Floats, class_count: int | None, target: Target
) -> OutputMeaning:
    """What outputs mean: see :func:`~gpupanel.trainer.parts.output_meaning.meaning_of`."""
    meaning, outputs = meaning_of(activation, first, class_count, target), first.shape[1]
    hint = None if target is Target.VALUES else _hint(activation, meaning)
    match meaning:
        case Meaning.VALUES:
            return OutputMeaning(meaning, 0, hint)
        case Meaning.LABEL_LOGITS | Meaning.LABEL_PROBABILITIES:
            return OutputMeaning(meaning, 0, hint, outputs)
    return OutputMeaning(meaning, max(2, outputs), hint)


def check_finite(outputs: Floats, indices: Indices) -> None:
    """Refuse outputs that are no numbers.

    Args:
        outputs: Shape [examples, outputs].
        indices: Of these examples, in the source.

    Raises:
        ProblemError: Some are NaN or infinite.
    """
    finite = np.isfinite(outputs).all(axis=1)
    if finite.all():
        return
    raise ProblemError(
        Problem(
            code="outputs_not_finite",
            field="model.path",
            message="The model gives NaN or infinity for example "
            f"{int(indices[int(np.argmin(finite))]):,}.",
            hint="Check that example and the model's weights: a training that diverged "
            "leaves such weights behind.",
        )
    )


_SHOWN: Final = {
    (Activation.SOFTMAX, Meaning.LOGITS),
    (Activation.SIGMOID, Meaning.LABEL_LOGITS),
    (Activation.SIGMOID, Meaning.BINARY_LOGIT),
}
_SCORES: Final = (
    "scores of classes, of which the greatest wins",
    'is a sigmoid (for several labels at once set data.predicts to "labels")',
)
_ASSUMED: Final = {
    Meaning.VALUES: ("values", "has one output and no sigmoid, and the data has no labels"),
    Meaning.LABEL_LOGITS: ("logits of each label", "is not a sigmoid"),
    Meaning.LABEL_PROBABILITIES: (
        "the probability of each label",
        "is not a sigmoid, but its outputs lie between 0 and 1",
    ),
    Meaning.LOGITS: ("logits", "does not say what it is, and its outputs are not probabilities"),
    Meaning.PROBABILITIES: (
        "probabilities",
        "does not say what it is, but its outputs are positive and sum to 1",
    ),
    Meaning.BINARY_LOGIT: (
        "the logit of the second of two classes",
        "has one output and no sigmoid",
    ),
    Meaning.BINARY_PROBABILITY: (
        "the probability of the second of two classes",
        "does not say what it is, but its one output lies between 0 and 1",
    ),
}
"""What outputs are taken as, and what their last layer does."""


def _hint(activation: Activation, meaning: Meaning) -> Problem | None:
    is_said = activation in (Activation.SAID_LOGITS, Activation.SAID_PROBABILITIES)
    if is_said or (activation, meaning) in _SHOWN:
        return None
    words, why = _ASSUMED[meaning]
    if (activation, meaning) == (Activation.LINEAR, Meaning.LOGITS):
        why = "has no softmax"
    if (activation, meaning) == (Activation.SIGMOID, Meaning.PROBABILITIES):
        words, why = _SCORES
    return Problem(
        code="model_outputs_assumed",
        severity=Severity.HINT,
        field="model.outputs",
        message=f"The model's outputs are taken as {words}: its last layer {why}.",
        hint="Say in model.outputs what they are; or save the model with a softmax (or one "
        "sigmoid) at its end.",
        fix=Fix.of("They are probabilities", "model.outputs", Outputs.PROBABILITIES.value),
        alternatives=(Fix.of("They are logits", "model.outputs", Outputs.LOGITS.value),),
    )

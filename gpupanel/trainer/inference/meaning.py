"""What the outputs of a saved model mean, and what follows from them."""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import Target
from gpupanel.domain.model import Outputs
from gpupanel.domain.problem import Fix, Problem, Severity

Floats = npt.NDArray[np.float32]

_SMALLEST_PROBABILITY = 1e-7
"""Keras's epsilon: a probability of 0 for the true class would be an infinite loss."""
_ROW_SUM_TOLERANCE = 1e-3


class Activation(Enum):
    """What the last layers do last."""

    SOFTMAX = auto()
    SIGMOID = auto()
    LINEAR = auto()
    UNKNOWN = auto()
    SAID_LOGITS = auto()
    """The layers do not show it; a person chose logits."""
    SAID_PROBABILITIES = auto()
    """The layers do not show it; a person chose probabilities."""


class Meaning(Enum):
    """How to read the outputs."""

    VALUES = auto()
    """One number a value."""
    LABEL_LOGITS = auto()
    """One a label, before a sigmoid each."""
    LABEL_PROBABILITIES = auto()
    """One a label."""
    LOGITS = auto()
    """One a class, before a softmax."""
    PROBABILITIES = auto()
    """One a class."""
    BINARY_LOGIT = auto()
    """One number, before a sigmoid, for the second of two classes."""
    BINARY_PROBABILITY = auto()
    """The probability of the second of two classes."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Outputs as probabilities; shape [examples, classes].

    Attributes:
        probabilities: As Keras's ``predict`` gives them where the model ends in a softmax.
        logarithms: Of the probabilities, exact where they come from logits.
    """

    probabilities: Floats
    logarithms: Floats


def read_outputs(
    activation: Activation, first: Floats, class_count: int | None, target: Target
) -> OutputMeaning:
    """What outputs mean, from the last layer where it shows it, else from the first examples.

    Args:
        activation: Of the last layer. After a softmax or sigmoid (of one output, or of several
            labels) ``first`` and all that follow must be what goes into it.
        first: Outputs for the first examples, shape [examples, outputs].
        class_count: How many classes the data has; ``None``: nobody knows.
        target: What the labels of the data are.
    """
    outputs = first.shape[1]
    match target:
        case Target.VALUES:
            return OutputMeaning(Meaning.VALUES, 0)
        case Target.LABELS:
            return _read_labels(activation, first)
    if outputs == 1:
        return _read_single(activation, first, class_count)
    match activation:
        case Activation.SOFTMAX | Activation.SAID_LOGITS:
            return OutputMeaning(Meaning.LOGITS, outputs)
        case Activation.SAID_PROBABILITIES:
            return OutputMeaning(Meaning.PROBABILITIES, outputs)
        case Activation.LINEAR:
            return OutputMeaning(Meaning.LOGITS, outputs, _assumed("logits", "has no softmax"))
        case Activation.SIGMOID:
            words = "scores of classes, of which the greatest wins"
            why = 'is a sigmoid (for several labels at once set data.predicts to "labels")'
            return OutputMeaning(Meaning.PROBABILITIES, outputs, _assumed(words, why))
        case Activation.UNKNOWN if _are_probabilities(first):
            words = "does not say what it is, but its outputs are positive and sum to 1"
            return OutputMeaning(Meaning.PROBABILITIES, outputs, _assumed("probabilities", words))
    words = "does not say what it is, and its outputs are not probabilities"
    return OutputMeaning(Meaning.LOGITS, outputs, _assumed("logits", words))


def _read_labels(activation: Activation, first: Floats) -> OutputMeaning:
    count = first.shape[1]
    if activation in (Activation.SIGMOID, Activation.SAID_LOGITS):
        return OutputMeaning(Meaning.LABEL_LOGITS, 0, None, count)
    if activation is Activation.SAID_PROBABILITIES:
        return OutputMeaning(Meaning.LABEL_PROBABILITIES, 0, None, count)
    if activation is not Activation.LINEAR and _lie_between_0_and_1(first):
        words = "is not a sigmoid, but its outputs lie between 0 and 1"
        hint = _assumed("the probability of each label", words)
        return OutputMeaning(Meaning.LABEL_PROBABILITIES, 0, hint, count)
    hint = _assumed("logits of each label", "is not a sigmoid")
    return OutputMeaning(Meaning.LABEL_LOGITS, 0, hint, count)


def _lie_between_0_and_1(outputs: Floats) -> bool:
    return bool(np.all((outputs >= 0.0) & (outputs <= 1.0)))


def _read_single(activation: Activation, first: Floats, class_count: int | None) -> OutputMeaning:
    if activation in (Activation.SIGMOID, Activation.SAID_LOGITS):
        return OutputMeaning(Meaning.BINARY_LOGIT, 2)
    if activation is Activation.SAID_PROBABILITIES:
        return OutputMeaning(Meaning.BINARY_PROBABILITY, 2)
    if class_count is None and activation is not Activation.UNKNOWN:
        words = "has one output and no sigmoid, and the data has no labels"
        return OutputMeaning(Meaning.VALUES, 0, _assumed("values", words))
    if activation is Activation.UNKNOWN and _lie_between_0_and_1(first):
        words = "does not say what it is, but its one output lies between 0 and 1"
        hint = _assumed("the probability of the second of two classes", words)
        return OutputMeaning(Meaning.BINARY_PROBABILITY, 2, hint)
    hint = _assumed("the logit of the second of two classes", "has one output and no sigmoid")
    return OutputMeaning(Meaning.BINARY_LOGIT, 2, hint)


def _are_probabilities(outputs: Floats) -> bool:
    sums = outputs.sum(axis=1, dtype=np.float64)
    return bool(np.all(outputs >= 0.0) and np.all(np.abs(sums - 1.0) < _ROW_SUM_TOLERANCE))


def _assumed(meaning: str, why: str) -> Problem:
    return Problem(
        code="model_outputs_assumed",
        severity=Severity.HINT,
        field="model.outputs",
        message=f"The model's outputs are taken as {meaning}: its last layer {why}.",
        hint="Say in model.outputs what they are; or save the model with a softmax (or one "
        "sigmoid) at its end.",
        fix=Fix.of("They are probabilities", "model.outputs", Outputs.PROBABILITIES.value),
        alternatives=(Fix.of("They are logits", "model.outputs", Outputs.LOGITS.value),),
    )


def label_scores(outputs: Floats, labels: Floats, meaning: Meaning) -> Floats:
    """The logarithm of the probability that the model gives to what each label is.

    Args:
        outputs: Shape [examples, labels].
        labels: 0 or 1, likewise.
        meaning: One of labels.
    """
    if meaning is Meaning.LABEL_LOGITS:
        signed = np.where(labels > 0.5, outputs, -outputs)
        return np.asarray(-np.logaddexp(np.float32(0.0), -signed), np.float32)
    right = np.where(labels > 0.5, outputs, 1.0 - outputs)
    return np.asarray(np.log(np.clip(right, _SMALLEST_PROBABILITY, 1.0)), np.float32)


def label_probabilities(outputs: Floats, meaning: Meaning) -> Floats:
    """The probability of each label, shape [examples, labels]; meaning is one of labels."""
    if meaning is Meaning.LABEL_PROBABILITIES:
        return outputs
    return np.exp(label_scores(outputs, np.ones_like(outputs), meaning))


def scores_of(outputs: Floats, meaning: Meaning) -> Scores:
    """Probabilities of each class, from outputs that mean classes.

    Args:
        outputs: Shape [examples, outputs].
        meaning: Theirs.
    """
    match meaning:
        case Meaning.LOGITS:
            logarithms = _log_softmax(outputs)
            return Scores(np.exp(logarithms), logarithms)
        case Meaning.BINARY_LOGIT:
            # A softmax over 0 and the logit is the same as its sigmoid.
            logarithms = _log_softmax(np.concatenate([np.zeros_like(outputs), outputs], axis=1))
            return Scores(np.exp(logarithms), logarithms)
        case Meaning.BINARY_PROBABILITY:
            outputs = np.concatenate([1.0 - outputs, outputs], axis=1)
    sums = np.maximum(outputs.sum(axis=1, keepdims=True), _SMALLEST_PROBABILITY)
    clipped = np.clip(outputs / sums, _SMALLEST_PROBABILITY, 1.0 - _SMALLEST_PROBABILITY)
    return Scores(outputs, np.log(clipped))


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=1, keepdims=True)
    logarithms: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logarithms

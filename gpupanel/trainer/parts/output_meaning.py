"""What the outputs of a saved model mean, and what follows from them."""

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

KERAS_EPSILON = 1e-7
"""A probability of 0 for the true class would be an infinite loss."""
ROW_SUM_TOLERANCE = 1e-3


class Activation(Enum):
    """What the last layers do last."""

    SOFTMAX = auto()
    SIGMOID = auto()
    LINEAR = auto()
    UNKNOWN = auto()
    SAID_LOGITS = auto()
    """It does not show it; a person says so."""
    SAID_PROBABILITIES = auto()
    """It does not show it either; a person says so."""


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


def activation_of(ending: str, outputs: int, said: str | None) -> Activation:
    """What the last layers do last.

    Args:
        ending: What the layers show.
        outputs: Numbers an example.
        said: ``logits`` or ``probabilities``, as a person says it; ``None``: nobody does.
    """
    if ending == "softmax" and outputs > 1:
        return Activation.SOFTMAX
    if ending == "sigmoid":
        return Activation.SIGMOID
    if said is not None:
        return Activation.SAID_LOGITS if said == "logits" else Activation.SAID_PROBABILITIES
    return Activation.LINEAR if ending == "linear" else Activation.UNKNOWN


def ending_taken_off(activation: Activation, outputs: int, target: str) -> str | None:
    """Which ending a loss is exact before: ``softmax``, ``sigmoid`` or ``None``.

    The sigmoid of several classes is kept, and of values either is a part.

    Args:
        activation: What the last layers do last.
        outputs: Numbers an example.
        target: What the labels are: ``classes``, ``labels`` or ``values``.
    """
    if target == "values":
        return None
    if activation is Activation.SIGMOID and (target == "labels" or outputs == 1):
        return "sigmoid"
    return "softmax" if activation is Activation.SOFTMAX and target == "classes" else None


def meaning_of(
    activation: Activation, first: Floats, class_count: int | None, target: str
) -> Meaning:
    """What outputs mean, from the last layer where it shows it, else from the first examples.

    Args:
        activation: Of the last layer. Where :func:`ending_taken_off` names what it does, ``first``
            and all that follow must be what goes into it.
        first: Outputs for the first examples, shape [examples, outputs].
        class_count: How many classes the data has; ``None``: nobody knows.
        target: What the labels are: ``classes``, ``labels`` or ``values``.
    """
    if target == "values":
        return Meaning.VALUES
    lie_between_0_and_1 = bool(np.all((first >= 0.0) & (first <= 1.0)))
    is_probable = activation is Activation.SAID_PROBABILITIES
    if target == "labels":
        shows_logits = activation in (
            *(Activation.SIGMOID, Activation.SAID_LOGITS, Activation.LINEAR),
        )
        if is_probable or (not shows_logits and lie_between_0_and_1):
            return Meaning.LABEL_PROBABILITIES
        return Meaning.LABEL_LOGITS
    is_unknown = activation is Activation.UNKNOWN
    if first.shape[1] == 1:
        shows_it = activation in (Activation.SIGMOID, Activation.SAID_LOGITS)
        if class_count is None and not (shows_it or is_probable or is_unknown):
            return Meaning.VALUES
        if is_probable or (is_unknown and lie_between_0_and_1):
            return Meaning.BINARY_PROBABILITY
        return Meaning.BINARY_LOGIT
    if is_probable or activation is Activation.SIGMOID or (is_unknown and sum_to_1(first)):
        return Meaning.PROBABILITIES
    return Meaning.LOGITS


def sum_to_1(outputs: Floats) -> bool:
    """Whether the outputs of each example look like probabilities of classes."""
    sums = outputs.sum(axis=1, dtype=np.float64)
    return bool(np.all(outputs >= 0.0) and np.all(np.abs(sums - 1.0) < ROW_SUM_TOLERANCE))


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Outputs as probabilities; shape [examples, classes].

    Attributes:
        probabilities: As Keras's ``predict`` gives them where the model ends in a softmax.
        logarithms: Of the probabilities, exact where they come from logits.
    """

    probabilities: Floats
    logarithms: Floats


def scores_of(outputs: Floats, meaning: Meaning) -> Scores:
    """Probabilities of each class, from outputs that mean classes.

    Args:
        outputs: Shape [examples, outputs].
        meaning: Theirs.
    """
    match meaning:
        case Meaning.LOGITS:
            logarithms = log_softmax(outputs)
            return Scores(np.exp(logarithms), logarithms)
        case Meaning.BINARY_LOGIT:
            # A softmax over 0 and the logit is the same as its sigmoid.
            logarithms = log_softmax(np.concatenate([np.zeros_like(outputs), outputs], axis=1))
            return Scores(np.exp(logarithms), logarithms)
        case Meaning.BINARY_PROBABILITY:
            outputs = np.concatenate([1.0 - outputs, outputs], axis=1)
    sums = np.maximum(outputs.sum(axis=1, keepdims=True), KERAS_EPSILON)
    return Scores(outputs, np.log(np.clip(outputs / sums, KERAS_EPSILON, 1.0 - KERAS_EPSILON)))


def log_softmax(logits: Floats) -> Floats:
    """The logarithms of the probabilities of classes, shape [examples, classes]."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    logarithms: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logarithms


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
    return np.asarray(np.log(np.clip(right, KERAS_EPSILON, 1.0)), np.float32)


def label_probabilities(outputs: Floats, meaning: Meaning) -> Floats:
    """The probability of each label, shape [examples, labels]; meaning is one of labels."""
    if meaning is Meaning.LABEL_PROBABILITIES:
        return outputs
    return np.exp(label_scores(outputs, np.ones_like(outputs), meaning))


def said_labels(outputs: Floats, meaning: Meaning) -> npt.NDArray[np.bool_]:
    """Which labels are more likely than not, shape [examples, labels]."""
    return outputs > (0.0 if meaning is Meaning.LABEL_LOGITS else 0.5)


def predicted_numbers(outputs: Floats, meaning: Meaning) -> Floats:
    """What is predicted: values, or a probability of each class or label.

    Args:
        outputs: Shape [examples, outputs].
        meaning: Theirs.
    """
    match meaning:
        case Meaning.VALUES:
            return outputs
        case Meaning.LABEL_LOGITS | Meaning.LABEL_PROBABILITIES:
            return label_probabilities(outputs, meaning)
    return scores_of(outputs, meaning).probabilities


def sum_of_means(each: npt.NDArray[np.generic]) -> float:
    """Over the examples, of the mean over what stands in a row; shape [examples, outputs]."""
    return float(each.mean(axis=1, dtype=np.float64).sum())

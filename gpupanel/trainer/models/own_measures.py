"""A loss, metrics and weights of the person's own, which stand beside ``build_model``."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TypeAlias

import numpy as np
import tensorflow as tf

from gpupanel.domain.data import ClassWeights
from gpupanel.domain.outcome import MOST_OWN_METRICS, own_metric_misfit
from gpupanel.domain.problem import Change, Fix, Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.user_code import RunCode, exits_reported

Given: TypeAlias = tf.Tensor | dict[str, tf.Tensor]
"""Labels or outputs of some examples; of several outputs by their names."""
OwnFunction = Callable[[Given, Given], object]

_CONTRACT = (
    "loss(labels, outputs), and each function of metrics, gives one number for each example, shape "
    "[n]: take means over all other axes, and none over the examples."
)


@dataclass(frozen=True, slots=True)
class OwnMeasures:
    """What the person's file measures.

    Attributes:
        code: The file; ``None``: there is none.
        loss: Is made small; ``None``: what follows from the labels is.
        metrics: Are measured beside it, by their names.
        weights: What the losses of several outputs count, by the names of these.
    """

    code: RunCode | None = None
    loss: OwnFunction | None = None
    metrics: Mapping[str, OwnFunction] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    def numbers(self, name: str, function: OwnFunction, labels: Given, outputs: Given) -> tf.Tensor:
        """What one of them gives for these examples, float32, shape [n].

        Raises:
            ProblemError: It gives something else.
            Exception: Whatever the person's code raises.
        """
        given = function(labels, outputs)
        if not tf.is_tensor(given) and not isinstance(given, np.ndarray):
            raise self.misfit(name, f"a {type(given).__name__}", labels, outputs)
        found = tf.convert_to_tensor(given)
        is_number = found.dtype.is_floating or found.dtype.is_integer or found.dtype.is_bool
        if found.shape.rank != 1 or not is_number:
            what = f"{shapes_of(found)} {found.dtype.name} numbers"
            raise self.misfit(name, what, labels, outputs)
        return tf.cast(found, tf.float32)

    @property
    def file(self) -> str:
        """Its name, as people know it."""
        return "" if self.code is None else self.code.named

    def misfit(self, name: str, given: str, labels: Given, outputs: Given) -> ProblemError:
        """What is said of a function that does not give one number for each example.

        Args:
            name: Its name.
            given: What it gave, as the middle of a sentence.
            labels: What for.
            outputs: Likewise.
        """
        count = count_of(labels) or "n"
        return self.refusal(
            f"{name} of {self.file} gives {given} for labels {shapes_of(labels)} and "
            f"outputs {shapes_of(outputs)}; one number for each example, ({count},), is needed."
        )

    def refusal(self, message: str) -> ProblemError:
        """What is said of a function that cannot be summed."""
        assert self.code is not None  # it has the functions
        return self.code.problem("user_code_loss_misfit", message, _CONTRACT)


def own_measures(code: RunCode | None) -> OwnMeasures:
    """What the file that builds the model has beside ``build_model``.

    Args:
        code: That file; ``None``: no code of the person's own builds the model.

    Raises:
        ProblemError: ``loss`` is no function, or ``metrics`` are no functions by their names.
        Exception: Whatever the code raises.
    """
    if code is None:
        return OwnMeasures()
    loss, metrics, weights = code.values("loss", "metrics", "loss_weights")
    if isinstance(loss, ModuleType):
        loss = None  # imported
    if isinstance(metrics, ModuleType) or metrics is None:
        metrics = {}
    problem = code.problem
    if loss is not None and not callable(loss):
        raise problem(
            "user_code_loss_misfit",
            f"loss of {code.named} is a {type(loss).__name__}, not a function.",
            _CONTRACT,
        )
    if not isinstance(metrics, dict) or not all(map(callable, metrics.values())):
        raise problem(
            "user_code_loss_misfit",
            f"metrics of {code.named} is not a dictionary of functions.",
            'Write metrics = {"dice": dice}, with functions of labels and outputs; or call it '
            "otherwise.",
        )
    for name in metrics:
        misfit = own_metric_misfit(str(name))
        if misfit is not None:
            raise problem(
                "user_code_loss_misfit",
                f"metrics of {code.named} has the name {str(name)[:100]!r}, but {misfit}.",
                "Choose another name.",
            )
    if len(metrics) > MOST_OWN_METRICS:
        raise problem(
            "user_code_loss_misfit",
            f"metrics of {code.named} has {len(metrics):,} functions.",
            f"Choose {MOST_OWN_METRICS} of them at most.",
        )
    functions = {str(name): exits_reported(code, each) for name, each in metrics.items()}
    return OwnMeasures(
        code,
        None if loss is None else exits_reported(code, loss),
        functions,
        _checked_weights(code, weights),
    )


def _checked_weights(code: RunCode, weights: object) -> Mapping[str, float]:
    """What the losses of several outputs count; none: all count 1.

    Raises:
        ProblemError: They are no numbers by the names of outputs.
    """
    if weights is None:
        return {}
    are_numbers = isinstance(weights, dict) and all(
        isinstance(each, int | float) and math.isfinite(each) and each >= 0
        for each in weights.values()
    )
    if not isinstance(weights, dict) or not are_numbers:
        raise code.problem(
            "user_code_loss_misfit",
            f"loss_weights of {code.named} is not a dictionary of numbers of at least 0.",
            'Write loss_weights = {"mask": 1.0, "age": 0.1}, with the names of outputs.',
        )
    return {str(name): float(each) for name, each in weights.items()}


def check_fits_outputs(own: OwnMeasures, data: DataSet, measured: Collection[str]) -> None:
    """Refuse weights of outputs that there are not, and metrics that are called as others are.

    Args:
        own: Of the file.
        data: Has the outputs.
        measured: Names of what is measured of these.

    Raises:
        ProblemError: There are such.
    """
    if own.code is None:
        return
    problem, names = own.code.problem, [each.name for each in data.outputs]
    unknown = [name for name in own.weights if name not in names]
    if unknown or (own.weights and own.loss is not None):
        why = f"it names {', '.join(unknown)}, and the outputs with labels of their own are "
        why += ", ".join(names) or "none"
        if not unknown:
            why = "a loss of your own weights its parts itself"
        raise problem(
            "user_code_loss_misfit",
            f"loss_weights of {own.code.named} cannot be used: {why}.",
            "Name outputs by the keys of y, or leave it out.",
        )
    known = measured if own.loss is None else ()
    repeated = [name for name in own.metrics if name in known]
    if repeated or len(own.metrics) + len(known) > MOST_OWN_METRICS:
        why = f"{', '.join(repeated)} is measured of an output already"
        if not repeated:
            count = len(own.metrics) + len(known)
            why = f"with those of the outputs there are {count}, and {MOST_OWN_METRICS} at most"
        raise problem(
            "user_code_loss_misfit",
            f"metrics of {own.code.named} cannot be used: {why}.",
            "Call it otherwise, or leave some out.",
        )


def check_own_loss(own: OwnMeasures, profile: Profile) -> None:
    """Refuse settings that change another loss, or blend labels.

    Args:
        own: Of the file.
        profile: Trains.

    Raises:
        ProblemError: Everything of the profile that would have no effect, or a wrong one.
    """
    data, training = profile.data, profile.training
    found = []
    if own.loss is not None:
        if training.changes_loss:
            found.append(
                _replaced(
                    "smoothed labels and a focal loss", "training.loss", "training.label_smoothing"
                )
            )
        if data.class_weights is not ClassWeights.NONE:
            found.append(_replaced("class weights", "data.class_weights"))
        misfit = training.best_metric.misfit_of_own_loss()
        if misfit is not None and data.may_validate:
            found.append(misfit)
    if (own.loss is not None or own.metrics) and data.chosen_augmentation.mixup:
        found.append(_replaced("blended labels", "data.augmentation.mixup"))
    if found:
        raise ProblemError(*found)


def _replaced(what: str, *keys: str) -> Problem:
    return Problem(
        code="setting_beside_own_loss",
        field=keys[0],
        message=f"The file that builds the model has functions of its own for loss or metrics, "
        f"and {what} are known to the program's own only.",
        hint="Leave it out, or do it in your loss.",
        fix=Fix(
            label="Leave it out",
            changes=tuple(Change(path=tuple(key.split("."))) for key in keys),
        ),
    )


def count_of(given: Given) -> int | None:
    """How many examples these are; ``None``: any number."""
    first = next(iter(given.values())) if isinstance(given, dict) else given
    count: int | None = first.shape[0]
    return count


def shapes_of(given: Given) -> str:
    """Shapes as they stand in a sentence."""
    if isinstance(given, dict):
        return ", ".join(f"{name} {shapes_of(each)}" for name, each in given.items())
    if given.shape.rank is None:
        return "unknown"
    sides = ["n" if side is None else str(side) for side in given.shape]
    return f"({', '.join(sides)}{',' if len(sides) == 1 else ''})"

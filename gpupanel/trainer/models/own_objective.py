"""A loss and metrics of the person's own, which stand beside ``build_model`` in their file.

Each is a function of labels and outputs that gives one number for each example. So the loop sums
them over the global batch as it does with its own, whatever the split.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
import tensorflow as tf

from gpupanel.domain.data import ClassWeights
from gpupanel.domain.outcome import MOST_OWN_METRICS, Metrics, own_metric_misfit
from gpupanel.domain.problem import Change, Fix, Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.examples import Array, Examples
from gpupanel.trainer.models.array_objectives import inputs_unit
from gpupanel.trainer.models.build import BuiltModel
from gpupanel.trainer.models.objectives import Objective
from gpupanel.trainer.user_code import RunCode, exits_reported

OwnFunction = Callable[[tf.Tensor, tf.Tensor], object]

_CONTRACT = (
    "loss(labels, outputs), and each function of metrics, gives one number for each example, shape "
    "[n]: take means over all other axes, and none over the examples."
)
_TRIED = (2, 3)
"""Examples at once: of other axes that many are not all so long."""
_ALIKE = 1e-3
"""Numbers of an example, alone and among others, are as near to each other; the largest is 1."""


@dataclass(frozen=True, slots=True)
class OwnMeasures:
    """What the person's file measures.

    Attributes:
        code: The file; ``None``: there is none.
        loss: Is made small; ``None``: what follows from the labels is.
        metrics: Are measured beside it, by their names.
    """

    code: RunCode | None = None
    loss: OwnFunction | None = None
    metrics: Mapping[str, OwnFunction] = field(default_factory=dict)

    def beside(
        self, plain: Objective, as_saved: Callable[[tf.Tensor], tf.Tensor], input_unit: float | None
    ) -> Objective:
        """The objective with what the person's file has instead of its loss, and beside it.

        Args:
            plain: What follows from the labels.
            as_saved: Makes of what a model gives while it learns what it gives once it is saved.
            input_unit: The labels are raw examples, which are multiplied by it; ``None``: they are
                labels.
        """
        if self.loss is None and not self.metrics:
            return plain
        return _OwnObjective(self, plain, as_saved, input_unit)

    def numbers(
        self, name: str, function: OwnFunction, labels: tf.Tensor, outputs: tf.Tensor
    ) -> tf.Tensor:
        """What one of them gives for these examples, float32, shape [n].

        Raises:
            ProblemError: It gives something else.
            Exception: Whatever the person's code raises.
        """
        given = function(labels, outputs)
        if not tf.is_tensor(given) and not isinstance(given, np.ndarray):
            raise self._misfit(name, f"a {type(given).__name__}", labels, outputs)
        found = tf.convert_to_tensor(given)
        is_number = found.dtype.is_floating or found.dtype.is_integer or found.dtype.is_bool
        if found.shape.rank != 1 or not is_number:
            what = f"{_shape(found)} {found.dtype.name} numbers"
            raise self._misfit(name, what, labels, outputs)
        return tf.cast(found, tf.float32)

    def check(self, labels: Array, outputs: Array) -> None:
        """Refuse what does not measure each example by itself: another split would be another sum.

        Args:
            labels: Of some examples, as the functions are given them.
            outputs: Of the model, as it is saved.

        Raises:
            ProblemError: It gives no number for each example, or others among others.
            Exception: Whatever the person's code raises.
        """
        functions = {} if self.loss is None else {"loss": self.loss}
        for name, function in {**functions, **self.metrics}.items():
            alone = [
                self._tried(name, function, labels[row : row + 1], outputs[row : row + 1])
                for row in range(len(labels))
            ]
            for count in _TRIED:
                rows = np.arange(count) % len(labels)
                together = self._tried(name, function, labels[rows], outputs[rows])
                apart = np.concatenate([alone[row] for row in rows])
                largest = max(float(np.abs(apart).max(initial=0.0)), 1e-6)
                if not np.allclose(together, apart, 0.0, _ALIKE * largest, equal_nan=True):
                    raise self._problem(
                        f"{name} of {self._file} gives {_shown(apart)} for {count} examples one by "
                        f"one, and {_shown(together)} for them together, labels "
                        f"{labels[rows].shape} and outputs {outputs[rows].shape}: the number of an "
                        "example depends on the others, and would be another one for each split of "
                        "a batch."
                    )

    def _tried(self, name: str, function: OwnFunction, labels: Array, outputs: Array) -> Array:
        given = tf.constant(labels), tf.constant(outputs)
        numbers = self.numbers(name, function, *given)
        if numbers.shape[0] != len(labels):
            raise self._misfit(name, f"{_shape(numbers)} numbers", *given)
        return np.asarray(numbers)

    @property
    def _file(self) -> str:
        return "" if self.code is None else self.code.named

    def _misfit(self, name: str, given: str, labels: tf.Tensor, outputs: tf.Tensor) -> ProblemError:
        count = labels.shape[0] or "n"
        return self._problem(
            f"{name} of {self._file} gives {given} for labels {_shape(labels)} and "
            f"outputs {_shape(outputs)}; one number for each example, ({count},), is needed."
        )

    def _problem(self, message: str) -> ProblemError:
        assert self.code is not None  # it has the functions
        return self.code.problem("user_code_loss_misfit", message, _CONTRACT)


class _OwnObjective:
    """Sums what the person's functions give; see :class:`Objective`."""

    def __init__(
        self,
        own: OwnMeasures,
        plain: Objective,
        as_saved: Callable[[tf.Tensor], tf.Tensor],
        input_unit: float | None,
    ) -> None:
        self._own = own
        self._plain = None if own.loss is not None else plain
        self._as_saved = as_saved
        self._input_unit = input_unit
        self._first = 1 if self._plain is None else self._plain.size
        self.size = self._first + len(own.metrics)

    def sums(self, outputs: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, ...]:
        """See :meth:`Objective.sums`."""
        own, wanted = self._own, labels_given(labels, self._input_unit)
        functions = dict(own.metrics)
        sums: tuple[tf.Tensor, ...] = ()
        if self._plain is not None:
            sums = self._plain.sums(outputs, labels)
        elif own.loss is not None:
            functions = {"loss": own.loss, **functions}
        given = wanted, self._as_saved(outputs)
        numbers = (own.numbers(name, each, *given) for name, each in functions.items())
        return (*sums, *map(tf.reduce_sum, numbers))

    def metrics(self, sums: Sequence[float], examples: int) -> Metrics:
        """Means over the examples; one that is no number is left out."""
        first = sums[: self._first]
        found = Metrics(loss=first[0] / examples)
        if self._plain is not None:
            found = self._plain.metrics(first, examples)
        means = zip(self._own.metrics, sums[self._first :], strict=True)
        return found.model_copy(
            update={name: total / examples for name, total in means if math.isfinite(total)}
        )


def labels_given(labels: tf.Tensor, input_unit: float | None) -> tf.Tensor:
    """Labels as the person's functions get them, the same on every device.

    Args:
        labels: Class numbers, or numbers; or raw examples.
        input_unit: What raw examples are multiplied by; ``None``: these are labels.
    """
    if input_unit is not None:
        return tf.cast(labels, tf.float32) * input_unit
    return tf.cast(labels, tf.int64) if labels.dtype.is_integer else labels


def check_own_measures(own: OwnMeasures, built: BuiltModel, few: Examples) -> None:
    """Try loss and metrics of the person's own on some examples, before anything is learned.

    Args:
        own: Of their file.
        built: The model.
        few: Some examples.

    Raises:
        ProblemError: See :meth:`OwnMeasures.check`.
        Exception: Whatever the person's code raises.
    """
    if own.loss is None and not own.metrics:
        return
    features = few.read_all()
    unit = inputs_unit(built.building.data)
    labels = labels_given(tf.constant(few.labels if unit is None else features), unit)
    outputs = built.plain()(built.given(features), training=False)
    own.check(labels.numpy(), np.asarray(outputs, np.float32))


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
    loss, metrics = code.values("loss", "metrics")
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
    return OwnMeasures(code, None if loss is None else exits_reported(code, loss), functions)


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


def _shape(tensor: tf.Tensor) -> str:
    if tensor.shape.rank is None:
        return "unknown"
    sides = ["n" if side is None else str(side) for side in tensor.shape]
    return f"({', '.join(sides)}{',' if len(sides) == 1 else ''})"


def _shown(numbers: Array) -> str:
    return ", ".join(f"{number:.4g}" for number in numbers.tolist())

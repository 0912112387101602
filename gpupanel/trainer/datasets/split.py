"""Which examples are trained on and which validate."""

import math
from dataclasses import dataclass, field

import numpy as np

from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.data import DataSettings, Holdout, Target
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.trained_on import HeldOut
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples, Indices
from gpupanel.trainer.datasets.fingerprint import Fingerprint
from gpupanel.trainer.datasets.learned_from import KnownContent
from gpupanel.trainer.datasets.replaced_examples import with_replacements
from gpupanel.trainer.parts.splits import drawn_order, fold, groups_first, parts_of_classes_first


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The examples of a run.

    Attributes:
        data: What they were taken from.
        validation: ``None`` when nothing is validated.
        test: Measured once, at the end; ``None`` where there is none, or it validates.
        fingerprint: Of the data; ``None`` where another process of the run takes it.
        held_back: Which of the training examples validate; ``None``: a set of its own does.
        content: By which a saved model knows the training examples again, likewise.
    """

    data: DataSet
    training: Examples
    validation: Examples | None
    test: Examples | None = None
    fingerprint: Fingerprint | None = None
    held_back: Indices | None = None
    content: KnownContent = field(default_factory=KnownContent)

    def places_of(self, validation: Indices) -> Indices:
        """Where validation examples are in the source, its sets one after the other.

        Args:
            validation: Which of them.
        """
        if self.held_back is None:
            return validation + np.int32(len(self.data.training))
        return self.held_back[validation]


def split(data_set: DataSet, settings: DataSettings, seed: int) -> Split:
    """Hold back the validation examples.

    A validation set validates. Else, without a ``validation_fraction``, a test set of the source's
    own does; with one, that part of the training examples does. A test set that does not validate
    is left for the end.

    Raises:
        ProblemError: The fraction leaves nothing to validate on, or nothing to train on; or a fold
            is to be held out, and a set of its own validates.
    """
    training, validation = data_set.training, data_set.validation
    if settings.fold is not None and validation is not None:
        raise ProblemError(_FOLD_BESIDE_SET)
    test = None if data_set.test is None else with_replacements(data_set.test)
    if validation is not None:
        return Split(data_set, with_replacements(training), with_replacements(validation), test)
    if settings.may_validate_on_test_set:
        return Split(data_set, with_replacements(training), test)
    is_of_classes = data_set.target is Target.CLASSES and data_set.arrays_of is None
    classes = training.labels if is_of_classes else None
    kept, held_back = divide(len(training), settings, seed, classes, data_set.groups)
    if len(held_back) == 0:
        return Split(data_set, with_replacements(training), None, test)
    trained, held = (with_replacements(training.subset(each)) for each in (kept, held_back))
    return Split(data_set, trained, held, test, held_back=held_back)


def check_best_metric(metric: BestMetric, divided: Split) -> None:
    """Refuse a metric that decides which epoch is the best, and cannot be measured.

    Args:
        metric: That metric.
        divided: Decides nothing where nothing is validated.

    Raises:
        ProblemError: It is not of what is predicted, or all validation examples are alike.
    """
    data, validation = divided.data, divided.validation
    if validation is None:
        return
    is_of_values = data.target is Target.VALUES
    outputs = math.prod(validation.labels.shape[1:]) if is_of_values else len(data.class_names)
    misfit = metric.misfit(data.target, outputs)
    if misfit is None and metric in (BestMetric.AUC, BestMetric.R2):
        is_alike = bool(np.all(validation.labels == validation.labels[:1]))
        misfit = metric.unmeasurable() if is_alike else None
    if misfit is not None:
        raise ProblemError(misfit)


def divide(
    examples: int,
    settings: DataSource | HeldOut,
    seed: int,
    classes: Array | None,
    groups: Array | None = None,
) -> tuple[Indices, Indices]:
    """Which examples are trained on and which are held back, each in ascending order.

    Args:
        examples: How many there are.
        settings: Which part of them is held back: drawn, drawn by class, or the last.
        seed: Draws them.
        classes: The class number of each; ``None`` where they have none.
        groups: What those have in common that are held back together; ``None``: none are.

    Raises:
        ProblemError: The fraction leaves nothing to validate on, or nothing to train on.
    """
    fraction = settings.held_out_fraction
    if not fraction:
        return np.arange(examples, dtype=np.int32), np.empty(0, np.int32)
    if settings.fold is not None and settings.holdout is Holdout.RANDOM:
        classes = classes if settings.stratify else None
        order, folds = drawn_order(examples, seed), round(1.0 / fraction)
        held = fold(settings.fold, folds, order, classes, groups)
        if len(held) in (0, examples):
            raise _no_fold(settings.fold, fraction, examples)
        return np.setdiff1d(np.arange(examples, dtype=np.int32), held), np.sort(held)
    count = round(examples * fraction)
    order, held_back = np.arange(examples, dtype=np.int32)[::-1], count
    if settings.holdout is Holdout.RANDOM:
        order = drawn_order(examples, seed)
        if groups is not None:
            order, held_back = groups_first(order, groups, count)
        elif settings.stratify and classes is not None:
            order, held_back = parts_of_classes_first(order, classes, count)
    if held_back in (0, examples):
        raise _leaves_nothing(examples, fraction, "validate on" if held_back == 0 else "train on")
    return np.sort(order[held_back:]), np.sort(order[:held_back])


_FOLD_BESIDE_SET = Problem(
    code="fold_beside_validation_set",
    field="data.fold",
    message="A fold is to be held out, but the data has a validation set of its own, on which each "
    "fold would be validated alike.",
    hint="Leave data.fold and sweep.folds out, or take the validation set out of the data.",
)


def _no_fold(number: int, fraction: float, examples: int) -> ProblemError:
    return ProblemError(
        Problem(
            code="fold_missing",
            field="data.fold",
            message=f"There is no fold {number:,} of {examples:,} examples in parts of "
            f"{fraction:.3g}: fewer parts can be held out, as for few groups.",
            hint="Use fewer folds.",
        )
    )


def _leaves_nothing(examples: int, fraction: float, rest: str) -> ProblemError:
    return ProblemError(
        Problem(
            code="data_validation_fraction",
            field="data.validation_fraction",
            message=f"A validation fraction of {fraction:g} of {examples:,} examples "
            f"leaves nothing to {rest}.",
            hint="Choose another fraction, or 0 for no validation.",
        )
    )

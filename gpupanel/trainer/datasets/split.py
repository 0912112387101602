"""Which examples are trained on and which validate."""

from dataclasses import dataclass

import numpy as np

from gpupanel.domain.data import DataSettings
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples, Indices
from gpupanel.trainer.datasets.fingerprint import Fingerprint


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The examples of a run.

    Attributes:
        data: What they were taken from.
        validation: ``None`` when nothing is validated.
        fingerprint: Of the data; ``None`` where another process of the run takes it.
    """

    data: DataSet
    training: Examples
    validation: Examples | None
    fingerprint: Fingerprint | None = None


def split(data_set: DataSet, settings: DataSettings, seed: int) -> Split:
    """Hold back the validation examples.

    Without a ``validation_fraction`` a test set of the source's own validates. With one, that
    part of the training examples does, drawn by the seed alone.

    Raises:
        ProblemError: The fraction leaves nothing to validate on, or nothing to train on.
    """
    training = data_set.training
    fraction = settings.validation_fraction
    if fraction is None:
        return Split(data_set, training, data_set.test)
    kept, held_back = divide(len(training), fraction, seed)
    if len(held_back) == 0:
        return Split(data_set, training, None)
    return Split(data_set, training.subset(kept), training.subset(held_back))


def divide(examples: int, fraction: float, seed: int) -> tuple[Indices, Indices]:
    """Which examples are trained on and which are held back, each in ascending order.

    Args:
        examples: How many there are.
        fraction: The part held back; 0 for none.
        seed: Draws them.

    Raises:
        ProblemError: The fraction leaves nothing to validate on, or nothing to train on.
    """
    if fraction == 0.0:
        return np.arange(examples, dtype=np.int32), np.empty(0, np.int32)
    count = round(examples * fraction)
    if count in (0, examples):
        rest = "validate on" if count == 0 else "train on"
        raise ProblemError(
            Problem(
                code="data_validation_fraction",
                field="data.validation_fraction",
                message=f"A validation fraction of {fraction:g} of {examples:,} examples "
                f"leaves nothing to {rest}.",
                hint="Choose another fraction, or 0 for no validation.",
            )
        )
    # Epochs count from 1, so that [seed, 0] is a stream of the split's own.
    order = np.random.default_rng([seed, 0]).permutation(examples).astype(np.int32)
    return np.sort(order[count:]), np.sort(order[:count])

"""Which examples each step takes."""

from gpupanel.domain.data import Target
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.parts.epoch_order import EpochOrder

_MOST_REPEATED = 100_000_000
"""Their order takes 1.6 GB while it is drawn."""


def make_epoch_order(data: DataSource, split: Split, seed: int) -> EpochOrder:
    """The order of the training examples of a run.

    Raises:
        ProblemError: Rare classes are to be repeated, and the labels are no classes, or an epoch
            would be too long.
    """
    classes = split.training.labels if data.oversample else None
    if classes is not None and split.data.target is not Target.CLASSES:
        raise ProblemError(_NO_CLASSES)
    order = EpochOrder(len(split.training), seed, shuffle=data.shuffle, classes=classes)
    if classes is not None and len(order) > _MOST_REPEATED:
        raise ProblemError(_too_long(len(order)))
    return order


def _too_long(examples: int) -> Problem:
    return Problem(
        code="oversample_too_long",
        field="data.oversample",
        message="With as many examples of each class as of the most frequent one, an epoch would "
        f"have {examples:,}; the maximum is {_MOST_REPEATED:,}.",
        hint='Set data.oversample to false, and data.class_weights to "balanced".',
    )


_NO_CLASSES = Problem(
    code="oversample_without_classes",
    field="data.oversample",
    message="Only classes can be oversampled, and the labels are not classes.",
    hint="Set data.oversample to false.",
)


def steps_per_epoch(examples: int, global_batch_size: int) -> int:
    """Optimizer updates of one epoch, the last smaller batch counted."""
    return -(-examples // global_batch_size)

"""Where a training stands: what a checkpoint holds beside the weights."""

from gpupanel.domain.outcome import Metrics
from gpupanel.domain.value import Value


class Position(Value):
    """Everything that a later process needs, beside the weights, to go on at the same step.

    The order of examples follows from seed and epoch, so it is not kept.

    Attributes:
        step: Updates since the start of the run.
        epoch: The epoch being trained, counted from 1.
        step_in_epoch: Updates of it that are done.
        epoch_examples: Examples of it that were trained on.
        epoch_loss_sum: Their summed loss, as the objective counts it.
        epoch_measure_sum: Their summed measure.
        metrics: Of the last whole epoch.
        best_loss: The loss at the last progress that early stopping saw.
        epochs_without_progress: Since then.
    """

    step: int = 0
    epoch: int = 1
    step_in_epoch: int = 0
    epoch_examples: int = 0
    epoch_loss_sum: float = 0.0
    epoch_measure_sum: float = 0.0
    metrics: Metrics = Metrics()
    best_loss: float | None = None
    epochs_without_progress: int = 0

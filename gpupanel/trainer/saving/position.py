"""Where a training stands: what a checkpoint holds beside the weights."""

from pydantic import model_validator

from gpupanel.domain.outcome import Metrics, ValidatedEpoch
from gpupanel.domain.value import Value

_TWO_SUMS = ("epoch_loss_sum", "epoch_measure_sum")


class Position(Value):
    """Everything that a later process needs, beside the weights, to go on at the same step.

    The order of examples follows from seed and epoch, so it is not kept.

    Attributes:
        step: Updates since the start of the run.
        epoch: The epoch being trained, counted from 1.
        step_in_epoch: Updates of it that are done.
        epoch_examples: Examples of it that were trained on.
        epoch_sums: Their sums of loss and metrics, as the objective counts them; empty where
            nothing was added yet.
        metrics: Of the last whole epoch.
        best: The epoch that validated best, by the setting ``training.best_metric``; ``None`` where
            nothing was validated.
        best_place: The folder beside the checkpoint in which its weights are; empty where they are
            this checkpoint's own, or nowhere.
        best_loss: The least loss so far: what early stopping watches where nothing is validated.
        epochs_without_progress: Since then.
        rate_factor: What the learning rate is multiplied by, where the loss decides about it.
        plateau_loss: The loss at the last progress that counts for that.
        plateau_epochs: Since then, or since the rate was lowered.
        trained_s: How long the training took, with validations and checkpoints.
        measured_epochs: Epochs of which each took what the next ones will: not the first of a
            process, in which TensorFlow builds its graphs.
        measured_s: What these took, together.
        fitted_epochs: How many epochs fit into the limit; ``None``: not decided yet.
        fitted_into_s: The limit for which that was decided.
    """

    step: int = 0
    epoch: int = 1
    step_in_epoch: int = 0
    epoch_examples: int = 0
    epoch_sums: tuple[float, ...] = ()
    metrics: Metrics = Metrics()
    best: ValidatedEpoch | None = None
    best_place: str = ""
    best_loss: float | None = None
    epochs_without_progress: int = 0
    rate_factor: float = 1.0
    plateau_loss: float | None = None
    plateau_epochs: int = 0
    trained_s: float = 0.0
    measured_epochs: int = 0
    measured_s: float = 0.0
    fitted_epochs: int | None = None
    fitted_into_s: float | None = None

    @property
    def each_epoch_s(self) -> float | None:
        """What an epoch takes; ``None``: not measured yet."""
        return self.measured_s / self.measured_epochs if self.measured_epochs else None

    def epochs_within(self, limit_s: float | None) -> int | None:
        """After how many epochs the training ends for its time; ``None``: not decided yet."""
        return self.fitted_epochs if limit_s == self.fitted_into_s else None

    @model_validator(mode="before")
    @classmethod
    def _from_two_sums(cls, given: object) -> object:
        """Converts the position of checkpoints from before objectives had several metrics."""
        if not isinstance(given, dict) or "epoch_loss_sum" not in given:
            return given
        kept = {key: value for key, value in given.items() if key not in _TWO_SUMS}
        return {**kept, "epoch_sums": tuple(given.get(key, 0.0) for key in _TWO_SUMS)}

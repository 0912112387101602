"""What a training has reached so far, known however it ends."""

from dataclasses import dataclass, field

from gpupanel.domain.outcome import Metrics


@dataclass(slots=True)
class TrainingRecord:
    """Filled by the loop, read when the run ends.

    Attributes:
        metrics: Of the last whole epoch; of the begun one while there is none.
        examples: Trained on within ``training_s``.
        training_s: Spent in training; start-up, validation and saving are not counted.
    """

    metrics: Metrics = field(default_factory=Metrics)
    examples: int = 0
    training_s: float = 0.0

    @property
    def examples_per_second(self) -> float | None:
        """Of training only; ``None`` before there is anything to divide."""
        return self.examples / self.training_s if self.training_s > 0.0 else None

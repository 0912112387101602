"""The weights of the best epoch, held until they stand beside a checkpoint."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpupanel.domain.outcome import ValidatedEpoch
from gpupanel.trainer.datasets.examples import Array


@dataclass(slots=True, eq=False)
class BestWeights:
    """What the model had at the end of the epoch that validated best so far.

    A copy in memory: of a training that improves with each epoch, only those are written that are
    the best one when a checkpoint is saved.

    Attributes:
        epoch: Which epoch it was.
        weights: As :meth:`~gpupanel.trainer.learner.Learner.weights` gave them then.
        place: The folder among the checkpoints that holds them; empty: none does yet.
    """

    epoch: ValidatedEpoch
    weights: Mapping[str, Array]
    place: str = ""

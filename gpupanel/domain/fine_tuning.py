"""Layers of a base that begin to learn later than the head."""

from gpupanel.domain.value import Value


class FineTuning(Value):
    """Until an epoch only the head learns; from it on layers of the base do, too.

    The optimizer begins anew with that epoch: what it remembered of gradients, and how many updates
    it counts. The schedule of the learning rate goes on.

    Attributes:
        from_epoch: The first in which they learn, counted from 1.
        layers: How many of the last layers of the base, of those with weights; ``None``: all.
        learning_rate: In place of ``training.learning_rate`` from then on: the schedule is scaled
            to it; ``None``: that of before.
    """

    from_epoch: int
    layers: int | None = None
    learning_rate: float | None = None

    @property
    def layers_text(self) -> str:
        """Which layers begin to learn ("the last 3 layers of the base")."""
        match self.layers:
            case None:
                return "all layers of the base"
            case 1:
                return "the last layer of the base"
        return f"the last {self.layers:,} layers of the base"

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
    def sentence(self) -> str:
        """What learns when."""
        last = self.from_epoch - 1
        until = "In epoch 1" if last == 1 else f"Until epoch {last:,}"
        match self.layers:
            case None:
                which = "all layers of the base do"
            case 1:
                which = "the last layer of the base does"
            case _:
                which = f"the last {self.layers:,} layers of the base do"
        rate = self.learning_rate
        at = "" if rate is None else f", at a learning rate of {rate:.3g} in place of the first one"
        return f"{until} only the head learns, from epoch {self.from_epoch:,} on {which}, too{at}."


def begun_text(layers: int, parameters: int, learning_rate: float) -> str:
    """A sentence: layers of the base are trained from now on.

    Args:
        layers: How many of the base learn.
        parameters: How many numbers learn, with those of the head.
        learning_rate: Of the next update.
    """
    learn = "1 layer of the base learns" if layers == 1 else f"{layers:,} layers of the base learn"
    return f"{learn}, {parameters:,} parameters with the head, learning rate {learning_rate:.3g}"

"""How many epochs fit into the time that a training may take."""

from typing import Final

_MARGIN: Final = 0.02
"""Of what is left: epochs do not all take the same."""
_MEASURED: Final = 0.05
"""Of the limit, in which epochs are measured before their number is decided."""


def epochs_that_fit(
    limit_s: float, trained_s: float, first_s: float, done: int, epochs: int
) -> int | None:
    """The number of epochs after which the training ends.

    The first epoch is not measured where others can be: TensorFlow optimises its graphs in it.

    Args:
        limit_s: The time that the training may take.
        trained_s: Until the end of the last epoch.
        first_s: Of these, until the end of the first epoch.
        done: Epochs that are done; at least one.
        epochs: That the profile asks for.

    Returns:
        ``None``: more epochs are to be measured first.
    """
    left_s = max(0.0, limit_s - trained_s)
    each_s = first_s if done == 1 else (trained_s - first_s) / (done - 1)
    fit = int((1.0 - _MARGIN) * left_s / each_s) if each_s > 0.0 else epochs
    has_measured = done > 1 and trained_s >= _MEASURED * limit_s
    if fit > 1 and not has_measured:
        return None
    return min(done + fit, epochs)

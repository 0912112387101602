"""How many epochs fit into the time that a training may take."""

from typing import Final

_MARGIN: Final = 0.02
"""Of what is left: epochs do not all take the same."""
_MEASURED: Final = 0.05
"""Of the limit, in which epochs are measured before their number is decided."""


def epochs_that_fit(
    limit_s: float, trained_s: float, each_s: float | None, done: int, epochs: int
) -> int | None:
    """The number of epochs after which the training ends.

    The first epoch of a process is not measured where others can be: TensorFlow builds its graphs
    in it.

    Args:
        limit_s: The time that the training may take.
        trained_s: Until the end of the last epoch.
        each_s: What an epoch took, by those that were measured; ``None``: none was.
        done: Epochs that are done; at least one.
        epochs: That the profile asks for.

    Returns:
        ``None``: more epochs are to be measured first.
    """
    left_s = max(0.0, limit_s - trained_s)
    expected_s = trained_s / done if each_s is None else each_s
    fit = int((1.0 - _MARGIN) * left_s / expected_s) if expected_s > 0.0 else epochs
    has_measured = each_s is not None and trained_s >= _MEASURED * limit_s
    if fit > 1 and not has_measured:
        return None
    return min(done + fit, epochs)

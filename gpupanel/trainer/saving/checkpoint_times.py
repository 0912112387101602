"""When a checkpoint is saved as an epoch ends."""

from gpupanel.domain.training import SHORTEST_PAUSE_S, CheckpointPace


def ends_with_checkpoint(
    every: CheckpointPace | int, epoch: int, age_s: float, *, ends: bool
) -> bool:
    """Whether a checkpoint is saved at the end of an epoch.

    Args:
        every: As the profile says: a number of epochs, 0 for none.
        epoch: Which one, from 1.
        age_s: How old the last checkpoint is, or the training without one.
        ends: The epoch is the last one.
    """
    if isinstance(every, CheckpointPace):
        return ends or age_s >= SHORTEST_PAUSE_S
    return every > 0 and (ends or epoch % every == 0)

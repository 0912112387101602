"""How many examples of each global batch each replica takes.

TensorFlow's high-level APIs only split evenly; shares are this project's own, and any split of the
same global batch is the same mathematics (gradients are summed over the global batch).
"""

from collections.abc import Sequence

from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import PROGRAM_KINDS


def planned_batch_size(profile: Profile, replica_count: int) -> int:
    """Examples of one optimizer update, or of one call of the tasks that do not train.

    What a program of the person's own does nobody knows: it counts as one for each replica.
    """
    if profile.script is not None:
        return replica_count
    if profile.task == "train":
        return profile.training.global_batch_size
    return profile.inference.batch_size


def planned_shares(profile: Profile, replica_count: int) -> tuple[int, ...] | None:
    """The share of each replica; ``None`` while those of the profile do not fit.

    Balanced shares begin as equal ones: they are measured when the run starts.
    """
    batch, shares = planned_batch_size(profile, replica_count), profile.strategy.shares
    if profile.script is not None:
        return (1,) * replica_count if profile.strategy.kind in PROGRAM_KINDS else None
    if not profile.strategy.divides_batches:
        # Workers of a parameter server take whole batches by turns.
        return (batch,) * replica_count
    if isinstance(shares, str):
        return equal_shares(batch, replica_count)
    return shares if len(shares) == replica_count and sum(shares) == batch else None


def is_balanced(profile: Profile, replica_count: int) -> bool:
    """Whether shares are measured; one replica takes everything in any case."""
    strategy = profile.strategy
    return strategy.shares == "balanced" and strategy.divides_batches and replica_count > 1


def equal_shares(total: int, replicas: int) -> tuple[int, ...]:
    """Shares as equal as whole examples allow; the first replicas take what is left over.

    Raises:
        ValueError: There are no replicas, or the total is negative.
    """
    if replicas < 1 or total < 0:
        raise ValueError(f"cannot divide {total} examples among {replicas} replicas")
    share, rest = divmod(total, replicas)
    return tuple(share + (replica < rest) for replica in range(replicas))


def proportional_shares(total: int, weights: Sequence[float]) -> tuple[int, ...]:
    """Whole shares that sum to the total, in proportion to the weights.

    Each share is within one example of the exact proportion (largest remainders take what
    rounding down leaves over; ties go to the first). Weights that sum to nothing count as equal.

    Raises:
        ValueError: There are no weights, one is negative, or the total is negative.
    """
    if not weights or total < 0 or min(weights) < 0:
        raise ValueError(f"cannot divide {total} examples by the weights {list(weights)}")
    whole = sum(weights)
    if whole <= 0:
        return equal_shares(total, len(weights))
    exact = [total * weight / whole for weight in weights]
    shares = [int(value) for value in exact]
    by_remainder = sorted(range(len(weights)), key=lambda index: shares[index] - exact[index])
    for index in by_remainder[: total - sum(shares)]:
        shares[index] += 1
    return tuple(shares)

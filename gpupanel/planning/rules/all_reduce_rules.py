"""What summing gradients over replicas needs of them."""

from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind


def hierarchical_copy_is_right(shares: tuple[int, ...]) -> bool:
    """Whether TensorFlow's hierarchical copy sums over every replica that has a share.

    ``aggregate_gradients_using_hierarchical_copy`` in TensorFlow 2.21 makes two groups of
    ``replicas // 2``: of an odd number it leaves the last out, without a word.
    """
    return sum(share > 0 for share in shares) % 2 == 0


def hierarchical_copy_problems(profile: Profile, shares: tuple[int, ...]) -> list[Problem]:
    """Hierarchical copy over an odd number of replicas."""
    strategy = profile.strategy
    if strategy.kind is not StrategyKind.MIRRORED:
        return []
    if strategy.all_reduce is not AllReduce.HIERARCHICAL_COPY or hierarchical_copy_is_right(shares):
        return []
    return [
        Problem(
            code="hierarchical_copy_of_odd_replicas",
            field="strategy.all_reduce",
            message="TensorFlow's hierarchical copy sums over an even number of replicas only: of "
            f"{sum(share > 0 for share in shares)} it would leave the last one's gradients out.",
            hint="Let the strategy choose, or use another number of replicas.",
            fix=Fix(
                label="Choose automatically",
                changes=(Change(path=("strategy", "all_reduce"), value=AllReduce.AUTO.value),),
            ),
        )
    ]

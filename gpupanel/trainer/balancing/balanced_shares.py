"""The shares with which the slowest replica is as fast as can be."""

import heapq
from collections.abc import Sequence

from gpupanel.trainer.balancing.speed_curve import SpeedCurve

_HALVINGS = 60


class SharesDoNotFit(ValueError):  # noqa: N818 - reads as what it says
    """No shares exist: memory is too small, or the batch."""


def balanced_shares(
    curves: Sequence[SpeedCurve], global_batch_size: int, least_share: int = 1
) -> tuple[int, ...]:
    """Shares that sum to the global batch and make the slowest replica's time least.

    No other whole shares within the bounds do better; ties go to the first replica.

    Args:
        curves: Of each replica.
        global_batch_size: What the shares sum to.
        least_share: Examples that each replica has to have.

    Raises:
        SharesDoNotFit: The replicas cannot have so few, or cannot hold so many.
    """
    caps = [
        global_batch_size if curve.largest_share is None else curve.largest_share
        for curve in curves
    ]
    fits = all(cap >= least_share for cap in caps) and sum(caps) >= global_batch_size
    if least_share * len(curves) > global_batch_size or not fits:
        raise SharesDoNotFit(f"{global_batch_size} examples, {least_share} to {caps} each")
    shares = _below_the_best(curves, caps, global_batch_size, least_share)
    # One by one to whomever it costs least: with times that only rise this ends at the best.
    candidates = [
        (curve.seconds(share + 1), index)
        for index, (curve, share) in enumerate(zip(curves, shares, strict=True))
        if share < caps[index]
    ]
    heapq.heapify(candidates)
    for _ in range(global_batch_size - sum(shares)):
        _, index = heapq.heappop(candidates)
        shares[index] += 1
        if shares[index] < caps[index]:
            heapq.heappush(candidates, (curves[index].seconds(shares[index] + 1), index))
    return tuple(shares)


def _below_the_best(
    curves: Sequence[SpeedCurve], caps: Sequence[int], total: int, least: int
) -> list[int]:
    """Shares that none of the best ones is below: all that is done in less than the best time."""

    def done_in(seconds: float) -> list[int]:
        return [
            int(min(max((seconds - curve.fixed_s) / curve.per_example_s, least), cap))
            for curve, cap in zip(curves, caps, strict=True)
        ]

    too_short, enough = 0.0, max(curve.seconds(total) for curve in curves)
    for _ in range(_HALVINGS):
        middle = (too_short + enough) / 2.0
        if sum(done_in(middle)) > total:
            enough = middle
        else:
            too_short = middle
    return done_in(too_short)


def slowest_s(curves: Sequence[SpeedCurve], shares: Sequence[int]) -> float:
    """The seconds that a step takes, all-reduce not counted: those of its slowest replica."""
    return max(curve.seconds(share) for curve, share in zip(curves, shares, strict=True))

"""What is found out of replicas whose speed and memory are known."""

import itertools
from collections.abc import Sequence

import pytest

from gpupanel.trainer.balancing.balanced_shares import SharesDoNotFit, balanced_shares
from gpupanel.trainer.balancing.measuring import Measuring
from gpupanel.trainer.balancing.speed_curve import SpeedCurve
from gpupanel.trainer.steps.trial import Trial


class Replicas:
    """Take as long as their curves say, and hold so many examples."""

    def __init__(self, *curves: SpeedCurve, tells_which: bool = True) -> None:
        self.curves = curves
        self.tells_which = tells_which
        self.tried: list[tuple[int, ...]] = []

    def __call__(self, sizes: Sequence[int], repeats: int) -> Trial:
        assert repeats >= 1
        self.tried.append(tuple(sizes))
        over = {
            replica
            for replica, (curve, size) in enumerate(zip(self.curves, sizes, strict=True))
            if curve.largest_share is not None and size > curve.largest_share
        }
        if over:
            failed = over if self.tells_which else set(range(len(sizes)))
            return Trial((0.0,) * len(sizes), frozenset(failed))
        return Trial(tuple(c.seconds(n) for c, n in zip(self.curves, sizes, strict=True)))


def measured(replicas: Replicas, batch: int, least: int = 1) -> tuple[SpeedCurve, ...]:
    return Measuring(replicas, len(replicas.curves), batch, least).curves()


def test_that_speeds_are_found_and_parts_grow_up_to_the_batch() -> None:
    replicas = Replicas(SpeedCurve(1e-3, 1e-4), SpeedCurve(1e-3, 2e-4))

    curves = measured(replicas, 128)

    assert balanced_shares(curves, 128) == balanced_shares(replicas.curves, 128)
    assert list(dict.fromkeys(sizes[0] for sizes in replicas.tried))[:4] == [16, 32, 64, 128]
    assert all(curve.largest_share is None for curve in curves)


def test_that_the_largest_share_is_found_with_some_memory_left() -> None:
    replicas = Replicas(SpeedCurve(0.0, 1e-4, largest_share=50), SpeedCurve(0.0, 1e-4))

    small, large = measured(replicas, 128)

    assert small.largest_share is not None
    assert 35 <= small.largest_share <= 45
    assert large.largest_share is None


def test_that_shares_fit_also_when_nobody_knows_whose_memory_was_too_small() -> None:
    replicas = Replicas(
        SpeedCurve(0.0, 1e-4, largest_share=100),
        SpeedCurve(0.0, 1e-4, largest_share=100),
        tells_which=False,
    )

    curves = measured(replicas, 128)

    assert balanced_shares(curves, 128) == (64, 64)
    assert all(64 <= (curve.largest_share or 0) <= 90 for curve in curves)


def test_that_a_batch_that_does_not_fit_is_refused() -> None:
    none_at_all = Replicas(SpeedCurve(0.0, 1e-4, largest_share=0), SpeedCurve(0.0, 1e-4))
    too_few = Replicas(*[SpeedCurve(0.0, 1e-4, largest_share=50)] * 2)

    for replicas in (none_at_all, too_few):
        with pytest.raises(SharesDoNotFit):
            measured(replicas, 128)


def test_that_parts_have_an_example_for_each_micro_batch() -> None:
    replicas = Replicas(SpeedCurve(0.0, 1e-4), SpeedCurve(0.0, 9e-4))

    measured(replicas, 16, least=6)

    assert min(min(sizes) for sizes in replicas.tried) == 6


def test_that_slow_replicas_are_not_measured_for_minutes() -> None:
    replicas = Replicas(SpeedCurve(0.0, 0.2), SpeedCurve(0.0, 0.1))

    assert balanced_shares(measured(replicas, 256), 256) == (85, 171)
    assert max(max(sizes) for sizes in replicas.tried[:-3]) <= 32


def test_that_a_hiccup_is_not_taken_for_a_slow_replica() -> None:
    replicas = Replicas(*[SpeedCurve(1e-3, 1e-4)] * 2)
    every_third = itertools.count()

    def with_hiccups(sizes: Sequence[int], repeats: int) -> Trial:
        trial = replicas(sizes, repeats)
        held_s = 0.05 if repeats > 1 and next(every_third) % 3 == 0 else 0.0
        return Trial((trial.seconds[0], trial.seconds[1] + held_s))

    curves = Measuring(with_hiccups, 2, 128, 1).curves()

    assert balanced_shares(curves, 128) == (64, 64)

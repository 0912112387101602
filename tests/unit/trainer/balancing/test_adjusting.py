"""Shares follow a replica that becomes slower, and not every breath of it."""

from gpupanel.trainer.balancing.adjusting import Adjusting
from gpupanel.trainer.balancing.speed_curve import SpeedCurve

EVEN = (SpeedCurve(0.0, 1e-3), SpeedCurve(0.0, 1e-3))


def seconds(shares: tuple[int, ...], speeds: tuple[float, ...], steps: int) -> list[float]:
    return [steps * share * speed for share, speed in zip(shares, speeds, strict=True)]


def changes(adjusting: Adjusting, speeds: tuple[float, ...], calls: int) -> int:
    return sum(adjusting.saw(seconds(adjusting.shares, speeds, 2), 2) for _ in range(calls))


def test_that_a_replica_at_half_speed_gets_half_of_the_others_share() -> None:
    adjusting = Adjusting(EVEN, 96, 1)

    assert changes(adjusting, (1e-3, 2e-3), 100) == 1
    assert adjusting.shares == (64, 32)


def test_that_it_gets_its_share_back_when_it_is_fast_again() -> None:
    adjusting = Adjusting(EVEN, 96, 1)
    changes(adjusting, (1e-3, 2e-3), 100)

    assert changes(adjusting, (1e-3, 1e-3), 200) == 1
    assert adjusting.shares == (48, 48)


def test_that_little_is_not_followed() -> None:
    adjusting = Adjusting(EVEN, 96, 1)

    assert changes(adjusting, (1e-3, 1.08e-3), 500) == 0  # gains 4 percent


def test_that_one_slow_call_is_not_followed() -> None:
    adjusting = Adjusting(EVEN, 96, 1)
    changes(adjusting, (1e-3, 1e-3), 100)

    assert not adjusting.saw([0.1, 0.2], 2)
    assert changes(adjusting, (1e-3, 1e-3), 100) == 0


def test_that_nothing_is_adjusted_at_once() -> None:
    adjusting = Adjusting(EVEN, 96, 1)

    assert changes(adjusting, (1e-3, 2e-3), 15) == 0  # 2.9 s of the slower one


def test_that_memory_and_micro_batches_bound_what_is_adjusted() -> None:
    full = (SpeedCurve(0.0, 1e-3, largest_share=60), SpeedCurve(0.0, 1e-3))
    adjusting = Adjusting(full, 96, 8)

    changes(adjusting, (1e-3, 9e-3), 100)
    assert adjusting.shares == (60, 36)
    changes(adjusting, (90e-3, 1e-3), 20)
    assert adjusting.shares[0] == 8


def test_that_every_process_comes_to_the_same_shares() -> None:
    one, other = (Adjusting(EVEN, 96, 1) for _ in range(2))

    for call in range(300):
        speeds = (1e-3, 1e-3 * (1 + call % 5))
        took = seconds(one.shares, speeds, 3)
        assert one.saw(took, 3) == other.saw(took, 3)
        assert one.shares == other.shares

"""Where a finding begins: one step before its threshold nothing is found, at it something is."""

import pytest

from gpupanel.domain.telemetry import ThrottleReason
from tests.unit.planning.findings.recorded import found_in, on_gpu, reading
from tests.unit.planning.findings.test_device_findings import FASTEST, held_back, swapping


@pytest.mark.parametrize(("grown_mib", "is_found"), [(63, False), (64, True)])
def test_that_swap_has_to_grow_by_two_mib_a_second(grown_mib: int, is_found: bool) -> None:
    found = found_in(swapping(1_000, 1_001, 1_000 + grown_mib))
    assert ("swap_growing" in found) is is_found


@pytest.mark.parametrize(("throttled", "is_found"), [(9, False), (10, True)])
def test_that_a_tenth_of_the_periods_has_to_be_held_back(throttled: int, is_found: bool) -> None:
    found = found_in(held_back(0, throttled, periods=100))
    assert ("cpu_quota" in found) is is_found


@pytest.mark.parametrize(("periods", "is_found"), [(49, False), (50, True)])
def test_that_five_seconds_of_periods_have_to_be_seen(periods: int, is_found: bool) -> None:
    found = found_in(held_back(0, periods // 2, periods=periods))
    assert ("cpu_quota" in found) is is_found


@pytest.mark.parametrize(("clock_mhz", "is_found"), [(2_275, False), (2_225, True)])
def test_that_a_power_limit_has_to_cost_a_tenth_of_the_clock(
    clock_mhz: int, is_found: bool
) -> None:
    # Every GPU at full load is held back by its power limit, and loses little by it.
    reasons = (ThrottleReason.POWER_CAP,)
    found = found_in(
        on_gpu(lambda _: reading(throttle_reasons=reasons, clock_mhz=clock_mhz), clocks=FASTEST)
    )
    assert ("power_throttling" in found) is is_found

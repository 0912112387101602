"""What a window begins with: it can be started at once, on every GPU that there is."""

import pytest

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.problem import Severity
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.prepare import prepare
from gpupanel.planning.starting_profile import starting_profile
from tests.fakes.devices import CPU_ONLY, RTX_3060, TWO_UNEQUAL


@pytest.mark.parametrize(
    ("inventory", "strategy", "balanced"),
    [
        (CPU_ONLY, StrategyKind.ONE_DEVICE, False),
        (DeviceInventory(devices=(RTX_3060, *CPU_ONLY.devices)), StrategyKind.ONE_DEVICE, False),
        (TWO_UNEQUAL, StrategyKind.MIRRORED, True),
    ],
)
def test_that_it_can_be_started_on_all_gpus_without_a_warning(
    inventory: DeviceInventory, strategy: StrategyKind, balanced: bool
) -> None:
    preparation = prepare(starting_profile(inventory), inventory)
    assert [each for each in preparation.problems if each.severity is not Severity.HINT] == []
    assert preparation.is_startable
    plan = preparation.plan
    assert plan is not None
    assert (plan.strategy, plan.balanced) == (strategy, balanced)
    used = [device.key for device in plan.devices]
    assert used == ([gpu.key for gpu in inventory.gpus] or [CPU_KEY])

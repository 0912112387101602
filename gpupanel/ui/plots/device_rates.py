"""What each device does of the examples a second."""

from typing import TYPE_CHECKING

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.ui.plots.device_spread import MOST_CURVES
from gpupanel.ui.plots.sample_buffer import SampleBuffer

if TYPE_CHECKING:
    from gpupanel.ui.plots.sample_buffer import Floats

_CAPACITY = 32_768


class DeviceRates:
    """Divides the speed of the run as each global batch is divided.

    In every step each replica does its share of the batch, and all wait for the last: so a device's
    part of the examples is that of the speed. Workers of a parameter server wait for nobody, and
    layers on several devices see every example: nothing is known of their parts.

    Attributes:
        curves: Examples a second by device, where there are several and not very many.
    """

    def __init__(self) -> None:
        self.curves: dict[str, SampleBuffer] = {}
        self._devices: tuple[str, ...] = ()
        self._fractions: dict[str, float] = {}

    def set_plan(self, plan: LaunchPlan) -> None:
        """Know the replicas and their first shares."""
        self._devices = tuple(replica.device_key for replica in plan.replicas)
        count = len(set(self._devices))
        is_alone = count < 2 or count > MOST_CURVES
        if is_alone or plan.strategy is StrategyKind.PARAMETER_SERVER:
            self._devices = ()
        self.curves = {key: SampleBuffer(_CAPACITY) for key in dict.fromkeys(self._devices)}
        self.set_shares(plan.shares)

    def set_shares(self, shares: tuple[int, ...]) -> None:
        """Divide what comes now by these: examples of each global batch, per replica."""
        total = sum(shares)
        if len(shares) != len(self._devices) or total <= 0:
            return
        self._fractions = dict.fromkeys(self._devices, 0.0)
        for key, share in zip(self._devices, shares, strict=True):
            self._fractions[key] += share / total

    def extend(self, times: "Floats", rates: "Floats") -> None:
        """Take in the speed of the whole run; not-a-number leaves a gap."""
        for key, curve in self.curves.items():
            curve.extend(times, rates * self._fractions.get(key, 0.0))

"""What each device does of the examples a second."""

import math
from bisect import bisect_right
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
        self.curves: dict[str, DevicePart] = {}
        self._devices: tuple[str, ...] = ()
        self._rates = SampleBuffer(_CAPACITY)

    def set_plan(self, plan: LaunchPlan) -> None:
        """Know the replicas and their first shares."""
        self._devices = tuple(replica.device_key for replica in plan.replicas)
        count = len(set(self._devices))
        is_alone = count < 2 or count > MOST_CURVES
        if is_alone or plan.strategy is StrategyKind.PARAMETER_SERVER:
            self._devices = ()
        self._rates = SampleBuffer(_CAPACITY)
        self.curves = {key: DevicePart(self._rates) for key in dict.fromkeys(self._devices)}
        self.set_shares(plan.shares)

    def set_shares(self, shares: tuple[int, ...]) -> None:
        """Divide what comes now by these: examples of each global batch, per replica."""
        total = sum(shares)
        if len(shares) != len(self._devices) or total <= 0:
            return
        fractions = dict.fromkeys(self._devices, 0.0)
        for key, share in zip(self._devices, shares, strict=True):
            fractions[key] += share / total
        for key, curve in self.curves.items():
            curve.set_fraction(fractions[key])

    def extend(self, times: "Floats", rates: "Floats") -> None:
        """Take in the speed of the whole run; not-a-number leaves a gap."""
        if self.curves:
            self._rates.extend(times, rates)

    def end_line(self) -> None:
        """Let no line lead from here to what comes next."""
        self._rates.end_line()


class DevicePart:
    """The part of one device: the speed of all, which is kept once, times a fraction of it.

    Args:
        rates: Of all devices.
    """

    def __init__(self, rates: SampleBuffer) -> None:
        self._rates = rates
        # From behind which time on which fraction holds; both grow together.
        self._since_s = [-math.inf]
        self._fractions = [0.0]

    def __len__(self) -> int:
        return len(self._rates)

    def set_fraction(self, fraction: float) -> None:
        """What comes now is that part of the whole."""
        since_s = float(self._rates.times[-1]) if len(self._rates) else -math.inf
        if since_s > self._since_s[-1]:
            self._since_s.append(since_s)
            self._fractions.append(fraction)
        else:
            self._fractions[-1] = fraction

    @property
    def revision(self) -> int:
        """Changes whenever the points do."""
        return self._rates.revision

    @property
    def times(self) -> "Floats":
        """Seconds since the start of the run, ascending."""
        return self._rates.times

    @property
    def values(self) -> "Floats":
        """Examples a second at each of the times; not-a-number in a gap."""
        return self._rates.values * self._fractions_at(self.times)

    def value_at(self, time_s: float) -> float | None:
        """The value of the last point up to that time; ``None`` before the first."""
        return self._value(bisect_right(self.times, time_s) - 1)

    def last(self) -> float | None:
        """The newest value; ``None`` where there is none."""
        return self._value(len(self) - 1)

    def _value(self, place: int) -> float | None:
        if place < 0 or math.isnan(self._rates.values[place]):
            return None
        (fraction,) = self._fractions_at(self.times[place : place + 1])
        return float(self._rates.values[place] * fraction)

    def _fractions_at(self, times: "Floats") -> "Floats":
        import numpy as np

        places = np.searchsorted(self._since_s, times, side="left") - 1
        return np.asarray(self._fractions)[np.maximum(places, 0)]

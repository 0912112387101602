"""The devices of a host as they are told, for whoever samples devices."""

import time
from threading import Event
from typing import Final

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.operations.machine import DEVICES, DeviceNews
from gpupanel.hosts.operations.operation import Nothing

_MOST_DEVICES: Final = 256
"""Sixteen GPUs with seven instances each are fewer."""
_OLD_S: Final = 3.0
"""Readings that came longer ago are shown with their age."""


class HostDevices:
    """The devices of a host for whoever samples devices; the last readings while there is a cut."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._has_news = Event()
        self._is_ending = False
        self._inventory: DeviceInventory | None = None
        self._sample: TelemetrySample | None = None
        self._told_s = 0.0

    def begin(self) -> None:
        """Have the devices told from the first connection on."""
        self._link.follow(DEVICES, Nothing, self._take, lambda _problems: None)

    def inventory(self) -> DeviceInventory:
        """The devices; waits until the host was reached once, or nobody waits any more."""
        self._has_news.wait()
        if self._inventory is None:
            raise ProblemError
        return self._inventory

    def sample(self) -> TelemetrySample:
        """What they reported last, with its age where that is long ago."""
        sample = self._sample
        if sample is None:
            raise ProblemError
        age_s = time.monotonic() - self._told_s
        if age_s < _OLD_S:
            return sample
        readings = [each.model_copy(update={"age_s": age_s}) for each in sample.readings]
        return sample.model_copy(update={"readings": tuple(readings)})

    def wake(self) -> None:
        """Nothing: GPUs there sleep as long as nobody works there."""

    def stop_waiting(self) -> None:
        """Wait for the host no longer."""
        self._is_ending = True
        self._has_news.set()

    def close(self) -> None:
        """Nothing: the link ends by itself."""

    def _take(self, news: DeviceNews) -> None:
        if news.inventory is not None and len(news.inventory.devices) > _MOST_DEVICES:
            return  # a window would make a card for each
        self._inventory = news.inventory or self._inventory
        self._sample = news.sample or self._sample
        self._told_s = time.monotonic()
        if self._inventory is not None and self._sample is not None:
            self._has_news.set()

"""Where readings of devices come from."""

from typing import Protocol

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.telemetry import TelemetrySample


class DeviceSource(Protocol):
    """What is asked: :class:`gpupanel.devices.sampler.DeviceSampler`, or a stand-in of it."""

    def inventory(self) -> DeviceInventory:
        """The devices with what does not change about them."""
        ...

    def sample(self) -> TelemetrySample:
        """What they report now."""
        ...

    def wake(self) -> None:
        """Ask sleeping GPUs, too, the next time."""
        ...

    def stop_waiting(self) -> None:
        """Wait for nothing slow any more; called in another thread, before the end."""
        ...

    def close(self) -> None:
        """Let the driver go."""
        ...

"""The devices as the scheduler sees them: asked only while something waits for them."""

from types import TracebackType
from typing import Self

from gpupanel.devices.network_access import network_access
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.runs.readiness import Machine


class MachineWatch:
    """Keeps the door to the driver open between looks, since opening it can take seconds."""

    def __init__(self) -> None:
        self._sampler: DeviceSampler | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._sampler is not None:
            self._sampler.close()

    def look(self) -> Machine:
        """The devices and what they report now."""
        if self._sampler is None:
            self._sampler = DeviceSampler(wait_s=PATIENT_S, ask_network=network_access)
        return Machine(self._sampler.inventory(), self._sampler.sample())

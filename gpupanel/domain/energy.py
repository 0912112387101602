"""How much energy a run's devices took."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field

from gpupanel.domain.number_text import watt_hours
from gpupanel.domain.value import PerPlace, Value

JOULES_PER_WH = 3600.0
MOST_WH: Final = 1e12
"""More than any run takes: a stranger's number must not grow beyond what can be written."""


class DeviceEnergy(Value):
    """What one device took while the run was going on; others that used it then are included.

    Attributes:
        measured_by: ``counter``: the GPU's own, of the whole board; ``power``: readings of its
            power over time, which miss what changes within half a second.
    """

    device_key: str
    watt_hours: Annotated[float, Field(ge=0.0, le=MOST_WH)]
    measured_by: Literal["counter", "power"]


class RunEnergy(Value):
    """What all devices of a run took, over all of its segments that are known.

    Attributes:
        devices: Those that say what they take: no CPU does.
        epochs: Trained in that time; those that were begun are not counted.
        examples: Trained on in that time, counted as often as they were.
    """

    devices: Annotated[tuple[DeviceEnergy, ...], PerPlace]
    epochs: int = 0
    examples: int = 0

    @property
    def watt_hours(self) -> float:
        """Watt hours of all devices together."""
        return sum(device.watt_hours for device in self.devices)

    @property
    def per_epoch_wh(self) -> float | None:
        """Watt-hours an epoch, validation and start-up included; ``None``: there was none."""
        return self.watt_hours / self.epochs if self.epochs else None

    @property
    def per_million_examples_wh(self) -> float | None:
        """Watt-hours a million examples trained on; ``None``: there were none."""
        return self.watt_hours * 1e6 / self.examples if self.examples else None

    @property
    def words(self) -> str:
        """The energy as text: "12.4 Wh, 1.2 Wh an epoch, 8.3 Wh a million examples"."""
        figures = (
            (self.watt_hours, ""),
            (self.per_epoch_wh, " an epoch"),
            (self.per_million_examples_wh, " a million examples"),
        )
        return ", ".join(f"{watt_hours(value)}{of}" for value, of in figures if value is not None)

    def plus(self, later: Self) -> Self:
        """This and what a later segment took."""
        found = {device.device_key: device for device in self.devices}
        for device in later.devices:
            before = found.get(device.device_key)
            if before is None:
                found[device.device_key] = device
                continue
            same = before.measured_by == device.measured_by
            found[device.device_key] = DeviceEnergy(
                device_key=device.device_key,
                watt_hours=min(MOST_WH, before.watt_hours + device.watt_hours),
                measured_by=device.measured_by if same else "power",
            )
        return self.model_copy(
            update={
                "devices": tuple(found.values()),
                "epochs": self.epochs + later.epochs,
                "examples": self.examples + later.examples,
            }
        )

"""What a person set for this machine, whichever profile a run has."""

from typing import Annotated, Final

from pydantic import Field

from gpupanel.domain.hours import HoursText
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Value

_MOST_W: Final = 100_000.0
"""More than a rack takes."""
Watts = Annotated[float, Field(gt=0.0, le=_MOST_W)]


class MachineSettings(Value):
    """The file ``machine.toml`` in the person's folder of settings."""

    hours: HoursText | None = setting(
        "Hours",
        "Runs on this machine work in these hours only: they are suspended when the hours end, and "
        "continue when they begin again. Where a profile has hours, too, both hold.",
        default=None,
        off="any time",
        examples=["22:00-07:00", "Mon-Fri 19:00-07:00, Sat-Sun"],
    )
    supply_w: Watts | None = setting(
        "Power supply",
        "What the machine's power supply gives. You are warned where the power limits of the GPUs "
        "together could pass it.",
        default=None,
        unit="watt",
        off="not known",
        examples=[1000.0],
    )
    rest_w: Watts | None = setting(
        "Rest of the machine",
        "What processor, disks and fans take of it at the most. Left out, only the GPUs are "
        "counted.",
        default=None,
        unit="watt",
        off="not counted",
        examples=[250.0],
    )


DEFAULT_MACHINE: Final = MachineSettings()

"""What a card says of a device that does not answer, or is not asked."""

from typing import Final

from gpupanel.domain.telemetry import DeviceReading, DeviceState

_LEFT: Final = {
    DeviceState.ASLEEP: "Asleep: it is idle, and reading it would wake it up. A run wakes it up.",
    DeviceState.RESTING: "Idle: not asked for a while, so that it can fall asleep.",
}


def is_lost(reading: DeviceReading | None) -> bool:
    """Whether it was there and does not answer."""
    return reading is not None and reading.state in (DeviceState.LOST, DeviceState.NO_ANSWER)


def words(reading: DeviceReading | None) -> str:
    """What came back from it, and what to do; why it is not asked; empty where it answers."""
    if reading is None or not is_lost(reading):
        return "" if reading is None else _LEFT.get(reading.state, "")
    failure = reading.failure
    head = "Lost: it stopped answering" if reading.state is DeviceState.LOST else "Does not answer"
    if failure is None:
        return f"{head}. The kernel's log may say why."
    return f"{head}: {failure.words}. {failure.advice}"

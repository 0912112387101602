"""What a card says of a device that does not answer."""

from gpupanel.domain.telemetry import DeviceReading, DeviceState


def is_lost(reading: DeviceReading | None) -> bool:
    """Whether it was there and does not answer."""
    return reading is not None and reading.state in (DeviceState.LOST, DeviceState.NO_ANSWER)


def words(reading: DeviceReading | None) -> str:
    """What came back from it, and what to do; empty where it answers."""
    if reading is None or not is_lost(reading):
        return ""
    failure = reading.failure
    head = "Lost: it stopped answering" if reading.state is DeviceState.LOST else "Does not answer"
    if failure is None:
        return f"{head}. The kernel's log may say why."
    return f"{head}: {failure.words}. {failure.advice}"

"""What a card says of a device that does not answer, is not asked, or is in use by others."""

from typing import Final

from gpupanel.domain.gpu_claim import claim_words
from gpupanel.domain.telemetry import DeviceReading, DeviceState

_LEFT: Final = {
    DeviceState.ASLEEP: "Asleep: it is idle, and reading it would wake it up. A run wakes it up.",
    DeviceState.RESTING: "Idle: not asked for a while, so that it can fall asleep.",
}


def is_lost(reading: DeviceReading | None) -> bool:
    """Whether it was there and does not answer."""
    return reading is not None and reading.state in (DeviceState.LOST, DeviceState.NO_ANSWER)


def words(reading: DeviceReading | None, now_s: float) -> str:
    """What is out of the ordinary about it, a line each; empty where nothing is.

    What came back from it, and what to do; why it is not asked; whose run holds it.

    Args:
        reading: What it reported; ``None``: nothing yet.
        now_s: The present, seconds since the epoch (UTC).
    """
    if reading is None:
        return ""
    claims = claim_words(reading.claims, now_s)
    held = f"In use by {claims}" if claims else ""
    return "\n".join(line for line in (_state(reading), held) if line)


def _state(reading: DeviceReading) -> str:
    if not is_lost(reading):
        return _LEFT.get(reading.state, "")
    failure = reading.failure
    head = "Lost: it stopped answering" if reading.state is DeviceState.LOST else "Does not answer"
    if failure is None:
        return f"{head}. The kernel's log may say why."
    return f"{head}: {failure.words}. {failure.advice}"

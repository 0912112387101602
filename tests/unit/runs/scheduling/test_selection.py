"""Which waiting entries start, by the devices that each needs."""

from pathlib import Path

from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.scheduling.selection import Candidate, reasons_to_wait

A, B = {"A": "device A"}, {"B": "device B"}


def candidate(entry_id: str, devices: dict[str, str], obstacle: str = "") -> Candidate:
    entry = QueueEntry(id=entry_id, name=entry_id, runs_dir=Path("runs"), added_s=1.0)
    return Candidate(entry, devices, obstacle=obstacle)


def starting(reasons: dict[str, str]) -> set[str]:
    return {entry_id for entry_id, reason in reasons.items() if not reason}


def test_that_the_first_one_starts_where_its_device_is_free() -> None:
    assert starting(reasons_to_wait([candidate("x", A)], {})) == {"x"}


def test_that_two_start_at_once_where_their_devices_do_not_meet() -> None:
    reasons = reasons_to_wait([candidate("x", A), candidate("y", B)], {})
    assert starting(reasons) == {"x", "y"}


def test_that_one_waits_for_the_run_on_its_device() -> None:
    reasons = reasons_to_wait([candidate("x", A)], {"A": "digits"})
    assert reasons == {"x": "Waits for device A: “digits” runs on it."}


def test_that_of_two_for_one_device_the_first_one_starts() -> None:
    reasons = reasons_to_wait([candidate("x", A), candidate("y", A)], {})
    assert reasons == {"x": "", "y": "Waits for device A: “x” runs on it."}


def test_that_a_later_one_passes_those_that_wait_for_other_devices() -> None:
    reasons = reasons_to_wait([candidate("x", A), candidate("y", B)], {"A": "digits"})
    assert starting(reasons) == {"y"}


def test_that_one_for_two_devices_is_not_passed_for_ever() -> None:
    reasons = reasons_to_wait([candidate("both", {**A, **B}), candidate("y", B)], {"A": "digits"})
    assert reasons["both"] == "Waits for device A: “digits” runs on it."
    assert reasons["y"] == "Waits for device B: “both” is before it."


def test_that_one_with_an_obstacle_of_its_own_says_so_and_keeps_its_place() -> None:
    reasons = reasons_to_wait([candidate("x", A, "Waits: it fell off."), candidate("y", A)], {})
    assert reasons["x"] == "Waits: it fell off."
    assert reasons["y"] == "Waits for device A: “x” is before it."

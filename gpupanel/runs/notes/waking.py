"""Seeing to it that a courier is there while a note waits."""

from pathlib import Path

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.problem import ProblemError
from gpupanel.files.locks import is_lock_held
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.detached import start_detached
from gpupanel.runs.locations import notes_dir
from gpupanel.runs.notes.outbox import Outbox


def wake_courier(outbox: Outbox) -> None:
    """Start a courier where something waits and none is there; returns at once.

    Raises:
        OSError: None can be started.
    """
    if not outbox.letters() or is_lock_held(courier_lock_file(outbox.folder)):
        return
    command = python_module_command("gpupanel.runs.notes.courier", str(outbox.folder))
    start_detached(command, courier_log(outbox.folder), "courier of notes")


def wake_users_courier() -> None:
    """The same for the user's notes, where nobody hears that it failed: after a reboot, say."""
    try:
        wake_courier(Outbox(notes_dir()))
    except (OSError, ProblemError) as error:
        write_to_process_log(f"notes: no courier: {error}")


def courier_log(folder: Path) -> Path:
    """What the couriers of an outbox have printed: why notes have not arrived."""
    return folder / "courier.log"


def courier_lock_file(folder: Path) -> Path:
    """What the courier of an outbox holds as long as it lives."""
    return folder / "courier.lock"

"""All entries in their order, and what people do with them: values, no files."""

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.runs.queue.entry import EntryState, QueueEntry

_MOST_ENTRIES: Final = 10_000
"""Ten sweeps of a thousand trials each: years of trainings, and still shown at once."""


class WaitingLine(Value):
    """The user's queue at one moment: ``queue.json``.

    Attributes:
        version: Of the file's format.
        paused: Nothing is started; what runs goes on.
        entries: The waiting ones in the order in which they are to be started.
        sweeps: The folders of sweeps whose trials are added one after the other.
    """

    version: Literal[1] = 1
    paused: bool = False
    entries: Annotated[tuple[QueueEntry, ...], Field(max_length=_MOST_ENTRIES)] = ()
    sweeps: Annotated[tuple[Path, ...], Field(max_length=_MOST_ENTRIES)] = ()

    @property
    def waiting(self) -> tuple[QueueEntry, ...]:
        """The entries that are still to be started, in order."""
        return tuple(entry for entry in self.entries if entry.is_waiting)

    @property
    def running(self) -> tuple[QueueEntry, ...]:
        """The entries whose runs are running or being started."""
        return tuple(entry for entry in self.entries if entry.is_running)

    @property
    def needs_scheduler(self) -> bool:
        """Whether there is something to start or to supervise."""
        return bool(self.running or ((self.waiting or self.sweeps) and not self.paused))

    def entry(self, entry_id: str) -> QueueEntry:
        """The entry with that id.

        Raises:
            ProblemError: There is none.
        """
        for entry in self.entries:
            if entry.id == entry_id:
                return entry
        raise ProblemError(
            Problem(
                code="queue_entry_missing",
                message=f"The queue has no entry {entry_id}.",
                hint="`gpupanel queue` lists the entries with their ids.",
            )
        )

    def place(self, entry_id: str) -> int | None:
        """The place among the waiting entries, counted from 1; ``None`` for the others."""
        ids = [entry.id for entry in self.waiting]
        return ids.index(entry_id) + 1 if entry_id in ids else None

    def with_added(self, entry: QueueEntry) -> "WaitingLine":
        """The queue with one more entry at its end."""
        return self._with((*self.entries, entry))

    def with_sweep(self, folder: Path) -> "WaitingLine":
        """The queue with a sweep whose trials are to be added, unless it has it already."""
        others = [each for each in self.sweeps if each != folder]
        return self.model_copy(update={"sweeps": (*others, folder)})

    def without_sweep(self, folder: Path) -> "WaitingLine":
        """The queue without a finished sweep; the entries of its trials stay."""
        others = tuple(each for each in self.sweeps if each != folder)
        return self.model_copy(update={"sweeps": others})

    def with_changed(self, entry: QueueEntry) -> "WaitingLine":
        """The queue with an entry replaced."""
        return self._with(tuple(entry if each.id == entry.id else each for each in self.entries))

    def with_removed(self, entry_id: str) -> "WaitingLine":
        """The queue without that entry.

        Raises:
            ProblemError: There is none, or its run goes on.
        """
        if self.entry(entry_id).is_running:
            raise ProblemError(_goes_on(self.entry(entry_id)))
        return self._with(tuple(each for each in self.entries if each.id != entry_id))

    def with_returned(self, entry: QueueEntry, place: int) -> "WaitingLine":
        """The queue with an entry where it stood before it was removed.

        Args:
            entry: As it was; one that is there already stays as it is.
            place: Among all entries, counted from 0; the last one when there are fewer now.
        """
        if any(each.id == entry.id for each in self.entries):
            return self
        return self._with((*self.entries[:place], entry, *self.entries[place:]))

    def with_moved(self, entry_id: str, place: int) -> "WaitingLine":
        """The queue with a waiting entry moved among the waiting ones.

        Args:
            entry_id: Which one.
            place: Counted from 1; the last one when it is greater than their number.

        Raises:
            ProblemError: There is no such entry, or it does not wait.
        """
        moved = self.entry(entry_id)
        if not moved.is_waiting:
            raise ProblemError(not_waiting(moved))
        order = [entry for entry in self.waiting if entry.id != entry_id]
        order.insert(max(0, place - 1), moved)
        in_order = iter(order)
        return self._with(
            tuple(next(in_order) if each.is_waiting else each for each in self.entries)
        )

    def with_edited(self, entry_id: str, name: str, revision: int | None = None) -> "WaitingLine":
        """The queue with an entry whose profile was changed: it waits and is planned again.

        Args:
            entry_id: Which one.
            name: The other profile's.
            revision: Of the entry when it was read; ``None``: any.

        Raises:
            ProblemError: There is no such entry, or its run was started, or it has been edited
                since it was read.
        """
        edited = self.entry(entry_id)
        if not edited.can_be_edited:
            raise ProblemError(not_waiting(edited))
        if revision is not None and edited.revision != revision:
            raise ProblemError(edited_meanwhile(edited))
        fresh = {"name": name, "revision": edited.revision + 1, "state": EntryState.WAITING}
        forgotten = {"devices": (), "waits": "", "problems": ()}
        return self.with_changed(edited.model_copy(update={**fresh, **forgotten}))

    def with_paused(self, *, paused: bool) -> "WaitingLine":
        """Starting nothing, or going on."""
        return self.model_copy(update={"paused": paused})

    def without_ended(self) -> "WaitingLine":
        """The queue without entries that ended or were refused."""
        return self._with(tuple(e for e in self.entries if e.is_waiting or e.is_running))

    def _with(self, entries: tuple[QueueEntry, ...]) -> "WaitingLine":
        return self.model_copy(update={"entries": entries})


def not_waiting(entry: QueueEntry) -> Problem:
    """The problem that an entry does not wait any more."""
    if entry.is_running:
        return _goes_on(entry)
    return Problem(
        code="queue_entry_ended",
        message=f"“{entry.name}” ({entry.id}) is no longer waiting: it has ended.",
        hint="Add its profile to the queue again; that makes a new run.",
    )


def edited_meanwhile(entry: QueueEntry) -> Problem:
    """The problem that somebody else has given an entry another profile since it was read."""
    return Problem(
        code="queue_entry_edited_meanwhile",
        message=f"“{entry.name}” ({entry.id}) was not changed: another window or program has "
        "changed it meanwhile.",
        hint="Edit the entry again, which opens its current profile; or add yours as a new one.",
    )


def _goes_on(entry: QueueEntry) -> Problem:
    return Problem(
        code="queue_entry_started",
        message=f"“{entry.name}” ({entry.id}) has been started: its run is in progress.",
        hint="Stop its run, or add a new entry.",
    )

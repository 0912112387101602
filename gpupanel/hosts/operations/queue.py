"""The queue of a host."""

from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field

from gpupanel.domain.problem import Problem
from gpupanel.domain.profile_toml import document_of, profile_from_document
from gpupanel.domain.value import Value
from gpupanel.hosts.operations.operation import Nothing, Operation, RunName
from gpupanel.hosts.operations.starting import CodeThere
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.orders import RemovedEntry
from gpupanel.runs.queue.waiting_line import WaitingLine


class EntryTakenOut(Value):
    """What was taken out of the queue, and can be put back; see ``RemovedEntry``."""

    entry: QueueEntry
    profile: dict[str, Any]
    place: int
    sweep: str = ""

    @classmethod
    def of(cls, removed: RemovedEntry) -> Self:
        """That entry as it is told."""
        return cls(
            entry=removed.entry,
            profile=document_of(removed.profile),
            place=removed.place,
            sweep="" if removed.sweep is None else str(removed.sweep),
        )

    def removed(self) -> RemovedEntry:
        """The entry that was told.

        Raises:
            ProblemError: Its profile cannot be read.
        """
        sweep = Path(self.sweep) if self.sweep else None
        profile = profile_from_document(self.profile)
        return RemovedEntry(self.entry, profile, self.place, sweep)


class QueueNews(Value):
    """The queue as it is now, and what keeps it from working; ``None``: as it was told before."""

    line: WaitingLine | None = None
    problems: tuple[Problem, ...] | None = None


class QueueWanted(Value):
    """Something to do with the queue.

    Attributes:
        act: What; the other attributes are what it takes.
        trusted: Code that the person has read and trusts.
    """

    act: Literal[
        "add",
        "continue",
        "edit",
        "move",
        "take_out",
        "put_back",
        "pause",
        "go_on",
        "clear",
        "profile",
    ]
    entry_id: Annotated[str, Field(max_length=64)] = ""
    run: RunName | Literal[""] = ""
    profile: dict[str, Any] | None = None
    revision: int = 0
    place: int = 0
    removed: EntryTakenOut | None = None
    trusted: tuple[CodeThere, ...] = ()


class QueueDone(Value):
    """What came of it, as far as the act gives something."""

    entry: QueueEntry | None = None
    removed: EntryTakenOut | None = None
    revision: int = 0
    profile: dict[str, Any] | None = None
    untrusted: tuple[CodeThere, ...] = ()


QUEUE: Final = Operation("queue", Nothing, QueueNews, Nothing)
QUEUE_ACT: Final = Operation("queue act", QueueWanted, Nothing, QueueDone)

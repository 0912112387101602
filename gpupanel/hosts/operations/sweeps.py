"""The sweeps of a host: started there, and shown from copies of their files."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from gpupanel.domain.value import Count, Value
from gpupanel.hosts.operations.exports import FilePiece
from gpupanel.hosts.operations.operation import Nothing, Operation, RunName
from gpupanel.hosts.operations.starting import CodeThere

_MOST_SWEEPS: Final = 100_000


class SweepsWanted(Value):
    """What is known of the sweeps, of which all else is wanted.

    Attributes:
        name: Of the one that is shown; empty: of the newest.
        profile: The SHA-256 of the copy of its profile, hexadecimal; empty: there is none.
        record_bytes: So much of its record is copied.
        stamp: Of the names that are known; empty: none.
    """

    name: RunName | Literal[""] = ""
    profile: Annotated[str, Field(max_length=64)] = ""
    record_bytes: Count = 0
    stamp: Annotated[str, Field(max_length=64)] = ""


class SweepsFound(Value):
    """What there are.

    Attributes:
        names: Of all, newest first; ``None``: as they were.
        stamp: Of them.
        name: Of the one that is shown; empty: there is none.
        is_known: Whether the queue looks after it.
    """

    names: Annotated[tuple[RunName, ...], Field(max_length=_MOST_SWEEPS)] | None = None
    stamp: Annotated[str, Field(max_length=64)] = ""
    name: RunName | Literal[""] = ""
    is_known: bool = True


class SweepToStart(Value):
    """A profile with its sweep, as a document, and code that the person has read and trusts."""

    profile: dict[str, Any]
    trusted: tuple[CodeThere, ...] = ()


class SweepStarted(Value):
    """The name of its folder; or the code because of which it was not started."""

    name: RunName | Literal[""] = ""
    untrusted: tuple[CodeThere, ...] = ()


class SweepOrder(Value):
    """What is to become of a sweep."""

    name: RunName
    act: Literal["stop", "resume"]


SWEEPS: Final = Operation("sweeps", SweepsWanted, FilePiece, SweepsFound)
START_SWEEP: Final = Operation("start sweep", SweepToStart, Nothing, SweepStarted)
SWEEP_ACT: Final = Operation("sweep act", SweepOrder, Nothing, Nothing)

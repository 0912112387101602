"""The runs of a host as they are copied, and what is asked of them."""

from typing import Annotated, Final, Literal, get_args

from pydantic import Field

from gpupanel.domain.problem import Problem
from gpupanel.domain.request import Request
from gpupanel.domain.value import Value
from gpupanel.hosts.operations.operation import Bytes, Nothing, Operation, RunName
from gpupanel.runs.history.label import RunLabel

MOST_RUNS: Final = 200_000


PresentFile = Literal["model.keras", "model-best.keras", "model-last.keras", "code/model.py"]
"""Files of a run of which a window needs to know only that they are there."""
PRESENT_FILES: Final[tuple[PresentFile, ...]] = get_args(PresentFile)


class KnownRuns(Value):
    """The runs of which a window has copies, each with the stamp that it came with."""

    stamps: Annotated[dict[str, str], Field(max_length=MOST_RUNS)] = Field(default_factory=dict)


class RunOutline(Value):
    """What a list of runs says of one, as files that are kept here as it keeps them.

    Attributes:
        name: Of its folder.
        stamp: Changes with what stands here.
        is_running: Its supervisor lives.
        files: Their contents by their names; of the events the lines that a list reads.
        written_s: When each was written last, in seconds since the epoch (UTC).
        folders: Names of its checkpoints.
        present: Files that are there, and stay there.
    """

    name: RunName
    stamp: Annotated[str, Field(max_length=64)]
    is_running: bool
    files: Annotated[dict[str, Bytes], Field(max_length=16)]
    written_s: Annotated[dict[str, float], Field(max_length=16)] = Field(default_factory=dict)
    folders: Annotated[tuple[RunName, ...], Field(max_length=64)] = ()
    present: Annotated[tuple[PresentFile, ...], Field(max_length=16)] = ()


class RunNews(Value):
    """What is new in the folder of runs.

    Attributes:
        outline: Of a run that is new or has changed.
        gone: The name of a run that was deleted.
        is_whole: All that had changed has been told; ``False``: more follows at once.
        problem: Why the runs cannot be listed.
    """

    outline: RunOutline | None = None
    gone: RunName | None = None
    is_whole: bool = False
    problem: Problem | None = None


class ToldUpTo(Value):
    """How far a file of the host was told: which one it was, and bytes from its start."""

    device: int
    number: int
    offset: Annotated[int, Field(ge=0)]


class RunWanted(Value):
    """Which run's files are wanted.

    Attributes:
        name: The run.
        told: How far its growing files are known already, by their names.
        is_followed: Whether what is written later is wanted, too.
    """

    name: RunName
    told: Annotated[dict[str, ToldUpTo], Field(max_length=8)] = Field(default_factory=dict)
    is_followed: bool = True


class RunPiece(Value):
    """A piece of one of the run's files.

    Attributes:
        file: Its name; empty: of no file.
        content: Its bytes.
        has_more: It is to be written together with the next piece of the file.
        told: How far the file is told with it, where it grows.
        is_first: The file begins with it; what was there before goes.
        is_gone: There is no such file any more.
        is_running: Whether the supervisor lives; ``None``: nothing new of that.
        is_filled: All has been told that was there when it was asked for.
    """

    file: Annotated[str, Field(max_length=64)] = ""
    content: Bytes = ""
    has_more: bool = False
    told: ToldUpTo | None = None
    is_first: bool = False
    is_gone: bool = False
    is_running: bool | None = None
    is_filled: bool = False


class RequestWanted(Value):
    """What is to be asked of a run."""

    name: RunName
    request: Request


class LabelWanted(Value):
    """A run's label as it was seen, and as it is to be."""

    name: RunName
    before: RunLabel
    after: RunLabel


class DeletionWanted(Value):
    """A run that is to go for good: no desktop's bin is there."""

    name: RunName


RUNS: Final = Operation("runs", KnownRuns, RunNews, Nothing)
RUN: Final = Operation("run", RunWanted, RunPiece, Nothing)
REQUEST: Final = Operation("request", RequestWanted, Nothing, Nothing)
LABEL: Final = Operation("label", LabelWanted, Nothing, Nothing)
DELETE: Final = Operation("delete", DeletionWanted, Nothing, Nothing)

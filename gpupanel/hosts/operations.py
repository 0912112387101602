"""What a window may ask of a host: each operation with what is asked, its parts and its answer."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, Literal, TypeVar

from pydantic import Field

from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.request import Request
from gpupanel.domain.telemetry import DeviceProcess, TelemetrySample
from gpupanel.domain.value import Count, Value
from gpupanel.runs.history.label import RunLabel
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.tools.export.export_format import ExportFormat

_RequestT = TypeVar("_RequestT", bound=Value)
_PartT = TypeVar("_PartT", bound=Value)
_AnswerT = TypeVar("_AnswerT", bound=Value)

MOST_RUNS: Final = 200_000
_MOST_PIECE: Final = 16 * 2**20
RunName = Annotated[str, Field(pattern=r"^[^/\x00.][^/\x00]*$", max_length=255)]
"""Of a run's folder: no path, none that leads upwards, none that is hidden."""
Bytes = Annotated[str, Field(max_length=_MOST_PIECE)]
"""A file's bytes, each as the character of that number (Latin-1): text stays text, which is
compressed on its way, and no byte is lost."""


@dataclass(frozen=True, slots=True)
class Operation(Generic[_RequestT, _PartT, _AnswerT]):
    """One that is called by its name.

    Attributes:
        name: In a line.
        request: What is asked.
        part: What comes before the answer, any number of times.
        answer: What it comes to.
    """

    name: str
    request: type[_RequestT]
    part: type[_PartT]
    answer: type[_AnswerT]


class Nothing(Value):
    """Where nothing needs to be said."""


class DeviceNews(Value):
    """What is new of the devices there: of the first news both, later what has changed."""

    inventory: DeviceInventory | None = None
    sample: TelemetrySample | None = None


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
        present: Names of files that are there, and stay there: models, mostly.
    """

    name: RunName
    stamp: Annotated[str, Field(max_length=64)]
    is_running: bool
    files: Annotated[dict[str, Bytes], Field(max_length=16)]
    written_s: Annotated[dict[str, float], Field(max_length=16)] = Field(default_factory=dict)
    folders: Annotated[tuple[RunName, ...], Field(max_length=64)] = ()
    present: Annotated[tuple[RunName, ...], Field(max_length=16)] = ()


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


class CodeThere(Value):
    """A file of Python code on the host at one moment; see ``UserCode``."""

    key: Annotated[str, Field(max_length=64)]
    path: Annotated[str, Field(max_length=4096)]
    content: Bytes


class StartWanted(Value):
    """A run to be started, or started again.

    Attributes:
        profile: As a document; of a run that is started again instead of its own, if any.
        plan: What was decided from it here.
        name: Of the run that is started again; empty: it is a new one.
        accepts_changed_data: Also where its data is other than before.
        outside_hours: Also where its hours have not begun.
        trusted: Code that the person has read and trusts.
    """

    profile: dict[str, Any] | None = None
    plan: LaunchPlan | None = None
    name: RunName | Literal[""] = ""
    accepts_changed_data: bool = False
    outside_hours: bool = False
    trusted: tuple[CodeThere, ...] = ()


class HoursThere(Value):
    """Why a run was not started before its hours; see ``OutsideHoursError``."""

    problem: Problem
    begin_s: float
    words: Annotated[str, Field(max_length=1_024)]


class StartOutcome(Value):
    """What came of it.

    Attributes:
        name: The run that was started; empty: none was.
        untrusted: The code because of which none was: nobody has trusted it there yet.
        hours: Its hours, because of which none was: they have not begun there.
    """

    hours: HoursThere | None = None

    name: RunName | Literal[""] = ""
    untrusted: tuple[CodeThere, ...] = ()


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


class ChildWanted(Value):
    """A module of gpupanel to be asked there, as one is asked here.

    Attributes:
        module: Its full name.
        arguments: Of it.
        question: What it finds on stdin.
        variables: Of its environment, besides those there.
        limit_s: How long it may take.
        grace_s: Of one that was cancelled.
    """

    module: Annotated[str, Field(pattern=r"^gpupanel(\.[a-z_]+)+$", max_length=200)]
    arguments: tuple[str, ...] = ()
    question: Bytes = ""
    variables: dict[str, str] = Field(default_factory=dict)
    limit_s: float
    grace_s: float = 0.0


class ChildOutput(Value):
    """What it has written to stdout since the last time."""

    output: Bytes


class ChildEnded(Value):
    """How it ended; what it wrote to stdout came before."""

    end: Literal["BY_ITSELF", "TIME_WAS_UP", "CANCELLED"]
    exit_code: int | None = None
    log: Annotated[str, Field(max_length=_MOST_PIECE)] = ""


class SupportWanted(Value):
    """GPUs of which TensorFlow there is to say whether it can use them."""

    gpus: tuple[PhysicalDevice, ...]
    driver: str | None = None


class EndWanted(Value):
    """A process there that is to end."""

    process: DeviceProcess
    run_processes: frozenset[int] = frozenset()
    by_force: bool = False


class EntryTakenOut(Value):
    """What was taken out of the queue, and can be put back; see ``RemovedEntry``."""

    entry: QueueEntry
    profile: dict[str, Any]
    place: int
    sweep: str = ""


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


class FilePiece(Value):
    """A piece of a file that was made there, and is wanted here.

    Attributes:
        path: Below the folder that is written, ``variables/variables.index``.
        content: Its bytes.
        is_first: The file begins with it.
    """

    path: Annotated[str, Field(max_length=1_024)]
    content: Bytes = ""
    is_first: bool = False


class RunFileWanted(Value):
    """A run as one file; its copy here has not all that stands in it."""

    name: RunName
    format: ExportFormat


class CurveTableWanted(Value):
    """All values of the curves of runs, in that order."""

    names: Annotated[tuple[RunName, ...], Field(max_length=10_000)]


class RowsWritten(Value):
    """How many rows a table has below its header."""

    rows: Count


class FolderWanted(Value):
    """A folder there whose content a person wants to see; empty: their home."""

    path: Annotated[str, Field(max_length=4096)] = ""


class FolderEntry(Value):
    """A file or a folder in it."""

    name: Annotated[str, Field(max_length=255)]
    is_folder: bool
    size_bytes: int = 0


class FolderListing(Value):
    """What is in a folder.

    Attributes:
        path: Absolute.
        entries: Folders first, then files, each by their names; hidden ones are left out.
        is_whole: There is nothing else but what is hidden.
    """

    path: Annotated[str, Field(max_length=4096)] = "/"
    entries: Annotated[tuple[FolderEntry, ...], Field(max_length=5_000)] = ()
    is_whole: bool = True


class Word(Value):
    """What is wrong with what was asked about; ``None``: nothing is."""

    problem: Problem | None = None


DEVICES: Final = Operation("devices", Nothing, DeviceNews, Nothing)
RUNS: Final = Operation("runs", KnownRuns, RunNews, Nothing)
RUN: Final = Operation("run", RunWanted, RunPiece, Nothing)
START: Final = Operation("start", StartWanted, Nothing, StartOutcome)
REQUEST: Final = Operation("request", RequestWanted, Nothing, Nothing)
LABEL: Final = Operation("label", LabelWanted, Nothing, Nothing)
DELETE: Final = Operation("delete", DeletionWanted, Nothing, Nothing)
CHILD: Final = Operation("child", ChildWanted, ChildOutput, ChildEnded)
SUPPORT: Final = Operation("support", SupportWanted, Nothing, GpuSupport)
END: Final = Operation("end", EndWanted, Nothing, Nothing)
FOLDER: Final = Operation("folder", Nothing, Nothing, Word)
IMPORT: Final = Operation("import", Nothing, Nothing, Word)
FILES: Final = Operation("files", FolderWanted, Nothing, FolderListing)
QUEUE: Final = Operation("queue", Nothing, QueueNews, Nothing)
QUEUE_ACT: Final = Operation("queue act", QueueWanted, Nothing, QueueDone)
EXPORT: Final = Operation("export", ModelExportRequest, FilePiece, ModelExport)
RUN_FILE: Final = Operation("run file", RunFileWanted, FilePiece, Nothing)
CURVE_TABLE: Final = Operation("curve table", CurveTableWanted, FilePiece, RowsWritten)
DOCTOR: Final = Operation("doctor", Nothing, Nothing, DoctorReport)

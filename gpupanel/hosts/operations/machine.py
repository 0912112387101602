"""What a window asks of the host itself: devices, processes, folders, modules of gpupanel."""

from typing import Annotated, Final, Literal

from pydantic import Field

from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.problem import Problem
from gpupanel.domain.telemetry import DeviceProcess, TelemetrySample
from gpupanel.domain.value import Value
from gpupanel.hosts.operations.operation import MOST_PIECE, Bytes, Nothing, Operation


class DeviceNews(Value):
    """What is new of the devices there: of the first news both, later what has changed."""

    inventory: DeviceInventory | None = None
    sample: TelemetrySample | None = None


class ChildWanted(Value):
    """A module of gpupanel to be asked there, as one is asked here.

    Attributes:
        module: Its full name.
        arguments: Of it.
        question: What it finds on stdin.
        variables: Of its environment, besides those there.
        limit_s: How long it may take; ``None``: as long as it does.
        grace_s: Of one that was cancelled.
    """

    module: Annotated[str, Field(pattern=r"^gpupanel(\.[a-z_]+)+$", max_length=200)]
    arguments: tuple[str, ...] = ()
    question: Bytes = ""
    variables: dict[str, str] = Field(default_factory=dict)
    limit_s: float | None
    grace_s: float = 0.0


class ChildOutput(Value):
    """What it has written to stdout since the last time."""

    output: Bytes


class ChildEnded(Value):
    """How it ended; what it wrote to stdout came before."""

    end: Literal["BY_ITSELF", "TIME_WAS_UP", "CANCELLED"]
    exit_code: int | None = None
    log: Annotated[str, Field(max_length=MOST_PIECE)] = ""


class SupportWanted(Value):
    """GPUs of which TensorFlow there is to say whether it can use them."""

    gpus: tuple[PhysicalDevice, ...]
    driver: str | None = None


class EndWanted(Value):
    """A process there that is to end."""

    process: DeviceProcess
    run_processes: frozenset[int] = frozenset()
    by_force: bool = False


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


class PlaceWanted(Value):
    """A folder there into which files are to be copied.

    Attributes:
        path: As a person writes it, with ``~`` for their home there.
        names: Of the files and folders.
        is_made: It is to be made where it is not there.
    """

    path: Annotated[str, Field(max_length=4096)]
    names: Annotated[tuple[str, ...], Field(max_length=100_000)] = ()
    is_made: bool = False


class PlaceFound(Value):
    """What is there.

    Attributes:
        path: Absolute.
        taken: Which of the names stand there already.
        free_bytes: Of its disk.
    """

    path: Annotated[str, Field(max_length=4096)]
    taken: Annotated[tuple[str, ...], Field(max_length=100_000)] = ()
    free_bytes: Annotated[int, Field(ge=0)] = 0


class Word(Value):
    """What is wrong with what was asked about; ``None``: nothing is."""

    problem: Problem | None = None


DEVICES: Final = Operation("devices", Nothing, DeviceNews, Nothing)
CHILD: Final = Operation("child", ChildWanted, ChildOutput, ChildEnded)
SUPPORT: Final = Operation("support", SupportWanted, Nothing, GpuSupport)
END: Final = Operation("end", EndWanted, Nothing, Nothing)
FOLDER: Final = Operation("folder", Nothing, Nothing, Word)
IMPORT: Final = Operation("import", Nothing, Nothing, Word)
FILES: Final = Operation("files", FolderWanted, Nothing, FolderListing)
PLACE: Final = Operation("place", PlaceWanted, Nothing, PlaceFound)
DOCTOR: Final = Operation("doctor", Nothing, Nothing, DoctorReport)

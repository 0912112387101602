"""Tools that a window has carried out on a host: they try, measure and ask what is there."""

from typing import Annotated, Any, Final

from pydantic import Field

from gpupanel.domain.asked_prediction import PredictionAnswer, PredictionAsked
from gpupanel.domain.batch_fit import BatchFit, BatchProgress
from gpupanel.domain.bench import Bench, BenchProgress
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Problem
from gpupanel.domain.trace import TracedDevice, TraceRecord
from gpupanel.domain.value import Count, Value
from gpupanel.hosts.operations.operation import Bytes, Nothing, Operation, RunName
from gpupanel.runs.tools.tracing.tracing import TraceStage


class BatchesWanted(Value):
    """A profile whose batches are to be tried, as a document."""

    profile: dict[str, Any]


class BenchWanted(Value):
    """A profile with which devices are to be compared, as a document.

    Attributes:
        recalls: What is remembered of it will do.
    """

    profile: dict[str, Any]
    recalls: bool = False


class PredictionWanted(Value):
    """A question to a model there; ``None``: nothing is asked any more, and its process may end.

    Attributes:
        content: Of the file of the window's machine that it is about, whose path in it means
            nothing there; ``None``: it is about none.
        suffix: How that file's name ends.
    """

    asked: PredictionAsked | None = None
    content: Bytes | None = None
    suffix: Annotated[str, Field(pattern=r"^(\.\w{1,16})?$")] = ""


class PretrainedFound(Value):
    """A network whose published weights can be had there; empty: none.

    Attributes:
        name: Of the application, as a profile has it.
        is_here: Its weights are on that machine already.
    """

    name: Annotated[str, Field(max_length=64)] = ""
    is_here: bool = False


class PowerWanted(Value):
    """The power limit that a GPU is to have, in watts."""

    device: PhysicalDevice
    limit_w: float


class TracesWanted(Value):
    """The traces of a run, and one of them: a new one, or that of a number.

    Attributes:
        steps: Of a new one; ``None``: none is to be taken.
        process: Whose.
        number: Of the one that is to be read again.
    """

    name: RunName
    steps: Count | None = None
    process: Count | None = None
    number: Count | None = None


class TraceDoing(Value):
    """What a trace that was asked for waits for: a ``TraceStage``."""

    stage: TraceStage


class TraceFound(Value):
    """What the one that was asked for says."""

    record: TraceRecord | None = None
    devices: tuple[TracedDevice, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    warning: Problem | None = None


class TracesFound(Value):
    """Which there are by now, by their numbers, and the one that was asked for."""

    records: Annotated[dict[int, TraceRecord], Field(max_length=1_000)]
    trace: TraceFound | None = None


BATCHES: Final = Operation("batches", BatchesWanted, BatchProgress, BatchFit)
BENCH: Final = Operation("bench", BenchWanted, BenchProgress, Bench)
PREDICT: Final = Operation("predict", PredictionWanted, Nothing, PredictionAnswer)
PRETRAINED: Final = Operation("pretrained", Nothing, Nothing, PretrainedFound)
POWER: Final = Operation("power", PowerWanted, Nothing, Nothing)
TRACES: Final = Operation("traces", TracesWanted, TraceDoing, TracesFound)

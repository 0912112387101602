"""A profiler's trace of some training steps: its request, its record, what it says."""

from typing import Annotated

from pydantic import Field

from gpupanel.domain.problem import Problem
from gpupanel.domain.value import GREATEST_COUNT, Count, Value

MOST_TRACED_STEPS = 1_000
"""Each holds an event for every operation: of 1,000 steps the file of a large network has 1 GiB."""
DEFAULT_TRACED_STEPS = 10
MOST_OPERATIONS = 10
"""The most expensive ones of a device that are listed."""

_Seconds = Annotated[float, Field(ge=0.0, le=1e9)]


class TraceRequest(Value):
    """What stands in the file ``requests/trace``.

    Attributes:
        steps: How many steps are traced: at least so many, where one call of TensorFlow does more.
        process: Whose: its place in the plan's gang.
        seconds: How long instead, for a process that counts no steps: a worker of a
            parameter-server run does what its coordinator says.
    """

    steps: Annotated[int, Field(gt=0, le=MOST_TRACED_STEPS)] = DEFAULT_TRACED_STEPS
    process: Count = 0
    seconds: Annotated[float, Field(gt=0.0, le=600.0)] | None = None


class TraceRecord(Value):
    """What was traced: the file ``trace.json`` beside it, written last.

    Attributes:
        time_s: When it ended, seconds since the epoch (UTC).
        process: Whose it is: its place in the plan's gang.
        first_step: Updates done before it began; ``None``: the process counts none.
        steps: Updates that it holds; ``None`` likewise.
        seconds: How long it lasted.
        problem: Why there is none.
        missing_cupti: The library by which TensorFlow's profiler traces GPUs, where it does not
            find it (``libcupti.so.12``); empty: it does, or needs none, or that is not known.
        cupti_error: What CUPTI failed with, by its name; empty: nothing that is known.
    """

    time_s: float
    process: Count = 0
    first_step: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    steps: Annotated[int, Field(gt=0, le=GREATEST_COUNT)] | None = None
    seconds: _Seconds
    problem: Problem | None = None
    missing_cupti: Annotated[str, Field(pattern=r"^(libcupti\.so\.[0-9]{1,4})?$")] = ""
    cupti_error: Annotated[str, Field(pattern=r"^(CUPTI_ERROR_[A-Z0-9_]{1,64})?$")] = ""


class TracedOperation(Value):
    """One operation of the graph, all its executions together.

    Attributes:
        name: As TensorFlow names it, with the names of its layers:
            ``sequential/conv2d/Conv2D``.
        kind: What it computes: ``Conv2D``.
        seconds: On this device, without operations inside it.
        count: How often it was executed.
    """

    name: str
    kind: str
    seconds: _Seconds
    count: Count


class TracedDevice(Value):
    """What a device did during a trace.

    Attributes:
        name: As TensorFlow names it in its process (``/device:GPU:0``); ``/host:CPU`` for what
            the CPU did where GPUs compute.
        replica: Whose operations these are, counted within the process; ``None``: of all.
        seconds: Of all operations together; those of several streams or threads add up.
        operation_count: How many different operations there were.
        operations: The most expensive ones.
    """

    name: str
    replica: Count | None = None
    seconds: _Seconds
    operation_count: Count
    operations: tuple[TracedOperation, ...]


class TraceAnswer(Value):
    """What a trace says of each device.

    Attributes:
        notes: What the profiler could not trace, in its own words.
    """

    devices: tuple[TracedDevice, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

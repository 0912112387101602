"""Which operations a trace of TensorFlow's profiler holds, and what each cost on which device.

A trace is an ``XSpace`` (``tsl/profiler/protobuf/xplane.proto``): a plane for each GPU and one for
the host, with a line for each stream or thread, with the events of it. An operation that the host
carried out is an event ``name:kind`` of a thread; a kernel on a GPU names the operation that
launched it in its statistic ``tf_op``, and one that XLA made in ``hlo_op``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XEvent, XLine, XPlane, XSpace

from gpupanel.domain.trace import MOST_OPERATIONS, TracedDevice, TracedOperation
from gpupanel.domain.visible_text import visible_line

HOST: Final = "/host:CPU"
_GPU: Final = re.compile(r"/device:GPU:\d+")
_OPERATION: Final = re.compile(r"(?P<name>[A-Za-z0-9_.\-/>]+):(?P<kind>[A-Za-z_][A-Za-z0-9_]*)")
_SERVICE: Final = "EagerService"
"""Of TensorFlow's server: its events look like operations, and last as long as those in them."""
_DERIVED: Final = frozenset(
    {
        "Steps",
        "Framework Name Scope",
        "Framework Ops",
        "XLA Modules",
        "XLA Ops",
        "Async XLA Ops",
        "Launch Stats",
        "Source code",
    }
)
"""Lines of a GPU that only sum up others (``tsl/profiler/utils/xplane_schema.cc``)."""
_PS_A_SECOND: Final = 1e12
_LOOP: Final = re.compile(r"while/body/_\d+/")
_REPLICA: Final = re.compile(r"replica_(\d+)")
_UPDATE: Final = re.compile(r"update_(\d+)(_\d+)?")
"""The scope of what updates the copy of a variable on that replica."""
_MARK: Final = re.compile(r"_\d+")
"""A last part that TensorFlow's optimisation of the graph adds."""
_LONGEST_NAME: Final = 512
_MOST_DEVICES: Final = 64
_MOST_NOTES: Final = 20
_LONGEST_PS: Final = 10**18
_MOST_SECONDS: Final = 1e9
"""The file may be a stranger's."""


@dataclass(frozen=True, slots=True)
class _Executed:
    """One execution of an operation."""

    name: str
    kind: str
    picoseconds: int
    replica: int = 0


def traced_devices(space: XSpace) -> tuple[TracedDevice, ...]:
    """What each device did, in the order of their names; those that did nothing are left out.

    Where no GPU computed, the host's operations are listed for each replica that they belong to.
    """
    gpus = sorted(
        (plane for plane in space.planes if _GPU.fullmatch(plane.name)), key=lambda it: it.name
    )
    devices = [_device(plane.name, _of_gpu(plane)) for plane in gpus]
    host = list(
        chain.from_iterable(_of_host(plane) for plane in space.planes if plane.name == HOST)
    )
    if any(device.operations for device in devices):
        devices.append(_device(HOST, host))
    else:
        for replica in sorted({each.replica for each in host}):
            own = [each for each in host if each.replica == replica]
            devices.append(_device(HOST, own, replica))
    return tuple(device for device in devices if device.operations)[:_MOST_DEVICES]


def notes_of(space: XSpace) -> tuple[str, ...]:
    """What the profiler could not trace, in its own words."""
    notes = (*space.errors, *space.warnings)[:_MOST_NOTES]
    return tuple(visible_line(note[:_LONGEST_NAME]) for note in notes)


def shown_name(name: str) -> str:
    """The name without what is the same for all: the loop over steps, replicas, their marks."""
    parts = _LOOP.sub("", name).split("/")
    if len(parts) > 1 and _MARK.fullmatch(parts[-1]):
        parts.pop()
    kept = [part for part in parts if part != "while" and not _REPLICA.fullmatch(part)]
    return visible_line("/".join(kept or parts)[:_LONGEST_NAME])


def _device(name: str, executed: Iterable[_Executed], replica: int | None = None) -> TracedDevice:
    seconds: dict[tuple[str, str], float] = {}
    counts: dict[tuple[str, str], int] = {}
    for each in executed:
        key = (shown_name(each.name), each.kind)
        seconds[key] = seconds.get(key, 0.0) + each.picoseconds / _PS_A_SECOND
        counts[key] = counts.get(key, 0) + 1
    dearest = sorted(seconds, key=lambda key: (-seconds[key], key))[:MOST_OPERATIONS]
    return TracedDevice(
        name=name,
        replica=replica,
        seconds=min(sum(seconds.values()), _MOST_SECONDS),
        operation_count=len(seconds),
        operations=tuple(
            TracedOperation(
                name=key[0],
                kind=key[1],
                seconds=min(seconds[key], _MOST_SECONDS),
                count=counts[key],
            )
            for key in dearest
        ),
    )


def _of_gpu(plane: XPlane) -> Iterator[_Executed]:
    statistics = {key: value.name for key, value in plane.stat_metadata.items()}
    for line in plane.lines:
        if line.name in _DERIVED:
            continue
        for event in line.events:
            kernel = plane.event_metadata[event.metadata_id].name
            named = _texts(event, statistics)
            launched_by = named.get("tf_op") or named.get("hlo_op") or kernel
            name, _, kind = launched_by.rpartition(":")
            took_ps = _bounded(event.duration_ps)
            yield _Executed(name or launched_by, kind if name else kernel, took_ps)


def _texts(event: XEvent, statistics: Mapping[int, str]) -> dict[str, str]:
    return {
        statistics.get(each.metadata_id, ""): each.str_value or statistics.get(each.ref_value, "")
        for each in event.stats
    }


def _of_host(plane: XPlane) -> Iterator[_Executed]:
    found = {key: _OPERATION.fullmatch(each.name) for key, each in plane.event_metadata.items()}
    operations = {
        key: match
        for key, match in found.items()
        if match is not None and match["name"] != _SERVICE
    }
    for line in plane.lines:
        for event, own_ps in _own_times(line, operations):
            match = operations[event.metadata_id]
            name = match["name"]
            yield _Executed(name, match["kind"], own_ps, _replica(name))


def _own_times(line: XLine, operations: Mapping[int, object]) -> Iterator[tuple[XEvent, int]]:
    """Each operation of a thread, with how long it took without those inside it."""
    events = [event for event in line.events if event.metadata_id in operations]
    # Of two that begin together the longer one is the outer one.
    events.sort(key=lambda event: (event.offset_ps, -event.duration_ps))
    own = [event.duration_ps for event in events]
    open_events: list[int] = []
    for place, event in enumerate(events):
        while open_events and _end(events[open_events[-1]]) <= event.offset_ps:
            open_events.pop()
        if open_events:
            own[open_events[-1]] -= event.duration_ps
        open_events.append(place)
    for event, own_ps in zip(events, own, strict=True):
        yield event, _bounded(own_ps)


def _bounded(picoseconds: int) -> int:
    return min(max(0, picoseconds), _LONGEST_PS)


def _end(event: XEvent) -> int:
    return int(event.offset_ps + event.duration_ps)


def _replica(name: str) -> int:
    """The replica that an operation belongs to, by its scope: the first one has none."""
    for part in name.split("/"):
        found = _REPLICA.fullmatch(part) or _UPDATE.fullmatch(part)
        if found is not None:
            return int(found[1])
    return 0

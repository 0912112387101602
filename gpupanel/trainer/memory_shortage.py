"""What a process asked for when it ran out of memory, read from TensorFlow's words and log.

TensorFlow 2.21 says so in these places:

- ``tensorflow/core/framework/op_kernel.cc``, ``OpKernelContext::allocate_tensor``: a
  ``ResourceExhaustedError`` "OOM when allocating tensor with shape[64,4096] and type float on
  /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"; ``allocate_temp`` says
  "temporary tensor with shape", and other places "tensor of shape";
- ``tensorflow/core/common_runtime/copy_tensor.cc`` and the rendezvous: an ``InternalError`` "Dst
  tensor is not initialized." where there was no room to copy a tensor to, before which
  ``eager/execute.cc`` puts "Failed copying input tensor from .../device:GPU:0 to .../device:GPU:1
  in order to run AddV2: ": the second one is full;
- ``tensorflow/core/common_runtime/rendezvous_mgr.cc``, ``SameWorkerRecvDone``: a
  ``ResourceExhaustedError`` "SameWorkerRecvDone unable to allocate output tensor. Key:
  .../device:CPU:0;1f2e;.../device:GPU:0;edge_9_x;0:0" within a graph, whose key
  (``Rendezvous::CreateKey``) has the sending device first: the receiving one is full;
- ``xla/tsl/framework/bfc_allocator.cc``, ``AllocateRawInternal`` and ``DumpMemoryLog``: "Allocator
  (GPU_0_bfc) ran out of memory trying to allocate 1.25GiB (rounded to 1342177280)requested by op
  MatMul" and "BFCAllocator dump for GPU_0_bfc" in the log, and at the end of the dump "Stats:" with
  a line each for ``Limit``, ``InUse`` and others (``AllocatorStats::DebugString`` in
  ``xla/tsl/framework/allocator.cc``: sizes for people since 2.20, plain bytes before).
"""

import errno
import math
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.events import MemoryExhausted
from gpupanel.files.file_obstacles import is_of_files
from gpupanel.files.guarded_files import open_to_read
from gpupanel.files.process_limits import address_space_limit
from gpupanel.files.process_log import write_to_process_log
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.file_errors import chain
from gpupanel.trainer.started_run import StartedRun

_TENSOR: Final = re.compile(
    r"OOM when allocating (?:temporary )?tensor (?:with|of) shape ?\[(?P<shape>[\d,]*)\]"
    r" and type (?P<type>\w+)"
)
_DEVICE: Final = re.compile(r"device:(?P<kind>[A-Z]+):(?P<index>\d+)")
_ON_DEVICE: Final = re.compile(r"on \S*device:(?P<kind>[A-Z]+):(?P<index>\d+) by allocator")
_TO_DEVICE: Final = re.compile(
    r"[Ff]ailed copying .*? to \S*device:(?P<kind>[A-Z]+):(?P<index>\d+)"
)
_RECEIVED_ON: Final = re.compile(
    r"unable to allocate output tensor\. Key: [^;]*;[^;]*;"
    r"[^;]*device:(?P<kind>[A-Z]+):(?P<index>\d+);"
)
_ALLOCATOR: Final = re.compile(r"by allocator (?P<name>\S+)")
_GPU_ALLOCATOR: Final = re.compile(r"GPU_(?P<index>\d+)_bfc")
_ARRAY: Final = re.compile(
    r"Unable to allocate (?P<size>[\d.]+ \w+) for an array with shape \((?P<shape>[\d, ]*)\)"
    r" and data type (?P<type>\w+)"
)
_NOT_COPIED: Final = "Dst tensor is not initialized"
_MESSAGE_TOO_LONG: Final = "larger than max"
"""gRPC's ``RESOURCE_EXHAUSTED`` for a message beyond its own limit: no memory is missing."""

_NOT_MAPPED: Final = (
    "failed to map segment from shared object",
    "cannot map zero-fill pages",
    "std::bad_alloc",
)
"""glibc's loader (elf/dl-load.h, dl-map-segments.h), as an ImportError, and the C++ library's."""
_NO_THREAD: Final = "can't start new thread"
"""Python's (Modules/_threadmodule.c), whatever there was not enough of."""
_NO_PRIMITIVE: Final = ("could not create a primitive", "could not execute a primitive")
"""oneDNN's (src/cpu, through TensorFlow's ``mkl_*_op.cc``), seen where it got no memory."""

_BYTES_OF_TYPE: Final = {
    **dict.fromkeys(("bool", "int8", "uint8", "qint8", "quint8"), 1),
    **dict.fromkeys(("half", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float", "int32", "uint32"), 4),
    **dict.fromkeys(("double", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}
"""Names by ``DataTypeString`` in ``tensorflow/core/framework/types.cc``."""

_ASKED: Final = re.compile(
    r"Allocator \((?P<name>[^)]+)\) ran out of memory trying to allocate "
    r"\S+ ?\(rounded to (?P<asked>\d+)\)"
    r"|BFCAllocator dump for (?P<dumped>\S+)"
    r"|Stats: *\n *Limit: +(?P<limit>\S+)\n *InUse: +(?P<held>\S+)"
)
_SIZE: Final = re.compile(r"(?P<number>[\d.]+) ?(?P<unit>[KMGTPE]?)i?B?(?:ytes)?")
_UNITS: Final = {unit: 1024**power for power, unit in enumerate(("", *"KMGTPE"))}
_MOST_LOG_BYTES: Final = 8 * 2**20
"""A dump has a line for each piece of memory; what is asked for stands at its beginning."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception, or what it came from, says that there was not enough memory."""
    return any(_is_shortage(cause) for cause in chain(error))


def report_shortage(run: StartedRun, events: EventWriter, error: BaseException) -> None:
    """Report what a process asked for that fails for lack of memory; nothing for other failures.

    A disk without space leaves the report to the last word and the log.
    """
    cause = next((cause for cause in chain(error) if _is_shortage(cause)), None)
    if cause is None:
        return
    try:
        events.write(read_shortage(cause, run))
    except OSError as failure:
        write_to_process_log(f"What was asked for could not be reported: {failure}")


def read_shortage(error: BaseException, run: StartedRun) -> MemoryExhausted:
    """What was asked for, of which device, and what was held of it then, as far as it is known."""
    message = str(error)
    array, tensor = _ARRAY.search(message), _TENSOR.search(message)
    wanted = tensor or array
    shape = _shape(wanted["shape"]) if wanted else None
    of_type = wanted["type"] if wanted else None
    logical = full_device(message)
    log = run.layout.process_log(run.place)
    said = _in_log(log, _allocator_of(message, logical))
    if logical is None and (gpu := _GPU_ALLOCATOR.fullmatch(said.allocator)):
        logical = f"/device:GPU:{gpu['index']}"
    asked = _bytes_of(array["size"]) if array else _tensor_bytes(shape, of_type)
    return MemoryExhausted(
        time_s=time.time(),
        process=run.place,
        device_key=CPU_KEY if _is_of_host(error) else _owner(run, logical),
        logical_device=logical,
        asked_bytes=asked if asked is not None else said.asked_bytes,
        tensor_shape=shape,
        tensor_type=of_type,
        limit_bytes=said.limit_bytes,
        held_bytes=said.held_bytes,
    )


def full_device(message: str) -> str | None:
    """The logical device whose memory was not enough, as far as TensorFlow's words name it.

    Args:
        message: Of the error. Where a tensor could not be copied it names two devices, and the
            one that the tensor was to be copied to is full.
    """
    if _NOT_COPIED in message:
        found = _TO_DEVICE.search(message)
    else:
        where = (_ON_DEVICE, _RECEIVED_ON, _DEVICE)
        found = next(filter(None, (words.search(message) for words in where)), None)
    return f"/device:{found['kind']}:{found['index']}" if found else None


def _allocator_of(message: str, logical: str | None) -> str | None:
    """What the log calls the allocator that refused; ``None``: not known."""
    if named := _ALLOCATOR.search(message):
        return named["name"]
    if logical is not None and ":GPU:" in logical:
        return f"GPU_{logical.rsplit(':', 1)[1]}_bfc"
    return None


@dataclass(frozen=True, slots=True)
class _Said:
    """What the log says of an allocator when it had nothing more to give."""

    allocator: str = ""
    asked_bytes: int | None = None
    limit_bytes: int | None = None
    held_bytes: int | None = None


def _in_log(path: Path, allocator: str | None) -> _Said:
    """The last word of that allocator; where none is named, of the only one that has said it."""
    said: dict[str, _Said] = {}
    asked: dict[str, int] = {}
    dumping: list[str] = []
    for found in _ASKED.finditer(_log_end(path)):
        if found["name"]:
            asked[found["name"]] = int(found["asked"])
        elif found["dumped"]:
            dumping.append(found["dumped"])
        else:
            # Two at once write between each other's lines: whose numbers these are is not known.
            if len(set(dumping)) == 1:
                limit, held = _bytes_of(found["limit"]), _bytes_of(found["held"])
                name = dumping[0]
                said[name] = _Said(name, asked.get(name), limit or None, held)
            dumping.clear()
    if allocator is None:
        # Only one allocator has refused anything, whether its dump is mixed with others or not.
        if len(asked) != 1:
            return next(iter(said.values())) if len(said) == 1 else _Said()
        (allocator,) = asked
    return said.get(allocator, _Said(allocator, asked.get(allocator)))


def _log_end(path: Path) -> str:
    try:
        with open_to_read(path) as file:
            file.seek(max(0, file.seek(0, 2) - _MOST_LOG_BYTES))
            return file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""


def _owner(run: StartedRun, logical: str | None) -> str | None:
    """The physical device that a logical one of this process is on; ``None``: not known."""
    devices = run.process.devices
    if logical is None:
        return devices[0].key if len(devices) == 1 else None
    if ":GPU:" not in logical:
        return CPU_KEY  # the host's, also where the run uses GPUs
    index, gpus = int(logical.rsplit(":", 1)[1]), run.process.logical_gpus
    return gpus[index] if index < len(gpus) else None


def _shape(words: str) -> tuple[int, ...]:
    return tuple(int(size) for size in words.replace(" ", "").split(",") if size)


def _tensor_bytes(shape: tuple[int, ...] | None, of_type: str | None) -> int | None:
    each = _BYTES_OF_TYPE.get(of_type or "")
    return None if shape is None or each is None else math.prod(shape) * each


def _bytes_of(words: str) -> int | None:
    """A size as TensorFlow or NumPy writes it for people ("1.25GiB", "4.00 GiB"), or in bytes."""
    found = _SIZE.fullmatch(words)
    if not found:
        return None
    try:
        return int(float(found["number"]) * _UNITS[found["unit"]])
    except ValueError:
        return None


def _is_shortage(error: BaseException) -> bool:
    if _is_of_host(error) or _NOT_COPIED in str(error):
        return True
    # TensorFlow's errors are known by their names, so that TensorFlow need not be there.
    exhausted = type(error).__name__ == "ResourceExhaustedError"
    return exhausted and _MESSAGE_TOO_LONG not in str(error) and not is_of_files(error)


def _is_of_host(error: BaseException) -> bool:
    """Whether Python, a library's loader or the system says that the host's memory is used up."""
    if isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno == errno.ENOMEM
    ):
        return True
    if _NO_THREAD in str(error):
        # A thread wants room for its stack; without a limit on that it is threads that lack.
        return isinstance(error, RuntimeError) and address_space_limit() is not None
    if any(words in str(error) for words in _NO_PRIMITIVE):
        return address_space_limit() is not None
    return any(words in str(error) for words in _NOT_MAPPED)

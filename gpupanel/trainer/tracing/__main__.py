"""``python -m gpupanel.trainer.tracing RUN TRACE``: what a trace says of each device.

Of the folder of a trace in a run's folder a :class:`~gpupanel.domain.trace.TraceAnswer` is written
to standard output. The trace may be a stranger's: only
regular files of the run's folder are read, up to a size, and none of it is executed.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import Problem
from gpupanel.domain.trace import TraceAnswer
from gpupanel.files.guarded_files import read_file
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.quick_import import quick_import

_MOST_BYTES: Final = 2**30
"""Protocol buffers hold 2 GiB at most, and need some times the memory."""
_SUFFIX: Final = ".xplane.pb"
_MOST_ENTRIES: Final = 1_000


def answer(root: Path, folder: Path) -> TraceAnswer:
    """What the trace in a folder of a run says, or why it cannot be read."""
    with quick_import():
        from google.protobuf.message import DecodeError
        from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    from gpupanel.trainer.tracing.operations import notes_of, traced_devices

    space = XSpace()
    try:
        for path in _files(folder):
            space.MergeFromString(read_file(path, root, _MOST_BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return TraceAnswer(problems=(_EMPTY,))
    except DecodeError as error:
        return TraceAnswer(problems=(_DAMAGED.model_copy(update={"detail": str(error)}),))
    except Exception as error:  # noqa: BLE001 - too large, unsafe, unreadable, or not enough memory for it
        return TraceAnswer(problems=problems_of(error, what="Reading the trace"))
    devices = traced_devices(space)
    if not devices:
        return TraceAnswer(notes=notes_of(space), problems=(_EMPTY,))
    return TraceAnswer(devices=devices, notes=notes_of(space))


def _files(folder: Path) -> Iterator[Path]:
    """The files that TensorFlow wrote: ``plugins/profile/<moment>/<host>.xplane.pb``."""
    left = _MOST_ENTRIES
    for moment in sorted((folder / "plugins" / "profile").iterdir()):
        for path in sorted(moment.iterdir()):
            left -= 1
            if left < 0:
                return
            if path.name.endswith(_SUFFIX):
                yield path


_EMPTY: Final = Problem(
    code="trace_empty",
    message="The trace holds no operation: the profiler saw none, or its file is gone.",
    hint="Take another one of more steps.",
)

_DAMAGED: Final = Problem(
    code="trace_damaged",
    message="The trace cannot be read: its file is damaged.",
    hint="Take another one; a full disk may have cut this one short.",
)


def main() -> int:
    """Answer about the folders that are given as arguments."""
    root, folder = map(Path, sys.argv[1:])
    sys.stdout.write(answer(root, folder).model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())

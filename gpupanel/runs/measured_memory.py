"""Remembers what trying batches has shown of the memory estimate, for the same model here.

One small file in the state directory. It is ours, but may be damaged, or come with somebody else's
home folder: it is read without following links, up to a size, and what it says only moves an
estimate within bounds. Whatever is wrong with it, nothing is remembered then.
"""

import hashlib
import json
import logging
from typing import Annotated, Final

from pydantic import Field, ValidationError

from gpupanel.devices.packages import tensorflow_package
from gpupanel.domain.model_summary import SummaryRequest
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.step_memory import MeasuredStep, StepMemory
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import read_file
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.locations import measured_memory_file

_MOST_BYTES: Final = 256 * 2**10
_MOST_ENTRIES: Final = 200
_OF_NO_MEASUREMENT: Final = {"measured": (), "layers": ()}
"""What of a step does not say which it is: layers are looked at only sometimes."""
_LOG = logging.getLogger(__name__)


class _Entry(Value):
    """What was measured with one model.

    Attributes:
        step: A digest of model, precision and what is estimated of a step.
        tensorflow: The version that it was measured with.
    """

    step: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    tensorflow: Annotated[str, Field(max_length=100)]
    measured: MeasuredStep


class _Entries(Value):
    entries: Annotated[tuple[_Entry, ...], Field(max_length=_MOST_ENTRIES)] = ()


def with_measured(request: SummaryRequest, step: StepMemory) -> StepMemory:
    """The estimate of a step, with what is remembered of it."""
    digest, version = _digest(request, step), _tensorflow()
    found = tuple(
        each.measured for each in _read() if (each.step, each.tensorflow) == (digest, version)
    )
    return step.model_copy(update={"measured": found})


def remember_measured(request: SummaryRequest, step: StepMemory, measured: MeasuredStep) -> None:
    """Note what was measured; a disk that takes nothing costs no more than the note."""
    entry = _Entry(step=_digest(request, step), tensorflow=_tensorflow(), measured=measured)
    others = tuple(each for each in _read() if _place(each) != _place(entry))
    kept = _Entries(entries=(entry, *others)[:_MOST_ENTRIES])
    try:
        file = measured_memory_file()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(file, kept.model_dump_json(), private=True)
    except (OSError, ProblemError) as error:
        _LOG.debug("What was measured of memory is not remembered: %s", error)


def _place(entry: _Entry) -> tuple[str, str, str, bool]:
    measured = entry.measured
    return entry.step, entry.tensorflow, measured.device, measured.jit_compile


def _read() -> tuple[_Entry, ...]:
    try:
        file = measured_memory_file()
        content = read_file(file, file.parent, _MOST_BYTES)
        return _Entries.model_validate_json(content).entries
    except FileNotFoundError:
        return ()
    except (OSError, ProblemError, ValidationError) as error:
        _LOG.debug("What was measured of memory cannot be read: %s", error)
        return ()


def _digest(request: SummaryRequest, step: StepMemory) -> str:
    depends_on = {
        "model": request.model.model_dump(mode="json"),
        "mixed_precision": request.mixed_precision,
        "step": step.model_copy(update=_OF_NO_MEASUREMENT).model_dump(mode="json"),
    }
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()


def _tensorflow() -> str:
    return " ".join(tensorflow_package() or ("none", ""))

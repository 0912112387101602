"""How processes on other nodes hand a model's outputs to the one that leads: by files of the run.

They see the run's folder, and need no connection to each other. Each appends the outputs of its
rows in input order to a file of its own, behind a line that says what they were computed from.
"""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from pydantic import ValidationError

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import open_to_append, open_to_read
from gpupanel.trainer.inference.examples import InferenceExamples
from gpupanel.trainer.parts.output_meaning import Floats

_LOOK_S: Final = 0.05
_WRITE_S: Final = 0.2
"""A file of a network's file system takes some milliseconds to be opened and closed."""
_LONGEST_LINE: Final = 1024


class Origin(Value):
    """What outputs were computed from, so that no two nodes take different files for the same.

    Attributes:
        examples: How many.
        labels: Digest of which examples they are, and of their labels.
        model: Digest of the model's file.
        outputs: Numbers an example.
    """

    examples: int
    labels: str
    model: str
    outputs: int


def origin_of(examples: InferenceExamples, model_path: str, outputs: int) -> Origin:
    """The origin of what this process computes.

    Raises:
        OSError: The model's file cannot be read.
    """
    known = hashlib.sha256(examples.indices.tobytes())
    if examples.labels is not None:
        known.update(examples.labels.tobytes())
    with Path(model_path).open("rb") as file:
        model = hashlib.file_digest(file, "sha256").hexdigest()
    return Origin(examples=len(examples), labels=known.hexdigest(), model=model, outputs=outputs)


class OutputsWriter:
    """Appends the outputs of this process.

    Args:
        path: Its file; there is none yet.
        origin: What they are computed from.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, path: Path, origin: Origin) -> None:
        self._path = path
        self._waiting = bytearray(origin.model_dump_json().encode() + b"\n")
        self._written_s = time.monotonic()
        self.flush()

    def add(self, outputs: Floats) -> None:
        """Append some rows, shape [examples, outputs], soon.

        Raises:
            OSError: They cannot be written.
        """
        self._waiting += np.ascontiguousarray(outputs, np.dtype("<f4")).tobytes()
        if time.monotonic() - self._written_s > _WRITE_S:
            self.flush()

    def flush(self) -> None:
        """Append what waits.

        Raises:
            OSError: It cannot be written.
        """
        # Opened each time: other machines see what is in a file of NFS once it was closed.
        descriptor = open_to_append(self._path)
        try:
            left = memoryview(self._waiting)
            while left:
                left = left[os.write(descriptor, left) :]
        finally:
            os.close(descriptor)
        self._waiting = bytearray()
        self._written_s = time.monotonic()


class OutputsReader:
    """Takes the outputs of another process, in the order in which it appends them.

    Args:
        path: Its file, which may not be there yet.
        process: The name of the process, for people.
        origin: What they should be computed from.
        wait: Called again and again while there are not enough of them; it may raise.
    """

    def __init__(
        self, path: Path, process: str, origin: Origin, wait: Callable[[], object]
    ) -> None:
        self._path = path
        self._process = process
        self._origin = origin
        self._wait = wait
        self._offset = 0

    def take(self, rows: int) -> Floats:
        """The next rows, shape [rows, outputs].

        Raises:
            OSError: The file cannot be read.
            ProblemError: They were computed from something else.
        """
        if not self._offset:
            self._check()
        wanted = rows * self._origin.outputs * 4
        content = b""
        while len(content) < wanted:
            content += self._read(wanted - len(content))
            if len(content) < wanted:
                self._pause()
        found = np.frombuffer(content, np.dtype("<f4")).astype(np.float32)
        return found.reshape(rows, self._origin.outputs)

    def _check(self) -> None:
        line, end, _ = self._read(_LONGEST_LINE).partition(b"\n")
        while not end:
            self._offset = 0
            self._pause()
            line, end, _ = self._read(_LONGEST_LINE).partition(b"\n")
        self._offset = len(line + end)
        try:
            found = Origin.model_validate_json(line)
        except ValidationError:
            found = None
        if found != self._origin:
            raise _computed_from_others(self._process, self._origin, found)

    def _read(self, most_bytes: int) -> bytes:
        try:
            with open_to_read(self._path) as file:
                file.seek(self._offset)
                content = file.read(most_bytes)
        except FileNotFoundError:
            return b""
        self._offset += len(content)
        return content

    def _pause(self) -> None:
        self._wait()
        time.sleep(_LOOK_S)


def _computed_from_others(process: str, own: Origin, other: Origin | None) -> ProblemError:
    what, field = "other data", "data.path"
    if other is not None and other.model != own.model:
        what, field = "another model", "model.path"
    return ProblemError(
        Problem(
            code="nodes_have_other_files",
            field=field,
            message=f"{process[:1].upper()}{process[1:]} has {what} than the first one, under "
            "the same path: outputs of both would be mixed.",
            hint="Keep data and model in a folder that every node has under the same path, or "
            "copy the same files to every node.",
        )
    )

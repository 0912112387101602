"""Predictions that are arrays, as a file: complete or not at all, and never all in memory."""

import math
import shutil
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

import numpy as np

from gpupanel.files.guarded_files import open_to_write, remove
from gpupanel.files.whole_files import whole_file
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.parts.output_meaning import Floats

INDEX: Final = "index"
OUTPUT_NAMES: Final = "output_names"
RESERVED_NAMES: Final = (INDEX, OUTPUT_NAMES)
"""Arrays of the file that are no outputs."""
_NUMBERS: Final = np.dtype("<f4")


class ArrayPredictions:
    """Keeps each output beside the file as it comes, and joins them at the end.

    An archive holds one array after the other, and examples come with all outputs of each. What was
    kept beside is removed when the block ends.
    """

    def __init__(self, path: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Writes nothing yet.

        Args:
            path: The ``.npz`` file, in a run's folder.
            shapes: Of the outputs for one example by their names, in the order of a row.
        """
        self._path, self._shapes = path, shapes
        self._count = 0
        self._parts: dict[str, IO[bytes]] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            for place, name in enumerate(self._shapes):
                beside = self._path.with_name(f".partial-{place}-{self._path.name}")
                opened.callback(remove, beside)
                self._parts[name] = opened.enter_context(open_to_write(beside))
            self._open = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def add(self, rows: Floats) -> None:
        """Keep what was given for the next examples.

        Args:
            rows: Shape [examples, numbers]: all outputs of each in a row.

        Raises:
            OSError: It cannot be written.
        """
        start = 0
        for name, shape in self._shapes.items():
            end = start + math.prod(shape)
            self._parts[name].write(rows[:, start:end].astype(_NUMBERS).tobytes())
            start = end
        self._count += len(rows)

    def save(self, indices: Indices) -> None:
        """Write the file.

        Args:
            indices: Position of each example in the source.

        Raises:
            OSError: It cannot be written; nothing of it is left then.
        """
        with whole_file(self._path, private=True) as file, zipfile.ZipFile(file, "w") as archive:
            _write_member(archive, INDEX, indices)
            _write_member(archive, OUTPUT_NAMES, np.asarray(list(self._shapes)))
            for name, shape in self._shapes.items():
                part = self._parts[name]
                part.seek(0)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    said = {"shape": (self._count, *shape), "fortran_order": False}
                    np.lib.format.write_array_header_1_0(member, {**said, "descr": _NUMBERS.str})
                    shutil.copyfileobj(part, member)


def _write_member(archive: zipfile.ZipFile, name: str, array: Array) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, allow_pickle=False)

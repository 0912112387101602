"""A process that reads data into memory and divides it, as a training does before its first step.

Prints, as JSON, how many bytes the features have and by how many its memory grew at the most.
"""

import gc
import json
import sys
from pathlib import Path

import numpy as np

from gpupanel.domain.data import DataCache, DataSettings, ImagesData, NpzData, TableData, TextData
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.fingerprint import take_fingerprint
from gpupanel.trainer.datasets.learned_from import known_content
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.models.scaling import RowsOf
from gpupanel.trainer.parts.statistics import statistics

HELD_OUT = 0.2


def data_of(kind: str, path: Path) -> DataSettings:
    """The data of that kind, all of it in memory."""
    shared = {"path": str(path), "cache": DataCache.MEMORY, "validation_fraction": HELD_OUT}
    match kind:
        case "images":
            return ImagesData(image_size=(256, 256), **shared)
        case "table":
            return TableData(target="y", **shared)
        case "texts":
            return TextData(length=512, **shared)
        case _:
            return NpzData(**shared)


def peak_bytes() -> int:
    """The most memory of this process since :func:`begin`, or since it started."""
    (line,) = (
        each for each in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in each
    )
    return int(line.split()[1]) * 1024


def begin() -> int:
    """Forget how much there was; the bytes that there are now."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def features_bytes(data: DataSet) -> int:
    """What the features of its training examples take."""
    features = data.training.features
    return int(np.prod(features.shape)) * features.dtype.itemsize


def main() -> None:
    """Read what is named, and say what it took."""
    data = data_of(sys.argv[1], Path(sys.argv[2]))
    before = begin()
    found = read_data(data, Reading(lambda *_: None))
    divided = split(found, data, seed=0)
    take_fingerprint(found)
    known_content(found.training.features, divided.training.features)
    statistics(RowsOf(divided.training))
    sys.stdout.write(json.dumps([features_bytes(found), peak_bytes() - before]))


if __name__ == "__main__":
    main()

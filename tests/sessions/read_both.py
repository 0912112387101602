"""Reads data as a run does and as the script does, and says where they differ.

``python read_both.py``: a list of data settings on standard input; on standard output, for each of
them a list of what differs.
"""

import json
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from pydantic import TypeAdapter

from gpupanel.domain.data import DataSettings, PythonData
from gpupanel.planning.script.data_section import data_section
from gpupanel.planning.script.stand_alone import CODE_SECTION
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.split import split
from tests.fakes.checked_files import trusted

SEED = 5
# The caches of tests hold other files than Keras's hashes are of.
keras.src.utils.file_utils.validate_file = lambda *_, **__: True


def differences(data: DataSettings) -> list[str]:
    code = None
    if isinstance(data, PythonData):
        code = trusted("data.path", data.path, Path(data.path))
    parts = split(read_data(data, Reading(print, code=code, seed=SEED)), data, SEED)
    found: dict[str, object] = {"keras": keras, "np": np, "tf": tf, "SEED": SEED}
    exec(f"import os\n{CODE_SECTION}\n{data_section(data)}", found)
    expected: dict[str, object] = {"x": parts.training, "y": parts.training.labels}
    if parts.validation is not None:
        expected |= {"x_val": parts.validation, "y_val": parts.validation.labels}
    if parts.test is not None:
        expected |= {"x_test": parts.test, "y_test": parts.test.labels}
    if parts.data.class_names:
        expected["class_count"] = len(parts.data.class_names)
    return [name for name, value in expected.items() if not same(found[name], value)]


def same(found: object, expected: object) -> bool:
    if hasattr(expected, "read"):
        expected = expected.read(np.arange(len(expected), dtype=np.int32))
    found = np.asarray(found[:] if hasattr(found, "paths") else found)
    expected = np.asarray(expected)
    return (
        found.shape == expected.shape
        and bool((found == expected).all())
        and (not found.shape or found.dtype == expected.dtype)
    )


asked = TypeAdapter(list[DataSettings]).validate_json(sys.stdin.read())
print(json.dumps([differences(data) for data in asked]))

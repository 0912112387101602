"""Examples that Python code of the person's own loads; see ``PythonData`` in the domain."""

import random
from collections.abc import Mapping

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import PythonData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.python_sets import LoadedSets, load_misfit
from gpupanel.trainer.datasets.source import Reading, Source
from gpupanel.trainer.parts.loaded_parts import PARTS_OF_DATA, parts_by_name
from gpupanel.trainer.user_code import RunCode

_NOT_CARRIED_OUT = Problem(
    code="code_not_carried_out",
    field="data.path",
    message="What Python code loads is known only when a run executes it.",
    hint="Start a run.",
)


def read_python_data(
    data: PythonData, code: RunCode, seed: int, *, must_differ: bool = True
) -> DataSet:
    """Call the file's ``load`` and check what it gives.

    Args:
        data: Says what the labels are.
        code: The file.
        seed: For ``random`` and ``numpy.random``: each process of a run must get the same.
        must_differ: Refuse training labels that are all of one class.

    Raises:
        ProblemError: What it gives cannot be used.
        Exception: Whatever the code raises.
    """
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - what the person's code may draw from
    loaded = code.function("load")()
    return LoadedSets(data, code, _by_name(loaded, code), must_differ=must_differ).data_set()


def _by_name(loaded: object, code: RunCode) -> Mapping[str, object]:
    parts = parts_by_name(loaded)
    if parts is None:
        raise load_misfit(code, f"it is a {type(loaded).__name__}")
    unknown = [str(key) for key in parts if key not in PARTS_OF_DATA]
    if unknown:
        raise load_misfit(code, f"{', '.join(unknown)} is none of {', '.join(PARTS_OF_DATA)}")
    return parts


class _Python(Source[PythonData]):
    """See :func:`read_python_data`."""

    @override
    def read(self, data: PythonData, reading: Reading) -> DataSet:
        if reading.code is None:
            raise ProblemError(_NOT_CARRIED_OUT)
        return read_python_data(data, reading.code, reading.seed, must_differ=reading.must_differ)


SOURCE = _Python()

"""From data settings to examples: the one way for training and preview."""

from pathlib import Path
from typing import assert_never

from gpupanel.domain.data import (
    DataSettings,
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
)
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.digits import read_digits
from gpupanel.trainer.datasets.download import OnDownload
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.images import read_images
from gpupanel.trainer.datasets.keras_data import read_keras_data
from gpupanel.trainer.datasets.npz import read_npz
from gpupanel.trainer.datasets.python_data import read_python_data
from gpupanel.trainer.user_code import UserCode

_NOT_CARRIED_OUT = Problem(
    code="code_not_carried_out",
    field="data.path",
    message="What Python code loads is known when a run carries it out, and not before.",
    hint="Start a run.",
)


def read_data(
    data: DataSettings,
    on_download: OnDownload,
    cache_dir: Path | None = None,
    code: UserCode | None = None,
    seed: int = 0,
    *,
    must_differ: bool = True,
) -> DataSet:
    """The examples of a source, read and checked.

    Args:
        data: Which source; a path in it is absolute.
        on_download: Told how far a download is.
        cache_dir: A folder that belongs to the run, for ``cache = "disk"``.
        code: What a run has of the Python code that loads the data. Without it none is carried
            out.
        seed: For what that code draws.
        must_differ: Refuse examples that are all of one class: nothing can be learned from them,
            but a trained model can judge them.

    Raises:
        ProblemError: It cannot be used, and why.
    """
    match data:
        case DigitsData():
            return read_digits()
        case KerasData():
            return read_keras_data(data, on_download)
        case NpzData():
            return read_npz(data, must_differ=must_differ)
        case ImagesData():
            return read_images(data, cache_dir, must_differ=must_differ)
        case PythonData():
            if code is None:
                raise ProblemError(_NOT_CARRIED_OUT)
            return read_python_data(data, code, seed, must_differ=must_differ)
    assert_never(data)

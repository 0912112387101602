"""The embedded data: scikit-learn's bundled handwritten digits."""

import gzip
import importlib.util
from pathlib import Path

import numpy as np

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples, Scaling

_FILE = Path("datasets", "data", "digits.csv.gz")
_GREATEST = 16.0


def read_digits() -> DataSet:
    """1,797 pictures of 8x8 pixels with values 0 to 16, ``uint8``, and their digits.

    The file is read where scikit-learn keeps it, as :func:`sklearn.datasets.load_digits` does
    (https://archive.ics.uci.edu/dataset/80), without the second that scikit-learn's import takes.

    Raises:
        ProblemError: scikit-learn is not installed, or without its data.
    """
    path = _path()
    if path is None or not path.is_file():
        raise ProblemError(
            Problem(
                code="data_digits_missing",
                field="data.source",
                message="The embedded digits are missing: scikit-learn, which holds them, is not "
                "installed or not complete.",
                hint="Install it again: pip install --force-reinstall scikit-learn.",
            )
        )
    with gzip.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.uint8)
    return DataSet(
        training=Examples(
            features=np.ascontiguousarray(table[:, :-1]).reshape(-1, 8, 8),
            labels=table[:, -1].astype(np.int32),
        ),
        class_names=tuple(str(digit) for digit in range(10)),
        scaling=Scaling.DIVIDE,
        greatest=_GREATEST,
    )


def _path() -> Path | None:
    # find_spec of a top-level package finds it without importing it.
    spec = importlib.util.find_spec("sklearn")
    places = spec.submodule_search_locations if spec else None
    return Path(places[0]) / _FILE if places else None

"""The data that scikit-learn brings along."""

import importlib.util
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError


def bundled_file(name: str, what: str) -> Path:
    """The file where scikit-learn keeps it, without the second that scikit-learn's import takes.

    Args:
        name: The file's, in ``sklearn/datasets/data``.
        what: The data set, for the words and the code of the problem: ``digits``.

    Raises:
        ProblemError: scikit-learn is not installed, or without its data.
    """
    # find_spec of a top-level package finds it without importing it.
    spec = importlib.util.find_spec("sklearn")
    places = spec.submodule_search_locations if spec else None
    path = Path(places[0], "datasets", "data", name) if places else None
    if path is None or not path.is_file():
        raise ProblemError(
            Problem(
                code=f"data_{what}_missing",
                field="data.source",
                message=f"The bundled {what} are missing: scikit-learn, which holds them, is not "
                "installed or not complete.",
                hint="Install it again: pip install --force-reinstall scikit-learn.",
            )
        )
    return path

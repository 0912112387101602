"""Which files of a data set or a model are in Keras's cache.

Imported while the process has one thread, so without NumPy, whose libraries start some.
"""

from pathlib import Path

from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import KindValue
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.keras_cache import is_here, place_of


def needs_download(settings: KindValue) -> bool:
    """Whether a file of the data set, or of the model, is missing from Keras's cache."""
    return not all(is_here(file) for file in settings.downloads)


def run_needs_download(root: Path) -> bool:
    """Whether a file that the run in that directory needs is not on this machine yet.

    Asked before the run enters a network that leads nowhere.
    """
    from gpupanel.trainer.checked_profile import handed_over_checks, read_checked_profile

    try:
        profile = read_checked_profile(RunLayout(root), handed_over_checks())
    except (OSError, ValueError, ProblemError):
        return False  # reported when the run is read
    return needs_download(profile.data) or needs_download(profile.model)


def damaged_files(data: DataSettings, error: Exception) -> ProblemError:
    """The problem of downloaded files that do not hold the data set."""
    places = ", ".join(str(place_of(file)) for file in data.downloads)
    return ProblemError(
        Problem(
            code="data_file_damaged",
            field="data.source",
            message=f'The data set "{data.source}" in Keras\'s cache is truncated or damaged: '
            f"{places}.",
            hint="Remove it there; the next run downloads it again.",
            detail=f"{type(error).__name__}: {error}",
        )
    )

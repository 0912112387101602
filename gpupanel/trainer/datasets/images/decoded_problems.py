"""What can be wrong with the disk that decoded images are kept on, as problems."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.cache_folder import cache_folder
from gpupanel.trainer.file_errors import is_no_space


@contextmanager
def disk_problems(all_bytes: int) -> Iterator[None]:
    """Whatever the system does not do, as a problem.

    Args:
        all_bytes: Of all images.
    """
    try:
        yield
    except OSError as error:
        if is_no_space(error):
            raise no_space(all_bytes, cache_folder("images")) from error
        raise _not_kept(error) from error


def free_bytes(folder: Path) -> int:
    """What can still be written there."""
    return shutil.disk_usage(folder).free


def no_space(needed_bytes: int, place: Path) -> ProblemError:
    """The disk of that place has less than so much."""
    return ProblemError(
        Problem(
            code="decoded_images_no_space",
            field="data.cache",
            message=f"The decoded images take {needed_bytes / 2**20:,.0f} MiB, and the disk of "
            f"{place} has less space than that.",
            hint='Make space there, set data.cache to "none", or set GPUPANEL_CACHE_DIR to a '
            "folder on another disk.",
        )
    )


def unreadable(path: Path, error: OSError | EOFError) -> ProblemError:
    """Files of decoded images were damaged, or their disk was."""
    return ProblemError(
        Problem(
            code="decoded_images_unreadable",
            field="data.cache",
            message=f"The decoded images in {path}-* can no longer be read: {error}.",
            hint="Remove these files and start again; the images are then decoded again.",
        )
    )


def _not_kept(error: OSError) -> ProblemError:
    return ProblemError(
        Problem(
            code="decoded_images_not_kept",
            field="data.cache",
            message=f"The decoded images cannot be kept on the disk: {error.strerror or error}.",
            hint='Set data.cache to "none", or GPUPANEL_CACHE_DIR to a folder that you may write '
            "to.",
            detail=f"{type(error).__name__}: {error}",
        )
    )

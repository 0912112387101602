"""The run's copy of the saved model that it trains further.

With it a run goes on, and saves what it learned, whatever becomes of the file: often that is
overwritten by the next model.
"""

import os
import shutil
from pathlib import Path

import psutil

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.regular_files import open_regular
from gpupanel.files.whole_files import whole_file
from gpupanel.runs.named_paths import checked_path, expanded_path

_FIELD = "model.path"
_CHUNK_BYTES = 2**22


def keep_start_model(layout: RunLayout, profile: Profile) -> None:
    """Copy the saved model that is trained further into the run; nothing else is copied.

    Args:
        layout: Of a new run.
        profile: A relative path in it is taken from the working directory.

    Raises:
        ProblemError: The file is missing, cannot be read, or would not fit into memory.
        OSError: The copy cannot be written.
    """
    model = profile.model
    if profile.task != "train" or not model.is_saved or not model.chosen_path:
        return
    path = expanded_path(checked_path(model.chosen_path, _FIELD), _FIELD).absolute()
    try:
        source = open_regular(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    with source:
        if os.fstat(source.fileno()).st_size > psutil.virtual_memory().total:
            raise ProblemError(
                Problem(
                    code="file_too_large",
                    field=_FIELD,
                    message=f"{path} is larger than the memory of this machine.",
                    hint="Use a smaller one.",
                )
            )
        with whole_file(layout.start_model, private=True, within=layout.root) as kept:
            shutil.copyfileobj(source, kept, _CHUNK_BYTES)


def _unreadable(path: Path, error: OSError) -> ProblemError:
    if isinstance(error, FileNotFoundError):
        message = f"The saved model {path} does not exist."
        hint = "Choose another file, or put it back in its place."
        return ProblemError(
            Problem(code="model_file_missing", field=_FIELD, message=message, hint=hint)
        )
    return ProblemError(
        Problem(
            code="model_file_unreadable",
            field=_FIELD,
            message=f"The saved model {path} cannot be opened: {error.strerror}.",
            hint="Choose a file that you may read.",
        )
    )

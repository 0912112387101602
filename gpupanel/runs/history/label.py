"""What a person calls a run, and what they noted about it: ``label.toml`` in its directory."""

from typing import Annotated

import tomli_w
from filelock import Timeout
from pydantic import BeforeValidator, ConfigDict

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.toml_text import read_toml
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import UnsafeFileError, read_file, remove
from gpupanel.files.locks import lock_in_folder
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem

LONGEST_NAME = 200
LONGEST_NOTES = 20_000
_MOST_BYTES = 2**20
_LOCK_WAIT_S = 5.0
"""Far longer than writing so small a file takes."""


def _one_line(text: object) -> object:
    return " ".join(text.split())[:LONGEST_NAME] if isinstance(text, str) else text


def _some_lines(text: object) -> object:
    return text.strip()[:LONGEST_NOTES] if isinstance(text, str) else text


class RunLabel(Value):
    """A run's name and notes.

    Attributes:
        name: One line; empty: the run is called as its profile is.
        notes: Any number of lines; empty: none were taken.
    """

    # A newer version may keep more there: what is known of it is shown all the same.
    model_config = ConfigDict(extra="ignore")

    name: Annotated[str, BeforeValidator(_one_line)] = ""
    notes: Annotated[str, BeforeValidator(_some_lines)] = ""


def read_label(layout: RunLayout) -> RunLabel:
    """The run's label; an empty one where none was given, or where something else stands there.

    Raises:
        OSError: It cannot be read now.
    """
    try:
        text = read_file(layout.label, most_bytes=_MOST_BYTES).decode()
        return RunLabel.model_validate(read_toml(text))
    except (FileNotFoundError, UnsafeFileError, ValueError):
        return RunLabel()


def change_label(
    layout: RunLayout, *, name: str | None = None, notes: str | None = None
) -> RunLabel:
    """Give the run a name or notes and leave the other as it is, whoever else writes meanwhile.

    Args:
        layout: The run.
        name: The new name; empty: none any more; ``None``: as it is.
        notes: The new notes, the same way.

    Returns:
        The label as it now stands.

    Raises:
        ProblemError: The run's directory is gone or cannot be written; nothing has changed.
    """
    given = {key: text for key, text in (("name", name), ("notes", notes)) if text is not None}
    try:
        with lock_in_folder(layout.label.with_suffix(".lock"), _LOCK_WAIT_S):
            label = RunLabel.model_validate({**read_label(layout).model_dump(), **given})
            if label == RunLabel():
                remove(layout.label)
            else:
                write_whole(layout.label, tomli_w.dumps(label.model_dump()), private=True)
    except Timeout as error:
        raise ProblemError(_busy(layout)) from error
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.label)) from error
    return label


def _busy(layout: RunLayout) -> Problem:
    return Problem(
        code="label_busy",
        message=f"The name and notes of {layout.name} are being written by another program.",
        hint="Try again.",
    )

"""What is written is what the name of the file ends in: a PDF that holds Python helps nobody."""

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Final

from gpupanel.domain.model_export import ModelFormat
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.runs.tools.export.export_format import ExportFormat


class Written(Enum):
    """What is written: of a run or a profile, of a run, or of its model."""

    SCRIPT = ExportFormat.SCRIPT.value
    NOTEBOOK = ExportFormat.NOTEBOOK.value
    SLURM = ExportFormat.SLURM.value
    REPORT = ExportFormat.REPORT.value
    KERAS = ModelFormat.KERAS.value
    SAVEDMODEL = ModelFormat.SAVEDMODEL.value
    TFLITE = ModelFormat.TFLITE.value

    @property
    def model_format(self) -> ModelFormat | None:
        """The format of a model; ``None``: the file is a script."""
        return next((each for each in ModelFormat if each.value == self.value), None)


_ENDINGS: Final[Mapping[Written, tuple[str, ...]]] = {
    Written.SCRIPT: (".py",),
    Written.NOTEBOOK: (".ipynb",),
    Written.REPORT: (".html", ".htm"),
    Written.SLURM: (".sbatch", ".slurm"),
    Written.KERAS: (".keras",),
    Written.TFLITE: (".tflite",),
}
"""How the names of such files end, the usual ending first; a SavedModel is a folder."""
_WHERE_ASKED_FOR: Final[Mapping[Written, tuple[str, ...]]] = {
    Written.SCRIPT: (".txt",),
    Written.NOTEBOOK: (".txt", ".json"),
    Written.REPORT: (".txt",),
    Written.SLURM: (".sh", ".py", ".txt"),
}
"""Endings that do not say what is in the file, and are taken where a person says it otherwise."""


def written_as(output: Path, asked: Written | None) -> Written:
    """What is to be written into a file of that name.

    Args:
        output: The file.
        asked: As what; ``None``: as the ending of its name says.

    Raises:
        ProblemError: The ending is of another kind of file, or says nothing; or a run has the file.
    """
    check_outside_of_runs(output)
    ending = output.suffix.lower()
    if asked is None:
        for each, endings in _ENDINGS.items():
            if ending in endings:
                return each
        raise ProblemError(_unknown(output, ending))
    endings = _ENDINGS.get(asked, ())
    taken = (*endings, *_WHERE_ASKED_FOR.get(asked, ()))
    if ending and endings and ending not in taken:
        raise ProblemError(_ends_otherwise(output, asked.value, endings))
    return asked


def check_is_toml(path: Path) -> None:
    """Refuse to write a profile into what is named as another kind of file.

    Raises:
        ProblemError: It is.
    """
    if path.suffix.lower() != ".toml":
        raise ProblemError(_ends_otherwise(path, "a profile", (".toml",)))


def _unknown(output: Path, ending: str) -> Problem:
    says = f"ends in {ending}" if ending else "has no ending"
    known = ", ".join(f"{endings[0]} ({each.value})" for each, endings in _ENDINGS.items())
    return Problem(
        code="file_ending_unknown",
        message=f"{output.name} {says}, so it is not known what to write into it.",
        hint=f"Let it end in one of {known}; a SavedModel is a folder: --format savedmodel.",
    )


def _ends_otherwise(output: Path, what: str, endings: Sequence[str]) -> Problem:
    says = f"ends in {output.suffix}" if output.suffix else "has no ending"
    return Problem(
        code="file_ending_unknown",
        message=f"{output.name} {says}, but a file that holds {what} ends in "
        f"{' or '.join(endings)}.",
        hint="Give the file such a name.",
    )

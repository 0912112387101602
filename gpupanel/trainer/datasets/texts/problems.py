"""What can be wrong with texts, as problems with stable codes."""

import codecs
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.trainer.datasets.data_problems import data_problem

_MARKS_OF_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def wrong_encoding(path: Path | str, encoding: str, error: UnicodeError) -> ProblemError:
    """Bytes that are no text of that encoding."""
    other = "cp1252" if encoding == "utf-8" else "utf-8"
    if isinstance(error, UnicodeDecodeError) and error.object[:2] in _MARKS_OF_UTF_16:
        other = "utf-16"
    return data_problem(
        "text_encoding",
        f"{path} is not text in {encoding}.",
        f'Set data.encoding to what it was written in, such as "{other}"; or remove the file.',
        field="data.encoding",
        detail=str(error),
    )


def no_text(path: Path | str, field: str) -> ProblemError:
    """Bytes that no text has."""
    return data_problem(
        "text_binary",
        f"{path} holds bytes of value 0, which no text has: it is a file of another kind.",
        "Remove it, or save it as text.",
        field=field,
    )


def left_to_a_run(path: Path | str) -> ProblemError:
    """The hint that nothing is wrong: a preview of all texts would take minutes."""
    return ProblemError(
        Problem(
            code="texts_not_counted",
            severity=Severity.HINT,
            field="data.path",
            message=f"There are too many texts in {path} to be counted while you wait: the first "
            "run does so, once. After that they are shown here.",
            hint="A script is written when data.predicts says what the target is.",
        )
    )


def cache_unusable(folder: Path, error: OSError) -> ProblemError:
    """Counted words that cannot be kept, or not be read back."""
    return data_problem(
        "texts_not_kept",
        f"The words of the texts cannot be kept in {folder}: {error.strerror or error}.",
        "They are kept there as numbers of 32 bits, about as large as the texts: make room, or set "
        "GPUPANEL_CACHE_DIR to a folder on a disk that has some.",
        field="data",
    )

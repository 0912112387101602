"""Folders of texts: one for each class, or texts alone. Links in them are not followed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import DirEntry
from pathlib import Path

from gpupanel.domain.data import MOST_CLASSES
from gpupanel.domain.image_names import suffix_of
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.table_data import TABLE_SUFFIXES
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.class_folders import ClassFolders
from gpupanel.trainer.datasets.data_problems import data_problem, unreadable
from gpupanel.trainer.datasets.texts import problems
from gpupanel.trainer.parts.folder_listing import by_folder, folders_in, holds_file, listed_files
from gpupanel.trainer.parts.text_files import text_in_file

_SUFFIX = ".txt"
_MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class TextFolder:
    """The texts of a folder.

    Attributes:
        root: The folder.
        paths: Of the texts: class by class, in the order of their names.
        class_names: Of the folders, in the order of their names; empty: the texts stand alone.
        counts: How many texts each class has.
        notes: What is odd about them.
    """

    root: Path
    paths: tuple[str, ...]
    class_names: tuple[str, ...]
    counts: tuple[int, ...]
    notes: tuple[Problem, ...] = ()


def list_texts(root: Path, field: str, chosen: Mapping[str, str] | None = None) -> TextFolder:
    """The texts in a folder; none is opened.

    What systems put beside files is not there
    (:func:`~gpupanel.domain.image_names.is_hidden`), at any depth.

    Args:
        root: The folder.
        field: The profile key that names it.
        chosen: What the settings of the other sets name, by their names.

    Raises:
        ProblemError: It cannot be listed, or holds no texts.
    """
    try:
        others = _Others()
        paths = listed_files(str(root), (_SUFFIX,), others.count, takes_links=False)
        of_class = by_folder(str(root), paths)
    except NotADirectoryError as error:
        raise data_problem(
            "data_file_unreadable",
            f"{root} is a file, and texts are read from a folder, or from a table.",
            f"Give it a name that ends in {', '.join(TABLE_SUFFIXES)} if it is a table; else "
            f"choose a folder with a folder of {_SUFFIX} files for each class.",
            field=field,
        ) from error
    except OSError as error:
        raise unreadable(error.filename or root, error, field, "texts") from error
    alone = of_class.pop("", [])
    notes = (*others.link_notes(root, field), *_unread_notes(others.unread, root, field))
    if not of_class and not alone:
        empty = data_problem(
            "data_empty",
            f"The folder {root} has no {_SUFFIX} files, nor has a folder in it.",
            f"Choose a folder with one sub-folder of {_SUFFIX} files for each class.",
            field=field,
        )
        raise ProblemError(*empty.problems, *notes)
    if len(of_class) > MOST_CLASSES:
        raise data_problem(
            "data_too_many_classes",
            f"{root} has {len(of_class):,} class folders, and {MOST_CLASSES:,} classes can be "
            "distinguished at most.",
            "Choose a folder whose sub-folders are the classes.",
            field=field,
        )
    if not of_class:
        return TextFolder(root, tuple(alone), (), (), notes)
    if field == "data.path":
        notes = (*notes, *_notes_on_classes(root, list(of_class), len(alone), chosen or {}))
    return TextFolder(
        root,
        tuple(path for paths in of_class.values() for path in paths),
        tuple(map(as_utf8, of_class)),
        tuple(map(len, of_class.values())),
        notes,
    )


def _unread_notes(unread: Counter[str], root: Path, field: str) -> tuple[Problem, ...]:
    if not unread:
        return ()
    order = sorted(unread, key=lambda suffix: (-unread[suffix], suffix))
    named = [f"{unread[suffix]:,} {as_utf8(suffix) or 'without a suffix'}" for suffix in order]
    shown = ", ".join(named[:_MOST_SHOWN]) + (", ..." if len(named) > _MOST_SHOWN else "")
    count = unread.total()
    is_named = "file is not named" if count == 1 else "files are not named"
    return (
        Problem(
            code="data_files_not_read",
            severity=Severity.HINT,
            field=field,
            message=f"{count:,} {is_named} {_SUFFIX}, and not read: {shown} in {root}.",
            hint=f"Save texts among them under names that end in {_SUFFIX}.",
            detail="\n".join(named),
        ),
    )


def _notes_on_classes(
    root: Path, names: Sequence[str], alone: int, chosen: Mapping[str, str]
) -> tuple[Problem, ...]:
    folders = [root / name for name in names]
    classes = ClassFolders(root, folders, alone, "text", chosen, _folders_in)
    return tuple(filter(None, (classes.beside_note(), classes.doubt())))


def _folders_in(folder: Path) -> list[str]:
    """The names of the folders in one that hold texts, in order."""
    try:
        return [
            name
            for name in folders_in(str(folder))
            if not (folder / name).is_symlink() and _holds_texts(folder / name)
        ]
    except OSError:
        return []  # whoever lists it says why not


def _holds_texts(folder: Path) -> bool:
    return holds_file(str(folder), (_SUFFIX,), takes_links=False)


class _Others:
    """Counts what is left out: links, and files that are not called as texts are.

    Attributes:
        unread: How many of the latter have which suffix.
    """

    def __init__(self) -> None:
        self._count = 0
        self.unread = Counter[str]()

    def count(self, entry: DirEntry[str]) -> None:
        if entry.is_symlink():
            self._count += 1
        else:
            self.unread[suffix_of(entry.name)] += 1

    def link_notes(self, root: Path, field: str) -> tuple[Problem, ...]:
        if not self._count:
            return ()
        return (
            Problem(
                code="text_links_left_out",
                severity=Severity.WARNING,
                field=field,
                message=f"{self._count:,} links in {root} are left out: they may lead anywhere.",
                hint="Choose the folder that holds the texts themselves.",
            ),
        )


def read_text(path: str, encoding: str, field: str) -> bytes:
    """The text of a file in UTF-8, as far as texts are read.

    Args:
        path: Of the file.
        encoding: In which it is written.
        field: The profile key that names its folder.

    Raises:
        ProblemError: It is no such text, or cannot be read.
    """
    try:
        with open_regular(Path(path)) as file:
            text = text_in_file(file, encoding)
    except OSError as error:
        raise unreadable(path, error, field, "texts") from error
    except UnicodeError as error:
        raise problems.wrong_encoding(path, encoding, error) from error
    if "\0" in text:
        raise problems.no_text(path, field)
    return text.encode("utf-8", "surrogatepass")

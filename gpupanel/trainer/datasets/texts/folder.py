"""Folders of texts: one for each class, or texts alone. Links in them are not followed."""

import codecs
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.data import MOST_CLASSES
from gpupanel.domain.image_names import is_hidden, suffix_of
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.table_data import TABLE_SUFFIXES
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.class_folders import ClassFolders
from gpupanel.trainer.datasets.data_problems import data_problem, unreadable
from gpupanel.trainer.datasets.texts import problems
from gpupanel.trainer.datasets.texts.token_file import LONGEST_TEXT_BYTES

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
        with os.scandir(root) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        links, unread = _Links(), Counter[str]()
        inside = list(_seen(found, links, unread))
        of_class = {
            entry.name: list(_below(entry.path, links, unread))
            for entry in inside
            if _is_folder(entry)
        }
        alone = [entry.path for entry in inside if not _is_folder(entry)]
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
    of_class = {name: paths for name, paths in of_class.items() if paths}
    notes = (*links.notes(root, field), *_unread_notes(unread, root, field))
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


def _below(root: str, links: "_Links", unread: Counter[str]) -> Iterator[str]:
    """The texts in a folder and the folders in it, in the order of their parts."""
    waiting = [(root, True)]
    while waiting:
        place, is_folder = waiting.pop()
        if not is_folder:
            yield place
            continue
        with os.scandir(place) as entries:
            found = sorted(entries, key=lambda entry: entry.name, reverse=True)
        waiting += [(entry.path, _is_folder(entry)) for entry in _seen(found, links, unread)]


def _seen(
    entries: Iterable["os.DirEntry[str]"], links: "_Links", unread: Counter[str]
) -> Iterator["os.DirEntry[str]"]:
    """The folders and texts among them; links and other files are counted."""
    for entry in entries:
        if is_hidden(entry.name) or not links.is_none(entry):
            continue
        if _is_folder(entry) or entry.name.lower().endswith(_SUFFIX):
            yield entry
        else:
            unread[suffix_of(entry.name)] += 1


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False)


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
        with os.scandir(folder) as entries:
            below = sorted(
                each.name for each in _seen(entries, _Links(), Counter()) if _is_folder(each)
            )
        return [
            name
            for name in below
            if next(_below(str(folder / name), _Links(), Counter()), None) is not None
        ]
    except OSError:
        return []  # whoever lists it says why not


class _Links:
    """Counts the links that are left out."""

    def __init__(self) -> None:
        self._count = 0

    def is_none(self, entry: "os.DirEntry[str]") -> bool:
        self._count += entry.is_symlink()
        return not entry.is_symlink()

    def notes(self, root: Path, field: str) -> tuple[Problem, ...]:
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
            content = file.read(LONGEST_TEXT_BYTES + 1)
    except OSError as error:
        raise unreadable(path, error, field, "texts") from error
    is_cut = len(content) > LONGEST_TEXT_BYTES
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    try:
        # A letter that the cut went through is left out.
        text = decoder.decode(content[:LONGEST_TEXT_BYTES], final=not is_cut)
    except UnicodeError as error:
        raise problems.wrong_encoding(path, encoding, error) from error
    if "\0" in text:
        raise problems.no_text(path, field)
    return text.encode("utf-8", "surrogatepass")

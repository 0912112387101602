"""Which files of records a path means, and which sets they are.

A path is a file, a folder, or a pattern of the names in one folder. Nothing else in it is
expanded: neither a pattern of folders, nor ``~``, nor a variable.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

from gpupanel.domain.data import TfrecordData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.tfrecord_data import RECORD_SUFFIXES
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.regular_files import NotRegularFileError, kind_of
from gpupanel.trainer.datasets.data_problems import data_problem, unreadable
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.set_names import UNLABELLED, meant_by
from gpupanel.trainer.parts.record_paths import (
    SHARD,
    entries_in_folder,
    entries_of_pattern,
    is_pattern,
)

PATHS = {"training": "path", "validation": "validation_path", "test": "test_path"}
"""The setting that names the files of each set."""
_MOST_FILES = 100_000


@dataclass(frozen=True, slots=True)
class RecordPaths:
    """The files of a set.

    Attributes:
        root: The folder that holds them.
        paths: In the order of their names.
        notes: What is odd about them.
    """

    root: Path
    paths: tuple[Path, ...]
    notes: tuple[Problem, ...] = ()


def files_of(chosen: str, field: str) -> RecordPaths:
    """The files that a path means; none is opened.

    Args:
        chosen: The path.
        field: The profile key that names it.

    Raises:
        ProblemError: There are none, or something else stands in the place of one.
    """
    path = Path(chosen)
    if not chosen:
        raise data_problem(
            "data_path_missing",
            "No TFRecord file is chosen.",
            "Choose a file, a folder or a pattern such as train-*.tfrecord.",
            field=field,
        )
    try:
        if path.is_dir():
            return _in_folder(path, field)
        if is_pattern(path):
            return _of_pattern(path, field)
    except OSError as error:
        raise unreadable(Path(error.filename or path), error, field) from error
    return RecordPaths(path.parent, (path,), _missing_shards([path], field))


def with_detected_sets(data: TfrecordData) -> TfrecordData:
    """The settings with the paths of the sets whose files stand in the chosen folder.

    Raises:
        ProblemError: The folder cannot be read, or it is not clear which file is of which set.
    """
    root = Path(data.path)
    if not data.find_sets or not data.path or not root.is_dir():
        return data
    paths = files_of(data.path, "data.path").paths
    of_key = _by_set(paths, root)
    if "path" not in of_key or not {"validation_path", "test_path"} & of_key.keys():
        return data
    if UNLABELLED in of_key:
        raise _unclear(of_key[UNLABELLED][0])
    found = {key: _pattern_of(root, files, paths) for key, files in of_key.items()}
    unchosen = {key: path for key, path in found.items() if key == "path" or not getattr(data, key)}
    return data.model_copy(update={**unchosen, "find_sets": False})


def _by_set(paths: Iterable[Path], root: Path) -> dict[str, list[Path]]:
    """The files by the setting of the set that their names, or those of their folders, say."""
    alike: dict[tuple[str, ...], list[Path]] = {}
    for path in paths:
        meant = meant_by(str(path.relative_to(root)))
        alike.setdefault((UNLABELLED,) if meant is None else meant[0], []).append(path)
    found: dict[str, list[Path]] = {}
    # Those of one meaning first.
    for keys in sorted(alike, key=len):
        key = next((each for each in keys if each not in found), UNLABELLED)
        found.setdefault(key, []).extend(alike[keys])
    return found


def _pattern_of(root: Path, files: list[Path], others: Iterable[Path]) -> str:
    """A path that means these files, and no others below the folder."""
    folders = {path.parent for path in files}
    if len(files) == 1:
        return str(files[0])
    folder = folders.pop()
    if folders:
        raise _unclear(files[0])
    beside = [path for path in others if path.parent == folder]
    if len(beside) == len(files) and folder != root:
        return str(folder)
    names = [path.name for path in files]
    start = os.path.commonprefix(names)  # noqa: RUF071 - of letters
    # What they end in alike begins after what they begin with alike.
    ends = [name[len(start) :][::-1] for name in names]
    end = os.path.commonprefix(ends)[::-1]  # noqa: RUF071
    pattern = f"{escape(start)}*{escape(end)}"
    if [path for path in beside if fnmatchcase(path.name, pattern)] != files:
        raise _unclear(files[0])
    return str(folder / pattern)


def _unclear(path: Path) -> ProblemError:
    return data_problem(
        "data_sets_ambiguous",
        f"The folder {path.parent} holds files of several sets, and it is not clear which of them "
        f'"{as_utf8(path.name)}" is of.',
        "Choose a pattern for each set, such as train-*.tfrecord; or turn off data.find_sets where "
        "all files are trained on.",
    )


def _in_folder(root: Path, field: str) -> RecordPaths:
    found, links = [], 0
    for entry in entries_in_folder(root, RECORD_SUFFIXES):
        if entry.is_symlink():
            links += 1
            continue
        found.append(_checked(entry))
        if len(found) > _MOST_FILES:
            raise _too_many(root, field)
    if not found:
        beside = f" Its {links:,} links are not followed." if links else ""
        raise data_problem(
            "data_empty",
            f"The folder {root} has no TFRecord files.{beside}",
            f"Choose a folder with files that end in {RECORD_SUFFIXES[0]}, or a pattern of other "
            "names.",
            field=field,
        )
    found.sort(key=lambda path: path.relative_to(root).parts)
    notes = (problems.links_left_out(links, root, field),) if links else ()
    return RecordPaths(root, tuple(found), (*notes, *_missing_shards(found, field)))


def _of_pattern(path: Path, field: str) -> RecordPaths:
    found = []
    for entry in entries_of_pattern(path):
        # One that was named is followed, as a file that was chosen is.
        found.append(Path(entry.path) if entry.is_symlink() else _checked(entry))
        if len(found) > _MOST_FILES:
            raise _too_many(path, field)
    if not found:
        raise data_problem(
            "data_file_missing",
            f"No file in {path.parent} has a name that fits {path.name}.",
            "Choose another pattern: * stands for any text, ? for any letter.",
            field=field,
        )
    found.sort(key=lambda each: each.name)
    return RecordPaths(path.parent, tuple(found), _missing_shards(found, field))


def _checked(entry: "os.DirEntry[str]") -> Path:
    """Its path, where it is a regular file; whatever else it is, it is not opened.

    Raises:
        NotRegularFileError: It is something else.
    """
    kind = kind_of(entry.stat(follow_symlinks=False).st_mode)
    if kind is not None:
        raise NotRegularFileError(Path(entry.path), kind)
    return Path(entry.path)


def _missing_shards(paths: Iterable[Path], field: str) -> tuple[Problem, ...]:
    """A note where names such as ``train-00000-of-00010`` say that there are more files."""
    there: dict[tuple[Path, str, int], set[int]] = {}
    for path in paths:
        shard = SHARD.search(path.name)
        if shard:
            number, count = map(int, shard.groups())
            of = path.name[: shard.start()] + path.name[shard.end() :]
            there.setdefault((path.parent, of, count), set()).add(number)
    return tuple(_shard_notes(there, field))


def _shard_notes(there: Mapping[tuple[Path, str, int], set[int]], field: str) -> Iterable[Problem]:
    for (_, name, count), numbers in there.items():
        missing = count - len(numbers)
        if missing > 0 and max(numbers) < count:
            first = next(number for number in range(count) if number not in numbers)
            example = f"{first:05}-of-{count:05}"
            called = f'"{as_utf8(name)}" {example}' if name else example
            yield problems.shards_missing(missing, count, called, field)


def _too_many(path: Path, field: str) -> ProblemError:
    return data_problem(
        "records_too_many_files",
        f"{path} means more than {_MOST_FILES:,} files.",
        "Write fewer and larger ones, of some 100 MB each.",
        field=field,
    )

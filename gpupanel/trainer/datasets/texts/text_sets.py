"""The texts of each set, as numbers of words, with what they are."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import Target, TextData
from gpupanel.domain.problem import Problem
from gpupanel.domain.table_data import TABLE_SUFFIXES
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.cache_file import Marks, cached_file, marks_of
from gpupanel.trainer.datasets.data_problems import changed, data_problem, unreadable
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.tables.imported import ColumnFacts, Kind
from gpupanel.trainer.datasets.tables.targets import (
    TargetLabels,
    check_columns,
    class_numbers,
    labels_of,
    with_more_classes,
)
from gpupanel.trainer.datasets.texts import problems
from gpupanel.trainer.datasets.texts.folder import TextFolder, list_texts, read_text
from gpupanel.trainer.datasets.texts.recipe import TextRecipe
from gpupanel.trainer.datasets.texts.table_texts import (
    chosen_columns,
    overview_of_texts,
    read_rows,
)
from gpupanel.trainer.datasets.texts.token_file import TokenFile, TokenWriter, open_tokens

_PATHS = {"training": "path", "validation": "validation_path", "test": "test_path"}
_VERSION = 2
"""The version of the stored words: those of another one are counted anew."""
_LONGEST_PREVIEW_S = 8.0
"""A preview answers while a person waits."""
_COUNTING = "counting the words"


def read_sets(
    data: TextData,
    reading: Reading,
    targets: tuple[str, ...],
    *,
    known_text: str = "",
    known_kinds: Mapping[str, Kind] | None = None,
    needs_targets: bool,
) -> dict[str, "TextSet"]:
    """Each set that there is, by its name: ``training``, ``validation``, ``test``.

    Args:
        data: Where they are.
        reading: What reading them may need.
        targets: The columns of a table that are predicted; none: as they are found.
        known_text: What the column of the texts that were trained on is called.
        known_kinds: What columns that are predicted held then, by name.
        needs_targets: Without it nothing need say what the texts are.

    Raises:
        ProblemError: They cannot be read.
    """
    reader = _Reader(data, reading, time.monotonic() + _LONGEST_PREVIEW_S)
    return reader.sets(targets, known_text, known_kinds or {}, needs_targets=needs_targets)


def files_of(sets: Mapping[str, "TextSet"]) -> DataFiles:
    """All files of the sets, as they are now.

    Raises:
        ProblemError: One of them is not there any more.
    """
    files = {name: each.files for name, each in sets.items()}
    root, paths = files.pop("training")
    try:
        return DataFiles(root, paths, files)
    except OSError as error:
        raise unreadable(error.filename, error, "data.path", "texts") from error


@dataclass(frozen=True, slots=True, eq=False)
class TextSet:
    """The texts of a set.

    Attributes:
        name: Of the set.
        path: The folder or table.
        tokens: The words.
        folder: What the texts are by their folders; ``None``: they are in a table.
        text: The column of a table that holds the texts.
        facts: What is known of the columns of a table that are predicted.
        files: The folder and the files that it was read from.
        notes: What is odd about it.
    """

    name: str
    path: Path
    tokens: TokenFile
    folder: TextFolder | None
    text: str
    facts: tuple[ColumnFacts, ...]
    files: tuple[Path, tuple[str | Path, ...]]
    notes: tuple[Problem, ...] = ()

    @property
    def field(self) -> str:
        """The profile key that names it."""
        return f"data.{_PATHS[self.name]}"

    @property
    def has_targets(self) -> bool:
        """Whether it says what its texts are."""
        return bool(self.facts or (self.folder is not None and self.folder.class_names))

    @property
    def targets(self) -> npt.NDArray[np.float32]:
        """The targets of a table: numbers, shape [texts, columns]."""
        return self.tokens.targets.reshape(len(self.tokens), -1)

    def labelled(self) -> Indices:
        """The texts that have a label."""
        if self.folder is not None or not self.facts:
            return np.arange(len(self.tokens), dtype=np.int32)
        found = np.flatnonzero(~np.isnan(self.targets).any(axis=1)).astype(np.int32)
        if not len(found):
            raise data_problem(
                "data_empty",
                f"No row of {self.path} has a value of the target.",
                "Choose another column in data.target.",
                field="data.target",
            )
        return found

    def labels(self, rows: Indices, predicts: Target | None) -> TargetLabels:
        """What these texts are, as far as the set itself shows it.

        Raises:
            ProblemError: They are no labels of that kind.
        """
        if self.folder is None:
            return labels_of(self.path, self.targets[rows], self.facts, predicts)
        if predicts not in (None, Target.CLASSES):
            raise data_problem(
                "data_predicts_misfit",
                f"{self.path} holds a folder for each class, but no {predicts} to predict.",
                "Predict classes; or choose a table with a column of what is predicted.",
                field="data.predicts",
            )
        names = self.folder.class_names
        return TargetLabels(self._numbers(names)[rows], Target.CLASSES, names)

    def classes_with_more(self, rows: Indices, of: TextRecipe) -> tuple[str, ...]:
        """The names of the model's classes, and after them those of more classes of these texts."""
        if self.folder is not None:
            places = {normalize("NFC", name) for name in of.class_names}
            own = self.folder.class_names
            return (
                *of.class_names,
                *(name for name in own if normalize("NFC", name) not in places),
            )
        if of.predicts is not Target.CLASSES or len(self.facts) != 1:
            return of.class_names
        return with_more_classes(self.targets[rows][:, 0], self.facts[0], of.class_names)

    def labels_as(self, rows: Indices, of: TextRecipe | TargetLabels) -> Array:
        """What these texts are, in the classes or values of others.

        Raises:
            ProblemError: One of them is none of these classes.
        """
        if self.folder is not None:
            return self._numbers(of.class_names)[rows]
        if of.predicts is not Target.CLASSES or len(self.facts) > 1:
            return labels_of(self.path, self.targets[rows], self.facts, of.predicts).array
        check_columns(self.path, self.facts)
        raw = self.targets[rows][:, 0]
        return class_numbers(self.path, raw, self.facts[0], of.class_names)

    def _numbers(self, names: tuple[str, ...]) -> Array:
        folder = self.folder
        assert folder is not None, "tables have targets"
        # Systems write a name's letters in one form of Unicode or another.
        places = {normalize("NFC", name): place for place, name in enumerate(names)}
        own = [normalize("NFC", name) for name in folder.class_names]
        unknown = [name for name in own if name not in places]
        if unknown:
            raise data_problem(
                "data_classes_differ",
                f'{self.path} has a folder "{visible_line(unknown[0])}", which is none of the '
                f"{len(names):,} classes that are trained on.",
                "Use folders of the same names in all sets.",
                field=self.field,
            )
        numbers = np.array([places[name] for name in own], np.int32)
        return np.repeat(numbers, folder.counts)


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Reads the sets of the settings."""

    data: TextData
    reading: Reading
    until_s: float

    def sets(
        self,
        targets: tuple[str, ...],
        known_text: str,
        known_kinds: Mapping[str, Kind],
        *,
        needs_targets: bool,
    ) -> dict[str, TextSet]:
        """Each set, by its name; the others take the columns of the first, and what they hold.

        Raises:
            ProblemError: It cannot be read.
        """
        if not self.data.path:
            raise data_problem(
                "data_path_missing",
                "No texts are chosen.",
                "Choose a folder of texts, or a table.",
            )
        sets: dict[str, TextSet] = {}
        for name, key in _PATHS.items():
            if getattr(self.data, key):
                found = self._set(
                    name, targets, known_text, known_kinds, needs_targets=needs_targets
                )
                sets[name], known_text = found, known_text or found.text
                targets = targets or tuple(each.name for each in found.facts)
                known_kinds = known_kinds or {each.name: each.kind for each in found.facts}
        return sets

    def _set(
        self,
        name: str,
        targets: tuple[str, ...],
        known_text: str,
        known_kinds: Mapping[str, Kind],
        *,
        needs_targets: bool,
    ) -> TextSet:
        path, field = getattr(self.data, _PATHS[name]), f"data.{_PATHS[name]}"
        is_table = path.lower().endswith(TABLE_SUFFIXES)
        if is_table is not self.data.is_table:
            raise data_problem(
                "texts_of_two_kinds",
                f"{self.data.path} and {path} are not both tables, or both folders.",
                "Choose sets of the same kind.",
                field=field,
            )
        found = (
            self._table(
                name, Path(path), targets, known_text, known_kinds, needs_targets=needs_targets
            )
            if is_table
            else self._folder(name, Path(path))
        )
        if needs_targets and not found.has_targets:
            raise data_problem(
                "data_labels_missing",
                f"The texts in {path} have no labels: they are not in folders of classes.",
                "Sort them into a folder for each class; or choose a table with their labels.",
                field="data.target",
            )
        return found

    def _table(
        self,
        name: str,
        path: Path,
        targets: tuple[str, ...],
        known_text: str,
        known_kinds: Mapping[str, Kind],
        *,
        needs_targets: bool,
    ) -> TextSet:
        field = f"data.{_PATHS[name]}"
        overview = overview_of_texts(self.data, str(path), field, known_kinds)
        columns = chosen_columns(
            overview,
            self.data.text,
            targets,
            known_text=known_text,
            needs_targets=needs_targets,
            predicts=self.data.predicts,
        )
        try:
            with open_regular(path) as file:
                before = marks_of(os.fstat(file.fileno()))

                def write(kept: BinaryIO) -> None:
                    writer = TokenWriter(kept)

                    def progress(_: int) -> None:
                        self._progress(path, file.tell(), before[2])

                    found, facts = read_rows(columns, file, writer.add, progress)
                    if marks_of(os.fstat(file.fileno())) != before:
                        raise changed("texts_changed", path, field)
                    known = b"\n".join(each.model_dump_json().encode() for each in facts)
                    writer.close(found, known)

                words = sorted(overview.empty.in_numbers), sorted(overview.empty.in_names)
                how = (
                    overview.form,
                    columns.kinds,
                    columns.text,
                    overview.columns,
                    words,
                    self.data.quoting,
                )
                tokens = self._kept(path, [before], how, write)
        except OSError as error:
            raise unreadable(path, error, field, "texts") from error
        lines = tokens.known.split(b"\n") if tokens.known else []
        facts = tuple(ColumnFacts.model_validate_json(line) for line in lines)
        files = path.parent, (path,)
        return TextSet(name, path, tokens, None, columns.text, facts, files, overview.notes)

    def _folder(self, name: str, path: Path) -> TextSet:
        field = f"data.{_PATHS[name]}"
        chosen = {key: getattr(self.data, key) for key in _PATHS.values()}
        folder = list_texts(path, field, chosen)
        encoding = self.data.encoding or "utf-8"
        prints = _prints(folder, field)

        def write(kept: BinaryIO) -> None:
            writer = TokenWriter(kept)
            for number, each in enumerate(folder.paths):
                if number % 64 == 0:
                    self._progress(path, number, len(folder.paths))
                writer.add(read_text(each, encoding, field))
            if _prints(folder, field).prints != prints.prints:
                raise changed("texts_changed", path, field)
            writer.close(np.empty(0, np.float32), b"")

        made_of = [(each.number, each.size, each.mtime_ns, each.ctime_ns) for each in prints.prints]
        how = encoding, [each.path for each in prints.prints]
        tokens = self._kept(path, made_of, how, write)
        files = path, folder.paths
        return TextSet(name, path, tokens, folder, "", (), files, folder.notes)

    def _kept(
        self,
        path: Path,
        made_of: Sequence[Marks],
        how: object,
        write: Callable[[BinaryIO], None],
    ) -> TokenFile:
        place = cached_file(
            "texts",
            made_of,
            (_VERSION, how),
            lambda: self._progress(path, 0, 1),
            write,
            problems.cache_unusable,
        )
        try:
            return open_tokens(place)
        except OSError as error:
            raise problems.cache_unusable(place.parent, error) from error

    def _progress(self, path: Path, done: int, total: int) -> None:
        if self.reading.is_preview and time.monotonic() > self.until_s:
            raise problems.left_to_a_run(path)
        self.reading.on_progress(_COUNTING, min(done, total), total)


def _prints(folder: TextFolder, field: str) -> DataFiles:
    try:
        return DataFiles(folder.root, folder.paths)
    except OSError as error:
        raise unreadable(error.filename, error, field, "texts") from error

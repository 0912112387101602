"""The images of each set with what they are: by their folders, by a CSV, or unknown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np

from gpupanel.domain.data import MOST_CLASSES, ImagesData, Target
from gpupanel.domain.images_in_table import NamedImages
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.class_folders import annotations_among
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.images.beside_numbers import ImageNumbers, numbers_without_table
from gpupanel.trainer.datasets.images.chosen import chosen_images
from gpupanel.trainer.datasets.images.class_notes import PATHS, ClassesOfImages, shown_names
from gpupanel.trainer.datasets.images.csv_lines import columns_of, named_images, read_lines
from gpupanel.trainer.datasets.images.csv_rows import FIELD
from gpupanel.trainer.datasets.images.decoding import ImageDecoding
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.images.label_files import (
    beside_classes,
    label_files,
    labels_from,
)
from gpupanel.trainer.datasets.images.labelled_images import labelled_images, numbered_images
from gpupanel.trainer.datasets.images.labels import ImageLabels
from gpupanel.trainer.datasets.images.line_columns import Cells, cells_of
from gpupanel.trainer.datasets.images.listing import (
    Folder,
    images_below,
    look_into,
)
from gpupanel.trainer.datasets.images.recipe import wanted_pixels
from gpupanel.trainer.datasets.images.set_folders import (
    others_beside_sets,
    sets_left_out,
    use_inner_classes,
    with_detected_sets,
)
from gpupanel.trainer.datasets.images.unread import unread_note
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.parts.class_names import UNKNOWN, places_of
from gpupanel.trainer.parts.image_formats import SUFFIXES


@dataclass(frozen=True, slots=True, eq=False)
class ImageSet:
    """The images of one set, and what each of them is.

    Attributes:
        root: The folder of the set.
        files: The images.
        labels: Theirs; ``None``: nobody knows them.
        labels_file: The CSV that says them; ``None``: there is none.
        unlabelled: Images of the folder that it has no line for.
        notes: What is odd about them.
        groups: Of each a number that those have in common that are held out together; ``None``:
            none are.
        cells: What the CSV says of each, where that is wanted; ``None``: it is not, or there is
            none.
        numbers: That belong to each of them; ``None``: none are an input.
    """

    root: Path
    files: ImageFiles
    labels: ImageLabels | None
    labels_file: Path | None = None
    unlabelled: int = 0
    notes: tuple[Problem, ...] = ()
    groups: Array | None = None
    cells: Cells | None = None
    numbers: ImageNumbers | None = None

    def with_skipped(self, skipped: SkippedFiles) -> "ImageSet":
        """The same, of which some may be unreadable."""
        return replace(self, files=replace(self.files, skipped=skipped))

    def with_decoding(self, decoding: ImageDecoding) -> "ImageSet":
        """The same, decoded by what there is."""
        return replace(self, files=replace(self.files, decoding=decoding))


def list_sets(
    data: ImagesData,
    *,
    must_differ: bool = True,
    needs_labels: bool = True,
    keeps_cells: bool = False,
) -> dict[str, ImageSet]:
    """The sets that there are, by ``training``, ``validation`` and ``test``.

    Args:
        data: Where they are.
        must_differ: Refuse training images of one class: nothing can be learned from them.
        needs_labels: Without it, nobody need know what the images are.
        keeps_cells: Whether what else a CSV says of them is wanted.

    Raises:
        ProblemError: A folder is missing, or does not hold images in one of the ways that there
            are.
    """
    chosen, data = data, with_detected_sets(data, needs_labels=needs_labels)
    sets: dict[str, ImageSet] = {}
    for name, key in PATHS.items():
        path = getattr(data, key)
        if (path and not data.files) or name == "training":
            first = sets.get("training")
            lister = _Lister(data, Path(path), f"data.{key}", first, chosen, keeps_cells)
            sets[name] = lister.listed(must_differ=must_differ, needs_labels=needs_labels)
    _check_differ(sets)
    training = sets["training"]
    notes = (*training.notes, *sets_left_out(chosen, data))
    sets["training"] = replace(training, notes=notes)
    return sets


def _check_differ(sets: Mapping[str, ImageSet]) -> None:
    """Refuse two sets that are one folder by a link; of one that is chosen twice planning says it.

    Raises:
        ProblemError: They are.
    """
    places: dict[Path, str] = {}
    for name, each in sets.items():
        other = places.setdefault(each.root.resolve(), name)
        if each.root != sets[other].root:
            raise _problem(
                "data_sets_alike",
                f"The {other} and the {name} images are the same folder, {each.root.resolve()}: "
                "examples that were learned from cannot show how well the model generalises.",
                "Choose images that are used for nothing else.",
                each.files.key,
            )


@dataclass(frozen=True, slots=True, eq=False)
class _Lister:
    """Lists one set.

    Attributes:
        data: Whose.
        root: The folder of the set.
        key: The setting that names it.
        training: The training set, where this is another one.
        chosen: The settings as they were chosen, before sets were found.
        keeps_cells: Whether what else a CSV says of the images is wanted.
        unread: Counts the files that are no images by their names, by their suffixes.
    """

    data: ImagesData
    root: Path
    key: str
    training: ImageSet | None
    chosen: ImagesData
    keeps_cells: bool
    unread: Counter[str] = field(default_factory=Counter)

    def listed(self, *, must_differ: bool, needs_labels: bool) -> ImageSet:
        """The set; what is not read of its folder is said, also where it is refused."""
        try:
            found = self._listed(must_differ=must_differ, needs_labels=needs_labels)
        except ProblemError as error:
            raise ProblemError(*error.problems, *self._unread_notes()) from error
        return replace(found, notes=(*found.notes, *self._unread_notes()))

    def _unread_notes(self) -> tuple[Problem, ...]:
        note = unread_note(self.unread, self.root, self.key)
        return () if note is None else (note,)

    def _listed(self, *, must_differ: bool, needs_labels: bool) -> ImageSet:
        numbered = bool(self.data.numbers)
        if self.data.files:
            if numbered:
                raise numbers_without_table("the images were chosen one by one")
            if needs_labels:
                raise self._no_labels_of_files()
            return ImageSet(self.root, self._files(chosen_images(self.data)), None)
        folder = look_into(self.root, self.key)
        self.unread.update(folder.unread)
        csv = self._labels_file()
        if csv is None and numbered:
            raise numbers_without_table(f"{self.root} has no CSV of labels with them")
        if csv is not None and (needs_labels or numbered or csv.is_file()):
            try:
                return self._by_csv(csv, must_differ=must_differ)
            except ProblemError:
                if needs_labels:
                    raise
                if numbered:
                    return self._by_csv(csv, must_differ=False, has_labels=False)
        if csv is not None or folder.is_flat or (folder.has_images and not folder.folders):
            if needs_labels:
                raise self._no_labels()
            return ImageSet(self.root, self._files(self._below(self.root)), None)
        if needs_labels:
            return self._by_class(folder, must_differ=must_differ)
        return self._by_class_or_all(folder)

    def _by_class_or_all(self, folder: Folder) -> ImageSet:
        """All images, with what they are where their folders can be classes.

        Raises:
            ProblemError: There are none, or the folder cannot be read.
        """
        labels = None if self.training is None else self.training.labels
        if not folder.has_images and (self.training is None or labels is not None):
            try:
                return self._by_class(folder, must_differ=False)
            except ProblemError:
                if self.data.leave_out or not self._below(self.root):
                    raise
        return ImageSet(self.root, self._files(self._below(self.root)), None)

    def _labels_file(self) -> Path | None:
        """The labels file of this set; one chosen elsewhere is the training set's."""
        if not self.data.labels_csv:
            return None
        chosen = Path(self.data.labels_csv)
        if self.training is not None:
            first = self.training.root
            chosen = chosen.relative_to(first) if chosen.is_relative_to(first) else chosen
            chosen = Path(chosen.name) if chosen.is_absolute() else chosen
            shared = self.training.labels_file
            is_beside = shared is not None and not shared.resolve().is_relative_to(first.resolve())
            if is_beside and not (self.root / chosen.name).exists():
                return shared
            chosen = Path(chosen.name) if is_beside else chosen
        return self.root / chosen

    def _by_csv(self, csv: Path, *, must_differ: bool, has_labels: bool = True) -> ImageSet:
        images = self._below(self.root)
        beside = self.root.parent / csv.name
        if not csv.exists() and beside.is_file() and as_utf8(csv.name) == csv.name:
            raise _problem(
                "data_file_missing",
                f"There is no file {csv}, but one of that name beside the folder of images.",
                "Take the labels from there.",
                FIELD,
                Fix.of(f"Use ../{csv.name}", FIELD, f"../{csv.name}"),
            )
        file_column = self._file_column(csv, images)
        lines = read_lines(csv, self.root, images, file_column, self._of_other_sets)
        labels, numbers = None, None
        if self.training is not None:
            labels, numbers = self.training.labels, self.training.numbers
        if has_labels:
            found = labelled_images(
                self.data, lines, images, labels, numbers, must_differ=must_differ
            )
        else:
            found = numbered_images(self.data, lines, images, numbers)
        return ImageSet(
            self.root,
            self._files(found.paths),
            found.labels,
            csv,
            len(images) - len(found.paths),
            found.notes,
            found.groups,
            cells_of(lines, found.places) if self.keeps_cells else None,
            found.numbers,
        )

    def _of_other_sets(self) -> Iterator[NamedImages]:
        for key in PATHS.values():
            path = getattr(self.data, key)
            if path and Path(path) != self.root:
                yield named_images(Path(path), images_below(Path(path), f"data.{key}"))

    def _file_column(self, csv: Path, images: Sequence[str]) -> str | None:
        """The column that was chosen, where the CSV of another set has it as well."""
        chosen = self.data.file_column
        if self.training is None or chosen is None:
            return chosen
        return chosen if chosen in columns_of(csv, self.root, images)[0] else None

    def _by_class(self, folder: Folder, *, must_differ: bool) -> ImageSet:
        if self.data.predicts not in (None, Target.CLASSES):
            raise _problem(
                "data_predicts_misfit",
                f"{self.root} holds a folder for each class, but no {self.data.predicts} to "
                "predict.",
                "Choose a CSV with them in data.labels_csv; or predict classes.",
                "data.predicts",
            )
        if not folder.folders:
            raise _problem(
                "data_no_classes",
                f"{self.root} has no sub-folders, and each class needs one with its images.",
                "Sort the images into a folder for each class; its name is the class's name. Or "
                "put a CSV with their labels beside them.",
                self.key,
            )
        left_out = set(self.data.leave_out)
        chosen = [each for each in folder.folders if as_utf8(each.name) not in left_out]
        if not chosen:
            raise self._all_left_out(folder)
        files = {each.name: self._of_class(each) for each in chosen}
        if not must_differ:  # nothing is learned: a class may have no example here
            files = {name: paths for name, paths in files.items() if paths} or files
        names = tuple(map(as_utf8, files))
        empty = [name for name, paths in files.items() if not paths]
        beside = self._labels_beside(folder, files)
        if self.training is None:
            self._check_classes(names, empty, beside, must_differ=must_differ)
            called = names
        else:
            called = self._as_trained(names)
            names = self._compare_classes(called, must_differ=must_differ)
            if len(empty) == len(files):
                raise self._no_images(empty, len(files))
        place = {name: number for number, name in enumerate(names)}
        of_each = np.array([place[name] for name in called], np.int32)
        numbers = np.repeat(of_each, list(map(len, files.values())))
        found = [path for of_class in files.values() for path in of_class]
        labels = ImageLabels(numbers, Target.CLASSES, names)
        notes: tuple[Problem, ...] = ()
        if beside:
            notes = (beside_classes(beside, self.root, [*map(as_utf8, files)]),)
        if self.training is None:
            classes = ClassesOfImages(self.data, self.chosen, folder, chosen, files)
            notes = (*classes.unknown(), *notes, *classes.notes())
        return ImageSet(self.root, self._files(found), labels, notes=notes)

    def _labels_beside(self, folder: Folder, files: Mapping[str, Sequence[str]]) -> list[Path]:
        """CSV files right in the folder that name images of its classes."""
        if self.training is not None or not folder.unread.keys() & {".csv", ".tsv"}:
            return []
        return label_files((self.root,), self.root, [*chain.from_iterable(files.values())])

    def _check_classes(
        self, names: tuple[str, ...], empty: list[str], beside: list[Path], *, must_differ: bool
    ) -> None:
        if empty:
            raise self._annotated(names, empty) or self._no_images(empty, len(names))
        if must_differ and len(names) < 2:
            fixes = [*(labels_from(path, self.root) for path in beside)]
            fixes += filter(None, [use_inner_classes(self.root)])
            raise _problem(
                "data_one_class",
                f'{self.root} has one class folder only ("{names[0]}"), so there is nothing to '
                "distinguish.",
                "Sort the images into a folder for each of two classes or more.",
                "data.path",
                *fixes,
            )
        if len(names) > MOST_CLASSES:
            raise _problem(
                "data_too_many_classes",
                f"{self.root} has {len(names):,} class folders, and {MOST_CLASSES:,} classes can "
                "be distinguished at most.",
                "Choose a folder whose sub-folders are the classes.",
            )

    def _as_trained(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names as the training set spells them: Unicode normalization may differ."""
        labels = None if self.training is None else self.training.labels
        if labels is None:
            return names
        places = places_of(names, labels.names).tolist()
        spelled = zip(names, places, strict=True)
        return tuple(name if at == UNKNOWN else labels.names[at] for name, at in spelled)

    def _compare_classes(self, names: tuple[str, ...], *, must_differ: bool) -> tuple[str, ...]:
        """Check that the classes are those of the training set; some may have no image.

        Raises:
            ProblemError: There are others; or, where something is learned, not all have a folder.
        """
        labels = None if self.training is None else self.training.labels
        wanted = names if labels is None else labels.names
        if set(names) == set(wanted) or (not must_differ and set(names) <= set(wanted)):
            return wanted
        clauses = (
            ("has no folder", [name for name in wanted if name not in set(names)]),
            ("has also", [name for name in names if name not in set(wanted)]),
        )
        shown = " and ".join(f"{words} {shown_names(there)}" for words, there in clauses if there)
        left_out = [*self.data.leave_out, *(name for _, there in clauses for name in there)]
        remain = set(wanted) & set(names)
        fix = Fix.of("Leave these classes out of all sets", "data.leave_out", left_out)
        raise _problem(
            "data_classes_differ",
            f"The classes in {self.root} are not those of the training images: it {shown}.",
            "Name its folders as those in data.path; one without images may be there. Or leave "
            "these classes out.",
            self.key,
            *([fix] if len(remain) > 1 and labels is not None else []),
        )

    def _all_left_out(self, folder: Folder) -> ProblemError:
        return _problem(
            "data_no_classes",
            f"All {len(folder.folders):,} class folders in {self.root} are left out.",
            "Take one of them out of data.leave_out.",
            "data.leave_out",
        )

    def _annotated(self, names: Sequence[str], empty: Sequence[str]) -> ProblemError | None:
        """Boxes and masks that are no labels; ``None``: no folder is called so."""
        found = annotations_among(names, empty)
        if not found:
            return None
        return _problem(
            "data_annotations_are_no_labels",
            f"{self.root} holds images beside annotations of them, by the name of the folder "
            f"{shown_names(found)}. Boxes are not trained on here, and masks by Python code alone.",
            "Sort the images into a folder for each class; or choose a CSV in data.labels_csv with "
            "a label for each; or load images and masks by Python code. Predicting needs neither.",
            self.key,
        )

    def _no_images(self, empty: list[str], classes: int) -> ProblemError:
        names = [as_utf8(name) for name in empty]
        what = names[0] if len(names) == 1 else f"{len(names):,} empty classes"
        # Of a validation or test set it is not obvious where.
        where = "" if self.training is None else f" in {self.root}"
        one = f"Class {shown_names(empty)} has no images{where}."
        several = f"{len(empty):,} classes have no images{where}: {shown_names(empty)}."
        fix = None
        if self.training is None and len(empty) < classes:
            fix = Fix.of(f"Leave out {what}", "data.leave_out", [*self.data.leave_out, *names])
        return _problem(
            "data_class_empty",
            one if len(empty) == 1 else several,
            f"Put images ({', '.join(sorted(SUFFIXES))}) into its folder in {self.root}, or leave "
            "the class out.",
            self.key,
            fix,
        )

    def _no_labels(self) -> ProblemError:
        folders = (self.root, self.root.parent)
        files = label_files(folders, self.root, self._below(self.root))
        fixes = (
            [] if self.training is not None else [labels_from(path, self.root) for path in files]
        )
        is_found = self.training is None and self.data is not self.chosen
        if is_found and others_beside_sets(self.chosen):
            fixes.append(Fix.of("Take the folders for classes", "data.find_sets", value=False))
        return _problem(
            "data_labels_missing",
            f"{self.root} holds images without labels.",
            "Sort them into a folder for each class; or choose a CSV in data.labels_csv with a "
            "line for each: its file and its label. Predicting needs neither.",
            FIELD,
            *fixes,
        )

    def _no_labels_of_files(self) -> ProblemError:
        return _problem(
            "data_labels_missing",
            "The images were chosen one by one, so they have no labels.",
            "Predict on them; to train or evaluate, choose a folder with labels.",
            "data.files",
            Fix.of("Use all of the folder", "data.files"),
        )

    def _of_class(self, folder: Path) -> list[str]:
        """The images of a class, without those in folders that are left out."""
        left_out = set(self.data.leave_out)
        found = self._below(folder)
        if not left_out:
            return found
        below = (Path(path).relative_to(folder).parts[:-1] for path in found)
        return [
            path
            for path, parts in zip(found, below, strict=True)
            if left_out.isdisjoint(map(as_utf8, parts))
        ]

    def _below(self, folder: Path) -> list[str]:
        if folder == self.root:
            self.unread.clear()  # its own files are counted again
        return images_below(folder, self.key, self.unread)

    def _files(self, paths: Sequence[str]) -> ImageFiles:
        return ImageFiles(tuple(paths), wanted_pixels(self.data), self.key)


def _problem(
    code: str, message: str, hint: str, key: str = "data.path", *fixes: Fix | None
) -> ProblemError:
    fix, *more = fixes or (None,)
    alternatives = tuple(filter(None, more))
    return ProblemError(
        Problem(
            code=code, field=key, message=message, hint=hint, fix=fix, alternatives=alternatives
        )
    )

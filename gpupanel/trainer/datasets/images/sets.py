"""The images of each set with what they are: by their folders, by a CSV, or unknown."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gpupanel.domain.data import MOST_CLASSES, ImagesData, Target
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.class_folders import ClassFolders
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.images.chosen import chosen_images
from gpupanel.trainer.datasets.images.csv_lines import (
    FIELD,
    ImageLines,
    read_lines,
    without_column,
)
from gpupanel.trainer.datasets.images.decoding import ImageDecoding
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.images.formats import SUFFIXES
from gpupanel.trainer.datasets.images.labels import ImageLabels, labels_of
from gpupanel.trainer.datasets.images.listing import (
    Folder,
    images_below,
    look_into,
)
from gpupanel.trainer.datasets.images.set_folders import (
    image_folders_in,
    use_inner_classes,
    with_found_sets,
)
from gpupanel.trainer.datasets.images.unread import unread_note
from gpupanel.trainer.datasets.skipped_files import SkippedFiles

PATHS = {"training": "path", "validation": "validation_path", "test": "test_path"}
"""The setting that names the folder of each set."""


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
    """

    root: Path
    files: ImageFiles
    labels: ImageLabels | None
    labels_file: Path | None = None
    unlabelled: int = 0
    notes: tuple[Problem, ...] = ()
    groups: Array | None = None

    def with_skipped(self, skipped: SkippedFiles) -> "ImageSet":
        """The same, of which some may be unreadable."""
        return replace(self, files=replace(self.files, skipped=skipped))

    def with_decoding(self, decoding: ImageDecoding) -> "ImageSet":
        """The same, decoded by what there is."""
        return replace(self, files=replace(self.files, decoding=decoding))


def list_sets(
    data: ImagesData, *, must_differ: bool = True, needs_labels: bool = True
) -> dict[str, ImageSet]:
    """The sets that there are, by ``training``, ``validation`` and ``test``.

    Args:
        data: Where they are.
        must_differ: Refuse training images of one class: nothing can be learned from them.
        needs_labels: Without it, nobody need know what the images are.

    Raises:
        ProblemError: A folder is missing, or does not hold images in one of the ways that there
            are.
    """
    data = with_found_sets(data)
    sets: dict[str, ImageSet] = {}
    for name, key in PATHS.items():
        path = getattr(data, key)
        if (path and not data.files) or name == "training":
            lister = _Lister(data, Path(path), f"data.{key}", sets.get("training"))
            sets[name] = lister.listed(must_differ=must_differ, needs_labels=needs_labels)
    return sets


@dataclass(frozen=True, slots=True, eq=False)
class _Lister:
    """Lists one set.

    Attributes:
        data: Whose.
        root: The folder of the set.
        key: The setting that names it.
        training: The training set, where this is another one.
        unread: Counts the files that are no images by their names, by their suffixes.
    """

    data: ImagesData
    root: Path
    key: str
    training: ImageSet | None
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
        if self.data.files:
            if needs_labels:
                raise self._no_labels_of_files()
            return ImageSet(self.root, self._files(chosen_images(self.data)), None)
        folder = look_into(self.root, self.key)
        self.unread.update(folder.unread)
        csv = self._labels_file()
        if csv is not None and (needs_labels or csv.is_file()):
            return self._by_csv(csv, must_differ=must_differ)
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
        """Of this set; one that was chosen elsewhere is the training set's."""
        if not self.data.labels_csv:
            return None
        chosen = Path(self.data.labels_csv)
        if self.training is not None:
            first = self.training.root
            chosen = chosen.relative_to(first) if chosen.is_relative_to(first) else chosen
            chosen = Path(chosen.name) if chosen.is_absolute() else chosen
        return self.root / chosen

    def _by_csv(self, csv: Path, *, must_differ: bool) -> ImageSet:
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
        lines, groups = read_lines(csv, self.root, images), None
        if self.data.chosen_group:
            lines, belongs = without_column(
                lines, self.data.chosen_group, must_be_there=self.training is None
            )
            # Numbers: what they are called does not matter.
            number_of = {name: number for number, name in enumerate(dict.fromkeys(belongs))}
            groups = np.array([number_of[name] for name in belongs], np.int64)
        others = None if self.training is None else self.training.labels
        labels = labels_of(
            lines,
            self.data.predicts,
            others,
            must_differ=must_differ and others is None,
        )
        chosen = [images[place] for place in lines.images]
        notes = _notes(lines, images, self.data.unreadable_share)
        unlabelled = len(images) - len(set(lines.images))
        return ImageSet(self.root, self._files(chosen), labels, csv, unlabelled, notes, groups)

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
        files = {each.name: self._below(each) for each in chosen}
        if not must_differ:  # nothing is learned: a class may have no example here
            files = {name: paths for name, paths in files.items() if paths} or files
        names = tuple(map(as_utf8, files))
        empty = [name for name, paths in files.items() if not paths]
        if self.training is None:
            self._check_classes(names, empty, must_differ=must_differ)
        else:
            names = self._compare_classes(names, must_differ=must_differ)
            if len(empty) == len(files):
                raise self._no_images(empty, len(files))
        place = {name: number for number, name in enumerate(names)}
        of_each = np.array([place[as_utf8(name)] for name in files], np.int32)
        numbers = np.repeat(of_each, list(map(len, files.values())))
        found = [path for of_class in files.values() for path in of_class]
        labels = ImageLabels(numbers, Target.CLASSES, names)
        notes = self._unknown(folder)
        if self.training is None:
            notes = (*notes, *self._notes_on_classes(folder, chosen))
        return ImageSet(self.root, self._files(found), labels, notes=notes)

    def _notes_on_classes(self, folder: Folder, chosen: Sequence[Path]) -> tuple[Problem, ...]:
        classes = ClassFolders(
            self.root,
            chosen,
            folder.images,
            "image",
            {key: getattr(self.data, key) for key in PATHS.values()},
            image_folders_in,
            Fix.of("Keep them as classes", "data.find_sets", value=False),
        )
        doubt = classes.doubt() if self.data.find_sets else None
        return tuple(filter(None, (classes.beside_note(), doubt)))

    def _unknown(self, folder: Folder) -> tuple[Problem, ...]:
        """A hint where a class that is left out is not there."""
        there = {as_utf8(each.name) for each in folder.folders}
        unknown = [name for name in self.data.leave_out if name not in there]
        if self.training is not None or not unknown:
            return ()
        return (
            Problem(
                code="data_left_out_unknown",
                severity=Severity.HINT,
                field="data.leave_out",
                message=f"{self.root} has no class folder {_shown(unknown)} to be left out.",
                hint="Check its name; capital letters count.",
                fix=Fix.of(
                    "Leave out those that are there",
                    "data.leave_out",
                    [name for name in self.data.leave_out if name in there],
                ),
            ),
        )

    def _check_classes(
        self, names: tuple[str, ...], empty: list[str], *, must_differ: bool
    ) -> None:
        if empty:
            raise self._no_images(empty, len(names))
        if must_differ and len(names) < 2:
            raise _problem(
                "data_one_class",
                f'{self.root} has one class folder only ("{names[0]}"), so there is nothing to '
                "distinguish.",
                "Sort the images into a folder for each of two classes or more.",
                fix=use_inner_classes(self.root),
            )
        if len(names) > MOST_CLASSES:
            raise _problem(
                "data_too_many_classes",
                f"{self.root} has {len(names):,} class folders, and {MOST_CLASSES:,} classes can "
                "be distinguished at most.",
                "Choose a folder whose sub-folders are the classes.",
            )

    def _compare_classes(self, names: tuple[str, ...], *, must_differ: bool) -> tuple[str, ...]:
        """Those of the training set; some of these may have no image.

        Raises:
            ProblemError: There are others; or, where something is learned, not all have a folder.
        """
        labels = None if self.training is None else self.training.labels
        wanted = names if labels is None else labels.names
        if names == wanted or (not must_differ and set(names) <= set(wanted)):
            return wanted
        clauses = (
            ("has no folder", [name for name in wanted if name not in set(names)]),
            ("has also", [name for name in names if name not in set(wanted)]),
        )
        shown = " and ".join(f"{words} {_shown(there)}" for words, there in clauses if there)
        raise _problem(
            "data_classes_differ",
            f"The classes in {self.root} are not those of the training images: it {shown}.",
            "Name its folders as those in data.path; one without images may be there.",
            self.key,
        )

    def _all_left_out(self, folder: Folder) -> ProblemError:
        return _problem(
            "data_no_classes",
            f"All {len(folder.folders):,} class folders in {self.root} are left out.",
            "Take one of them out of data.leave_out.",
            "data.leave_out",
        )

    def _no_images(self, empty: list[str], classes: int) -> ProblemError:
        names = [as_utf8(name) for name in empty]
        what = names[0] if len(names) == 1 else f"{len(names):,} empty classes"
        # Of a validation or test set it is not obvious where.
        where = "" if self.training is None else f" in {self.root}"
        one = f"Class {_shown(empty)} has no images{where}."
        several = f"{len(empty):,} classes have no images{where}: {_shown(empty)}."
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
        tables = [path.name for path in self.root.glob("*.[ct]sv")]
        fix = None
        if len(tables) == 1 and self.training is None and as_utf8(tables[0]) == tables[0]:
            fix = Fix.of(f"Take the labels from {tables[0]}", FIELD, tables[0])
        return _problem(
            "data_labels_missing",
            f"{self.root} holds images without labels.",
            "Sort them into a folder for each class; or choose a CSV in data.labels_csv with a "
            "line for each: its file and its label. Predicting needs neither.",
            FIELD,
            fix,
        )

    def _no_labels_of_files(self) -> ProblemError:
        return _problem(
            "data_labels_missing",
            "The images were chosen one by one, so they have no labels.",
            "Predict on them; to train or evaluate, choose a folder with labels.",
            "data.files",
            Fix.of("Use all of the folder", "data.files"),
        )

    def _below(self, folder: Path) -> list[str]:
        if folder == self.root:
            self.unread.clear()  # its own files are counted again
        return images_below(folder, self.key, self.unread)

    def _files(self, paths: Sequence[str]) -> ImageFiles:
        channels = 3 if self.data.color == "rgb" else 1
        white = self.data.white_value
        return ImageFiles(tuple(paths), self.data.image_size, channels, white, self.key)


def _notes(lines: ImageLines, images: Sequence[str], share: float) -> tuple[Problem, ...]:
    """What of a CSV and a folder does not belong together.

    Raises:
        ProblemError: More lines than may be are of images that are not there.
    """
    notes = []
    if lines.missing:
        count, total = len(lines.missing), len(lines.missing) + len(lines.images)
        is_much = count > share * total
        notes.append(
            Problem(
                code="data_images_missing",
                severity=Severity.ERROR if is_much else Severity.WARNING,
                field=FIELD,
                message=f"{count:,} of the {total:,} images in {lines.path} are not in the folder: "
                f"{_shown(lines.missing)}.",
                hint="Put them there, or allow for more in data.unreadable_share."
                if is_much
                else "They are left out.",
                detail="\n".join(lines.missing[:_MOST_NAMED]),
            )
        )
        if is_much:
            raise ProblemError(*notes)
    listed = set(lines.images)
    unlisted = [path for place, path in enumerate(images) if place not in listed]
    if unlisted:
        notes.append(
            Problem(
                code="data_images_unlabelled",
                severity=Severity.HINT,
                field=FIELD,
                message=f"{lines.path} has no line for {len(unlisted):,} of the {len(images):,} "
                "images in the folder: "
                f"{_shown([as_utf8(Path(path).name) for path in unlisted[:6]])}.",
                hint="They are left out; give each a line there to use them.",
                detail="\n".join(as_utf8(path) for path in unlisted[:_MOST_NAMED]),
            )
        )
    return tuple(notes)


_MOST_NAMED = 1000


def _shown(names: Sequence[str]) -> str:
    named = ", ".join(f'"{name}"' for name in names[:5])
    return f"{named}, ..." if len(names) > 5 else named


def _problem(
    code: str, message: str, hint: str, key: str = "data.path", fix: Fix | None = None
) -> ProblemError:
    return ProblemError(Problem(code=code, field=key, message=message, hint=hint, fix=fix))

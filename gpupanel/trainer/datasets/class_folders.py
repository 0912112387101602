"""What is odd about folders that are taken for classes."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.set_names import TRAINING, known_sets, words_of

_MASKS: Final = frozenset(
    {
        *("mask", "masks", "segmentation", "segmentations", "segmentationclass", "gt", "trimaps"),
        *("segmentationobject", "groundtruth", "annotation", "annotations", "label", "labels"),
    }
)
_IMAGES: Final = frozenset(
    {"image", "images", "img", "imgs", "input", "inputs", "original", "jpegimages"}
)


@dataclass(frozen=True)
class ClassFolders:
    """Folders that are taken for classes.

    Attributes:
        root: Where they are.
        folders: Theirs.
        beside: How many files stand beside them, and are of no class.
        noun: What these are: image, text.
        chosen: What the settings of the other sets name, by their names.
        names_below: The names of the folders in one of them that hold such files, in order.
        kept: What says that they are classes; ``None``: nothing can say it.
        without: What leaves out folders of some names, where that can be said.
    """

    root: Path
    folders: Sequence[Path]
    beside: int
    noun: str
    chosen: Mapping[str, str]
    names_below: Callable[[Path], Sequence[str]]
    kept: Fix | None = None
    without: Callable[[Sequence[str]], Fix] | None = None

    def beside_note(self) -> Problem | None:
        """Files that belong to no class; ``None``: there are none."""
        if not self.beside:
            return None
        is_one = self.beside == 1
        are = f"{self.noun} stands" if is_one else f"{self.noun}s stand"
        no_class = "belongs to no class: it is" if is_one else "belong to no class: they are"
        return _warning(
            "data_files_beside_classes",
            f"{self.beside:,} {are} beside the folders of the classes in {self.root}, and "
            f"{no_class} not used.",
            "Move each into the folder of its class, or leave it there.",
        )

    def doubt(self) -> Problem | None:
        """Why they are probably no classes; ``None``: nothing says so."""
        return (
            self._masks()
            or self._sets()
            or self._sets_below()
            or self._masks_below()
            or self._others_below()
            or self._classes_below()
        )

    @cached_property
    def _below(self) -> Mapping[Path, Sequence[str]]:
        """The names of the folders in each."""
        return {folder: self.names_below(folder) for folder in self.folders}

    def _masks(self) -> Problem | None:
        images, masks = _images_and_masks(folder.name for folder in self.folders)
        if not images or not masks:
            return None
        named = [folder for folder in self.folders if folder.name in (images[0], masks[0])]
        return self._warning(
            "data_masks_as_classes",
            f"The folders {_named(named)} are classes here, and their names are those "
            "of images and of their masks or annotations.",
            "A model would learn which images are masks. Choose a folder with a sub-folder for "
            "each class, or a CSV with labels",
        )

    def _masks_below(self) -> Problem | None:
        """A warning where classes hold folders of images and of masks: both are examples."""
        found = {name for names in self._below.values() for name in _images_and_masks(names)[1]}
        masks = sorted(found)
        holding = [folder for folder in self.folders if found & {*self._below[folder]}]
        if not masks or not any(_images_and_masks(self._below[each])[0] for each in holding):
            return None
        return self._warning(
            "data_masks_as_classes",
            f"Of the classes {_named(holding[:2])} the {self.noun}s in folders called "
            f"{_quoted(masks[:2])} are examples like the others, and by its name this is a folder "
            "of masks or annotations.",
            "Leave them out",
            None if self.without is None else self.without(masks),
        )

    def _sets(self) -> Problem | None:
        meant = known_sets(self.folders)
        unlabelled = [folder for folder, (sets, _) in meant.items() if not sets[0]]
        sets = {folder: each[0] for folder, (each, _) in meant.items() if each[0]}
        # Vehicles may be trains, and papers valid or invalid, but hardly anything is a validation.
        names = [folder.name.lower() for folder in self.folders]
        is_sure = any(
            len(self._below[folder]) > 1
            or (
                key != TRAINING
                and not meant[folder][1]
                and sum(folder.name.lower() in name for name in names) == 1
            )
            for folder, key in sets.items()
        )
        if len(set(sets.values())) < 2 and not is_sure:
            return self._unlabelled(unlabelled)
        of_set = {key: folder for folder, key in reversed(sets.items())}
        is_one = len(of_set) < 2
        named = self.folders[:2] if is_one else tuple(of_set.values())
        whose = f"the name of {_named(tuple(sets)[:1])} is that of a set"
        return self._warning(
            "data_sets_as_classes",
            f"The folders {_named(named)} are classes here, and "
            f"{whose if is_one else 'their names are those of sets'}.",
            f"A model would learn which set each {self.noun} is in. Choose the folders of the sets",
            self._use_as_sets(of_set),
        )

    def _unlabelled(self, folders: Sequence[Path]) -> Problem | None:
        if not folders:
            return None
        return self._warning(
            "data_sets_as_classes",
            f"The folder {_named(folders[:1])} is a class here, and its name is that of "
            f"{self.noun}s without labels.",
            "Move it elsewhere, and predict on it",
        )

    def _use_as_sets(self, of_set: Mapping[str, Path]) -> Fix | None:
        """The folders as sets, where one of them is of training examples."""
        if TRAINING not in of_set:
            return None
        paths = {key: str(path) for key, path in of_set.items() if not self.chosen.get(key)}
        paths[TRAINING] = str(of_set[TRAINING])
        if any(as_utf8(path) != path for path in paths.values()):
            return None
        changes = [Change(path=("data", key), value=path) for key, path in paths.items()]
        return Fix(label="Use them as sets", changes=tuple(changes))

    def _sets_below(self) -> Problem | None:
        """A warning where the folders in the classes are called as sets are."""
        of_class = {folder: names for folder, names in self._below.items() if names}
        called = [Path(name) for names in of_class.values() for name in names]
        meant = known_sets(called)
        sets = {each[0] for each, _ in meant.values()}
        if len(meant) < len({*called}) or len(sets) < 2 or TRAINING not in sets:
            return None
        first, *others = dict.fromkeys(sorted(path.name for path in called))
        return self._warning(
            "data_folders_in_classes",
            f"The classes {_named(tuple(of_class)[:2])} hold folders called "
            f"{_quoted([first, *others][:3])}, and these are names of sets: here all {self.noun}s "
            "in them are of one set.",
            "Put the folders of the classes into those of the sets, as in "
            f'"{as_utf8(first)}/{as_utf8(next(iter(of_class)).name)}"',
        )

    def _others_below(self) -> Problem | None:
        """A warning where one of them holds folders called as the others: copies, perhaps."""
        names = {folder.name for folder in self.folders}
        for folder, below in self._below.items():
            same = [name for name in below if name in names]
            if same and len(same) >= min(2, len(names) - 1):
                return self._warning(
                    "data_classes_in_class",
                    f"The folder {_named([folder])} is a class here, and holds folders called as "
                    f"other classes, {_quoted(same[:2])}.",
                    "Archives often hold the same folders twice: leave it out, or choose it as the "
                    "folder of the classes",
                    None if self.without is None else self.without([folder.name]),
                )
        return None

    def _classes_below(self) -> Problem | None:
        """A warning where they hold folders of the same names: those may be the classes."""
        shared = self._shared_names()
        if not shared:
            return None
        named, shown = _named(self.folders[:2]), _quoted(shared[:2])
        return self._warning(
            "data_folders_in_classes",
            f"The folders {named} are classes here, and hold folders of the same names, {shown}: "
            "those may be the classes.",
            f"If they are, choose {_named(self.folders[:1])} as the folder to train on, and others "
            "for validation and test",
        )

    def _shared_names(self) -> Sequence[str]:
        """Of the folders in them, where most have several, most of which come back in another."""
        below = self._below.values()
        several = sum(len(names) > 1 for names in below)
        if len(below) < 2 or not all(below) or 2 * several < len(below):
            return ()
        times = Counter(name for names in below for name in names)
        if any(2 * sum(times[name] > 1 for name in names) < len(names) for names in below):
            return ()
        return [name for name, count in sorted(times.items()) if count > 1]

    def _warning(self, code: str, message: str, hint: str, fix: Fix | None = None) -> Problem:
        if self.kept is None:
            return _warning(code, message, f"{hint}.", fix)
        hint = f"{hint}; or keep them where they are classes, without data.find_sets."
        return _warning(code, message, hint, fix, (self.kept,))


def annotations_among(names: Iterable[str], empty: Iterable[str]) -> list[str]:
    """Folders without examples that are called as annotations, where another is as images are."""
    return _images_and_masks(empty)[1] if _images_and_masks(names)[0] else []


def is_of_images(name: str) -> bool:
    """Whether a folder is called as one of images, and not as a class."""
    return bool(_images_and_masks([name])[0])


def _images_and_masks(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Which of the names are called as images are, and which as masks."""
    images, masks = [], []
    for name in names:
        words = {*words_of(name), "".join(words_of(name))}
        if words & _MASKS:
            masks.append(name)
        elif words & _IMAGES:
            images.append(name)
    return images, masks


def _named(folders: Sequence[Path]) -> str:
    return _quoted([folder.name for folder in folders])


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f'"{as_utf8(name)}"' for name in names)


def _warning(
    code: str, message: str, hint: str, fix: Fix | None = None, alternatives: tuple[Fix, ...] = ()
) -> Problem:
    return Problem(
        code=code,
        severity=Severity.WARNING,
        field="data.path",
        message=message,
        hint=hint,
        fix=fix,
        alternatives=alternatives,
    )

"""What is odd about folders that are taken for classes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.set_names import TRAINING, known_sets

_MASKS: Final = frozenset(
    {
        *("mask", "masks", "segmentation", "segmentations", "groundtruth", "ground_truth", "gt"),
        *("annotation", "annotations", "label", "labels"),
    }
)
_IMAGES: Final = frozenset({"image", "images", "img", "imgs", "input", "inputs", "original"})
_DEEPEST: Final = 4


@dataclass(frozen=True, slots=True)
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
    """

    root: Path
    folders: Sequence[Path]
    beside: int
    noun: str
    chosen: Mapping[str, str]
    names_below: Callable[[Path], Sequence[str]]
    kept: Fix | None = None

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
        return self._masks() or self._sets() or self._classes_below()

    def _masks(self) -> Problem | None:
        names = {folder.name.lower() for folder in self.folders}
        if not names & _MASKS or not names & _IMAGES:
            return None
        return self._warning(
            "data_masks_as_classes",
            f"The folders {_named(self.folders[:2])} are classes here, and their names are those "
            "of images and of their masks or annotations.",
            "A model would learn which images are masks. Choose a folder with a sub-folder for "
            "each class, or a CSV with labels",
        )

    def _sets(self) -> Problem | None:
        meant = known_sets(self.folders)
        unlabelled = [folder for folder, (sets, _) in meant.items() if not sets[0]]
        sets = {folder: each[0] for folder, (each, _) in meant.items() if each[0]}
        if len(set(sets.values())) < 2 and not (sets and self._common_names()):
            return self._unlabelled(unlabelled)
        of_set = {key: folder for folder, key in reversed(sets.items())}
        named = self.folders[:2] if len(of_set) < 2 else tuple(of_set.values())
        return self._warning(
            "data_sets_as_classes",
            f"The folders {_named(named)} are classes here, and their names are those of sets.",
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

    def _classes_below(self) -> Problem | None:
        """A warning where all hold folders of the same names: those may be the classes."""
        below = self._common_names()
        if len(below) < 2:
            return None
        inner = [self.folders[0] / name for name in below]
        named, shown = _named(self.folders[:2]), _named(inner[:2])
        if any(sets[0] for sets, _ in known_sets(inner).values()):
            return self._warning(
                "data_folders_in_classes",
                f"The classes {named} hold folders of the same names, {shown}, and these are names "
                f"of sets: here all {self.noun}s in them are of one set.",
                "Put the folders of the classes into those of the sets, as in "
                f'"{as_utf8(below[0])}/{as_utf8(self.folders[0].name)}"',
            )
        return self._warning(
            "data_folders_in_classes",
            f"The folders {named} are classes here, and hold folders of the same names, {shown}: "
            "those may be the classes.",
            f"If they are, choose {_named(self.folders[:1])} as the folder to train on, and others "
            "for validation and test",
        )

    def _common_names(self) -> Sequence[str]:
        """Of the folders in all of them, where each holds the same; else none."""
        if len(self.folders) < 2:
            return ()
        names: Sequence[str] | None = None
        for folder in self.folders:
            here = self.names_below(folder)
            if not here or names not in (None, here):
                return ()
            names = here
        return names or ()

    def _warning(self, code: str, message: str, hint: str, fix: Fix | None = None) -> Problem:
        if self.kept is None:
            return _warning(code, message, f"{hint}.", fix)
        hint = f"{hint}; or turn off data.find_sets where they are classes."
        return _warning(code, message, hint, fix, (self.kept,))


def _named(folders: Sequence[Path]) -> str:
    return " and ".join(f'"{as_utf8(folder.name)}"' for folder in folders)


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

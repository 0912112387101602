"""What is odd about the folders of classes of training images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.class_folders import ClassFolders
from gpupanel.trainer.datasets.images.listing import Folder, image_folders_in
from gpupanel.trainer.datasets.images.mask_names import note_on_masks

PATHS = {"training": "path", "validation": "validation_path", "test": "test_path"}
"""The setting that names the folder of each set."""


@dataclass(frozen=True, slots=True)
class ClassesOfImages:
    """Folders of images that are taken for classes.

    Attributes:
        data: As it is read: with the sets that were found.
        chosen: As a person chose it.
        folder: Where the folders of the classes are.
        used: These that are not left out.
        files: The images of each, by its name.
    """

    data: ImagesData
    chosen: ImagesData
    folder: Folder
    used: Sequence[Path]
    files: Mapping[str, Sequence[str]]

    def notes(self) -> Iterator[Problem]:
        """What is odd about them."""
        classes = ClassFolders(
            self.folder.path,
            self.used,
            self.folder.images,
            "image",
            {key: getattr(self.data, key) for key in PATHS.values()},
            self._folders_in,
            self._kept(),
            self._without,
        )
        beside = classes.beside_note()
        doubt = classes.doubt() if self.chosen.find_sets else None
        masks = note_on_masks(self.files, self.folder.path)
        yield from filter(None, (beside, doubt, masks))

    def unknown(self) -> Iterator[Problem]:
        """A hint where a folder that is left out is not there."""
        left_out = self.data.leave_out
        if not left_out:
            return
        there = {as_utf8(each.name) for each in self.folder.folders}
        there |= {as_utf8(name) for each in self.folder.folders for name in image_folders_in(each)}
        unknown = [name for name in left_out if name not in there]
        if not unknown:
            return
        yield Problem(
            code="data_left_out_unknown",
            severity=Severity.HINT,
            field="data.leave_out",
            message=f"{self.folder.path} has no class folder {shown_names(unknown)} to be left "
            "out.",
            hint="Check its name; capital letters count.",
            fix=Fix.of(
                "Leave out those that are there",
                "data.leave_out",
                [name for name in left_out if name in there],
            ),
        )

    def _folders_in(self, folder: Path) -> list[str]:
        left_out = self.data.leave_out
        return [name for name in image_folders_in(folder) if as_utf8(name) not in left_out]

    def _kept(self) -> Fix:
        """What says that the folders are classes, and which are sets where these were found."""
        changes = [Change(path=("data", "find_sets"), value=False)]
        if self.data is not self.chosen:
            paths = ((key, getattr(self.data, key)) for key in PATHS.values())
            changes += [Change(path=("data", key), value=path) for key, path in paths if path]
        return Fix(label="Keep them as classes", changes=tuple(changes))

    def _without(self, names: Sequence[str]) -> Fix:
        left_out = [*self.data.leave_out, *map(as_utf8, names)]
        return Fix.of(f"Leave out {shown_names(names)}", "data.leave_out", left_out)


def shown_names(names: Sequence[str]) -> str:
    """The first of some names, in quotation marks."""
    named = ", ".join(f'"{as_utf8(name)}"' for name in names[:5])
    return f"{named}, ..." if len(names) > 5 else named

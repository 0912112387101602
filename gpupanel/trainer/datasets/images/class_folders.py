"""What is odd about folders that are taken for classes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.images.listing import Folder, holds_images, look_into
from gpupanel.trainer.datasets.images.set_folders import known_sets
from gpupanel.trainer.datasets.images.set_names import TRAINING

_MASKS: Final = frozenset(
    {
        *("mask", "masks", "segmentation", "segmentations", "groundtruth", "ground_truth", "gt"),
        *("annotation", "annotations", "label", "labels"),
    }
)
_IMAGES: Final = frozenset({"image", "images", "img", "imgs", "input", "inputs", "original"})
_DEEPEST: Final = 4
_KEPT: Final = Fix.of("Keep them as classes", "data.find_sets", value=False)


def notes_on_classes(data: ImagesData, folder: Folder, chosen: Sequence[Path]) -> Iterator[Problem]:
    """What is odd about the folders of the training images.

    Args:
        data: Which images were chosen.
        folder: Where the folders are.
        chosen: Those that are classes.

    Raises:
        ProblemError: One of the folders cannot be read.
    """
    if folder.images:
        are = "image stands" if folder.images == 1 else "images stand"
        yield _warning(
            "data_images_beside_classes",
            f"{folder.images:,} {are} beside the folders of the classes in {folder.path}, and "
            f"belong{'s' if folder.images == 1 else ''} to no class: "
            f"{'it is' if folder.images == 1 else 'they are'} not used.",
            "Move them into the folder of their class, or leave them there.",
        )
    if data.find_sets:
        found = _sets_as_classes(data, chosen) or _folders_in_classes(chosen)
        if found is not None:
            yield found


def use_inner_classes(folder: Path) -> Fix | None:
    """The first folder below that holds several folders of images, where the ways there are one.

    Raises:
        ProblemError: One of the folders cannot be read.
    """
    for _ in range(_DEEPEST):
        below = [each for each in look_into(folder, "data.path").folders if holds_images(each)]
        if len(below) != 1 or below[0].is_symlink():
            break
        folder = below[0]
    if len(below) < 2 or as_utf8(str(folder)) != str(folder):
        return None
    return Fix.of(f"Use the classes in {folder.name}", "data.path", str(folder))


def _sets_as_classes(data: ImagesData, folders: Sequence[Path]) -> Problem | None:
    """A warning where folders that are taken for classes have names of different sets."""
    names = {folder.name.lower() for folder in folders}
    if names & _MASKS and names & _IMAGES:
        return _warning(
            "data_masks_as_classes",
            f"The folders {_named(folders[:2])} are classes here, and their names are those of "
            "images and of their masks or annotations.",
            "A model would learn which images are masks. Choose a folder with a sub-folder for "
            "each class, or a CSV with labels; or turn off data.find_sets where they are classes.",
            alternatives=(_KEPT,),
        )
    sets = {folder: meant[0] for folder, (meant, _) in known_sets(folders).items() if meant[0]}
    if len(set(sets.values())) < 2 and not (sets and _names_below(folders)):
        return None
    of_set = {key: folder for folder, key in reversed(sets.items())}
    named = folders[:2] if len(of_set) < 2 else tuple(of_set.values())
    return _warning(
        "data_sets_as_classes",
        f"The folders {_named(named)} are classes here, and their names are those of sets.",
        "A model would learn which set an image is in. Choose the folders of the sets; or "
        "turn off data.find_sets where they are classes.",
        _use_as_sets(data, of_set),
        (_KEPT,),
    )


def _use_as_sets(data: ImagesData, of_set: dict[str, Path]) -> Fix | None:
    """The folders as sets, where one of them is of training images."""
    if TRAINING not in of_set:
        return None
    paths = {key: str(path) for key, path in of_set.items() if not getattr(data, key, "")}
    paths[TRAINING] = str(of_set[TRAINING])
    if any(as_utf8(path) != path for path in paths.values()):
        return None
    changes = [Change(path=("data", key), value=path) for key, path in paths.items()]
    return Fix(label="Use them as sets", changes=tuple(changes))


def _folders_in_classes(folders: Sequence[Path]) -> Problem | None:
    """A warning where all classes hold folders of the same names: those may be the classes."""
    below = _names_below(folders)
    if len(below) < 2:
        return None
    inner = [folders[0] / name for name in below]
    named, shown = _named(folders[:2]), _named(inner[:2])
    if {meant[0] for meant, _ in known_sets(inner).values()} - {""}:
        return _warning(
            "data_folders_in_classes",
            f"The classes {named} hold folders of the same names, {shown}, and these are names of "
            "sets: here all images in them are of one set.",
            f'Put the folders of the classes into those of the sets, as in "{as_utf8(below[0])}/'
            f'{as_utf8(folders[0].name)}"; or turn off data.find_sets where this is meant.',
            alternatives=(_KEPT,),
        )
    return _warning(
        "data_folders_in_classes",
        f"The folders {named} are classes here, and hold folders of the same names, {shown}: those "
        "may be the classes.",
        f"If they are, choose {_named(folders[:1])} as the folder of the training images, and "
        "others for validation and test. If not, turn off data.find_sets.",
        alternatives=(_KEPT,),
    )


def _names_below(folders: Sequence[Path]) -> list[str]:
    """Of the folders of images in all of them, where each holds the same; else none."""
    if len(folders) < 2:
        return []
    names: list[str] | None = None
    for folder in folders:
        below = look_into(folder, "data.path").folders
        names_here = [each.name for each in below if holds_images(each)]
        if not names_here or names not in (None, names_here):
            return []
        names = names_here
    return names or []


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

"""Images that are masks or copies of others, by their names."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import as_utf8

_MASK: Final = re.compile(
    r"(.+?)[\s_.-]*(?:masks?|seg|segm|segmentation|gt|groundtruth|annotation|trimap)[\s_.-]*\d{0,3}",
    re.IGNORECASE,
)
_MANY_TWINS: Final = 0.1
"""From this part of the images on, names that differ in their suffix alone are no accident."""


def note_on_masks(files: Mapping[str, Sequence[str]], root: Path) -> Problem | None:
    """A warning where images of classes are called as the masks of others, or as twins of these.

    ``1_mask.png`` beside ``1.png`` is called as a mask, and so may be ``1.png`` beside ``1.jpg``.

    Args:
        files: The paths of the images of each class.
        root: The folder of the classes.
    """
    masks: list[str] = []
    twins: list[str] = []
    count = 0
    # A mask and a twin stand beside what they are of: in one class.
    for paths in files.values():
        forms = _forms_by_stem(paths)
        count += sum(map(len, forms.values()))
        twins += (stem for stem, of_stem in forms.items() for _ in of_stem[1:])
        masks += (stem for stem in forms if (found := _base(stem)) and found in forms)
    if masks:
        first = min(masks)
        return _warning(
            len(masks),
            root,
            "are called as the masks of others",
            f'"{_name(first)}" beside "{_name(_base(first))}"',
        )
    if not twins or len(twins) < _MANY_TWINS * count:
        return None
    return _warning(
        len(twins),
        root,
        "have the name of another one, but for its suffix, as masks and copies do",
        f'two called "{_name(min(twins))}"',
    )


def _forms_by_stem(paths: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The forms of the images of each name; as texts, since a path each takes far longer."""
    found: dict[str, tuple[str, ...]] = {}
    alone: dict[str, tuple[str, ...]] = {}  # one for all that have but that form
    for stem, form in map(_stem_and_form, paths):
        before = found.get(stem)
        if before is None:
            found[stem] = alone.setdefault(form, (form,))
        elif form not in before:
            found[stem] = (*before, form)
    return found


def _stem_and_form(path: str) -> tuple[str, str]:
    """The path without its suffix; and this, one for all that JPEGs have."""
    stem, _, suffix = path.rpartition(".")
    return stem, "jpg" if suffix.lower().startswith(("j", "pj")) else suffix.lower()


def _base(stem: str) -> str:
    """The path of the image that one with such a name is a mask of; empty: of none."""
    folder, separator, name = stem.rpartition(os.sep)
    found = _MASK.fullmatch(name)
    return f"{folder}{separator}{found[1]}" if found else ""


def _name(stem: str) -> str:
    return as_utf8(stem.rpartition(os.sep)[2])


def _warning(count: int, root: Path, what: str, example: str) -> Problem:
    return Problem(
        code="data_masks_as_images",
        severity=Severity.WARNING,
        field="data.path",
        message=f"{count:,} images in {root} {what}, such as {example}: here they are examples of "
        "their classes, like the others.",
        hint="Move them out of the folders of the classes, unless they are examples.",
    )

"""Images that are masks or copies of others, by their names."""

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
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
    # As texts: paths of 100,000 images take seconds.
    named = {_stem_and_form(path) for paths in files.values() for path in paths}
    stems = sorted(stem for stem, _ in named)
    there = {*stems}
    masks = sorted(stem for stem in there if (found := _base(stem)) and found in there)
    if masks:
        return _warning(
            len(masks),
            root,
            "are called as the masks of others",
            f'"{_name(masks[0])}" beside "{_name(_base(masks[0]))}"',
        )
    twins = len(stems) - len(there)
    if not twins or twins < _MANY_TWINS * len(stems):
        return None
    twin = next(stem for stem, after in pairwise(stems) if stem == after)
    return _warning(
        twins,
        root,
        "have the name of another one, but for its suffix, as masks and copies do",
        f'two called "{_name(twin)}"',
    )


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

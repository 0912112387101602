"""Images that were chosen one by one."""

import os
from collections.abc import Sequence
from pathlib import Path

from gpupanel.domain.images_data import ImagesData
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.trainer.datasets.images.listing import is_image
from gpupanel.trainer.parts.named_files import NamedFiles

_FIELD = "data.files"
_SHOWN = 5


def chosen_images(data: ImagesData) -> list[str]:
    """The paths of the images that the settings name, in their order; none is opened.

    Raises:
        ProblemError: Some are not there, or are not images by their names.
    """
    there, missing, others = [], [], []
    named = NamedFiles()
    for name in data.files:
        path = named.path_of(data.path, name)
        if path is None:
            missing.append(name)
        elif not is_image(Path(name).name) or os.path.isdir(path):  # noqa: PTH112 - of a text
            others.append(name)
        else:
            there.append((name, path))
    rest = [name for name, _ in there]
    of_chosen = f"of the {len(data.files):,} chosen"
    problems = [
        Problem(
            code=code,
            field=_FIELD,
            message=f"{len(names):,} {what}: {_named(names)}.",
            hint=hint,
            detail="\n".join(names[:1000]),
            fix=_without(names, rest),
        )
        for code, names, what, hint in (
            (
                "data_files_missing",
                missing,
                f"{of_chosen} images are not in {data.path}",
                "Put them back, or leave them out.",
            ),
            (
                "data_files_no_pictures",
                others,
                f"{of_chosen} files are not images by their names",
                "Leave them out; a folder of images is chosen alone.",
            ),
        )
        if names
    ]
    if problems:
        raise ProblemError(*problems)
    return [path for _, path in there]


def _without(names: Sequence[str], rest: list[str]) -> Fix | None:
    what = "it" if len(names) == 1 else f"these {len(names):,}"
    return Fix.of(f"Leave {what} out", _FIELD, rest) if rest else None


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{name}"' for name in names[:_SHOWN])
    return f"{shown}, ..." if len(names) > _SHOWN else shown

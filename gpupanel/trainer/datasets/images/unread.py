"""Files beside images that are not images by their names: counted, named and said."""

from collections.abc import Mapping

from gpupanel.domain.image_names import BESIDE_IMAGES, OTHER_IMAGE_SUFFIXES
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.parts.image_formats import MISSING_READERS

_MOST_SHOWN = 5


def unread_note(counts: Mapping[str, int], root: object, key: str) -> Problem | None:
    """What is not read of a folder; ``None``: nothing that might be an image.

    Args:
        counts: Files by their suffixes, in small letters; an empty one: those without.
        root: The folder.
        key: The setting that names it.
    """
    found = {suffix: count for suffix, count in counts.items() if suffix not in BESIDE_IMAGES}
    if not found:
        return None
    order = sorted(found, key=lambda suffix: (-found[suffix], suffix))
    named = [f"{found[suffix]:,} {as_utf8(suffix) or 'without a suffix'}" for suffix in order]
    shown = ", ".join(named[:_MOST_SHOWN]) + (", ..." if len(named) > _MOST_SHOWN else "")
    count = sum(found.values())
    what = f"{count:,} files are not images by their names"
    if count == 1:
        what = "1 file is not an image by its name"
    of_reader: dict[str, list[str]] = {}
    for suffix in order:
        if suffix in MISSING_READERS:
            of_reader.setdefault(MISSING_READERS[suffix], []).append(suffix)
    hints = [
        f"{' and '.join(suffixes)} can be read with {reader}"
        for reader, suffixes in of_reader.items()
    ]
    hint = "They are not read. Save images among them as JPEG or PNG, under names that say so"
    may_be_images = any(
        suffix in OTHER_IMAGE_SUFFIXES or suffix in MISSING_READERS or not suffix
        for suffix in found
    )
    return Problem(
        code="data_files_not_read",
        severity=Severity.WARNING if may_be_images else Severity.HINT,
        field=key,
        message=f"{what}: {shown} in {root}.",
        hint=f"{'; '.join([hint, *hints])}.",
        detail="\n".join(named),
    )

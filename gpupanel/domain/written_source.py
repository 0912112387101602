"""Python that reads cells of tables as people write them, for scripts that stand alone."""

import inspect
from types import ModuleType

from gpupanel.domain import images_in_table, written_dates, written_numbers, written_tags
from gpupanel.domain.script_parts import without_docstring


def written_source() -> str:
    """The text for numbers and dates, without what the modules say of themselves."""
    return "\n\n".join(map(_text_of, (written_numbers, written_dates)))


def labels_source() -> str:
    """The text that reads labels of images: which image a line is about, numbers and tags."""
    texts = map(_text_of, (written_numbers, written_tags, images_in_table))
    lines = "\n\n".join(texts).splitlines()
    return "\n".join(line for line in lines if not line.startswith("from gpupanel"))


def _text_of(module: ModuleType) -> str:
    return without_docstring(inspect.getsource(module))

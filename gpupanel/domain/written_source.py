"""Python that reads numbers and dates as people write them, for scripts that stand alone."""

import ast
import inspect
from types import ModuleType

from gpupanel.domain import written_dates, written_numbers


def written_source() -> str:
    """The text of both modules, without what they say of themselves."""
    return "\n\n".join(map(_without_docstring, (written_numbers, written_dates)))


def _without_docstring(module: ModuleType) -> str:
    text = inspect.getsource(module)
    end = ast.parse(text).body[0].end_lineno
    return "\n".join(text.splitlines()[end:]).strip()

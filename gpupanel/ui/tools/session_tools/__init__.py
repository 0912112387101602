"""The tools that ask one question about the session: a module here each, named ``TOOL`` in it."""

import pkgutil
from importlib import import_module
from typing import Final

from gpupanel.ui.tools.session_tool_binding import SessionTool


def _found_tools() -> tuple[SessionTool, ...]:
    names = (found.name for found in pkgutil.iter_modules(__path__))
    tools: list[SessionTool] = [import_module(f"{__name__}.{name}").TOOL for name in names]
    return tuple(sorted(tools, key=lambda tool: tool.rank))


SESSION_TOOLS: Final = _found_tools()
"""All of them, in the order of their buttons."""

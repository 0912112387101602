"""Python code of the person's own on its way between the window and the host."""

from pathlib import Path

from gpupanel.hosts.operations.starting import CodeThere
from gpupanel.runs.trust.user_code import UserCode


def told(code: UserCode) -> CodeThere:
    """As it stands in a line."""
    content = code.content.decode("latin-1")
    return CodeThere(key=code.key, path=str(code.path), content=content)


def heard(code: CodeThere) -> UserCode:
    """As it is shown and trusted."""
    return UserCode(code.key, Path(code.path), code.content.encode("latin-1"))

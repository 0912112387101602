"""Where the files that are shipped beside the code lie."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_PLACES = (_PACKAGE / "resources", _PACKAGE.parent / "resources")
"""Inside the package when installed from a wheel; beside it in a source checkout."""


@cache
def folder() -> Path:
    """The folder with icons, style sheets, example profiles and the guide.

    Raises:
        FileNotFoundError: This installation is damaged: the folder is not there.
    """
    for place in _PLACES:
        if (place / "styles").is_dir():
            return place
    message = f"gpupanel's resources are missing: looked in {', '.join(map(str, _PLACES))}"
    raise FileNotFoundError(message)


def document(name: str) -> Path | None:
    """The path of a page of the documentation; ``None``: this installation has none of that name.

    Args:
        name: Of a file; a path is none.
    """
    if Path(name).name != name:
        return None
    page = path("guide", name)
    return page if page.is_file() else None


def path(*parts: str) -> Path:
    """The path of one shipped file: ``path("styles", "panel.qss")``."""
    return folder().joinpath(*parts)

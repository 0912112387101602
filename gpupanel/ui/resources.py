"""Where the files that are shipped beside the code lie."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_PLACES = (_PACKAGE / "resources", _PACKAGE.parent / "resources")
"""Inside the package when installed from a wheel; beside it in a source checkout."""


@cache
def folder() -> Path:
    """The folder with icons, style sheets and example profiles.

    Raises:
        FileNotFoundError: This installation is damaged: the folder is not there.
    """
    for place in _PLACES:
        if (place / "styles").is_dir():
            return place
    message = f"gpupanel's resources are missing: looked in {', '.join(map(str, _PLACES))}"
    raise FileNotFoundError(message)


def path(*parts: str) -> Path:
    """The path of one shipped file: ``path("styles", "panel.qss")``."""
    return folder().joinpath(*parts)

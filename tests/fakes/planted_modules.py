"""Files of a stranger's that are named as modules, and leave a mark when they are run."""

import keyword
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

_CUSTOMIZING = ("sitecustomize", "usercustomize")
"""Python imports them by itself at its start."""
_TOO_EARLY = {"encodings"}
"""Without it Python cannot open the file of marks."""


def every_name() -> set[str]:
    """Top-level modules of the standard library, of what is installed, and of ours."""
    names = {*sys.stdlib_module_names, *metadata.packages_distributions(), *_CUSTOMIZING}
    return {
        name
        for name in (names | {"gpupanel"}) - _TOO_EARLY
        if name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
    }


class PlantedModules:
    """Plants files, and knows which of them were run.

    Args:
        marks: The file that they leave their marks in.
    """

    def __init__(self, marks: Path) -> None:
        self._marks = marks

    def plant(self, folder: Path, names: Iterable[str] = ()) -> Path:
        """Plant a file for each name, and for our own a folder, too; all names when left out."""
        folder.mkdir(parents=True, exist_ok=True)
        text = f"with open({str(self._marks)!r}, 'a') as marks: marks.write(__file__ + '\\n')\n"
        for name in names or every_name():
            if name == "gpupanel":
                (folder / name).mkdir(exist_ok=True)
                (folder / name / "__init__.py").write_text(text)
            else:
                (folder / f"{name}.py").write_text(text)
        return folder

    @property
    def run(self) -> list[str]:
        """The planted files that were run."""
        return self._marks.read_text().splitlines() if self._marks.exists() else []

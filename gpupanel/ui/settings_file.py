"""The file of the window's settings, opened only where it is one.

``QSettings`` opens whatever stands there and waits: a FIFO in its place kept the window from
opening, for ever and without a word.
"""

from pathlib import Path
from typing import Final

from PySide6.QtCore import QCoreApplication, QSettings, QStandardPaths

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.regular_files import obstacle

_NOWHERE: Final = Path(__file__) / "settings"
"""Below a regular file nothing can ever be made: such settings live as long as the window."""


def open_settings() -> tuple[QSettings, Problem | None]:
    """The settings of the application's name, as ``QSettings()`` names their file.

    Returns:
        The settings, and why they are the defaults and are not kept, where their file cannot be
        used.
    """
    file = _settings_file()
    problem = _unusable(file)
    return QSettings(
        str(file if problem is None else _NOWHERE), QSettings.Format.IniFormat
    ), problem


def _settings_file() -> Path:
    location = QStandardPaths.StandardLocation.GenericConfigLocation
    application = QCoreApplication.instance()
    assert application is not None, "the application names its settings"
    folder = Path(QStandardPaths.writableLocation(location), application.organizationName())
    return folder / f"{application.applicationName()}.conf"


def _unusable(file: Path) -> Problem | None:
    found = obstacle(file)
    if found is None:
        return None
    return Problem(
        code="window_settings_unusable",
        severity=Severity.WARNING,
        message=f"The file of the window's settings, {visible_line(str(file))}, cannot be used: "
        f"{found}. The window has its defaults, and forgets at its end what is changed.",
        hint="Move it away, and open the window again.",
    )

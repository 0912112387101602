"""The person's settings of notes: a file of their own, which holds secrets."""

import os
import stat
from typing import Final

from gpupanel.domain.notes import NoteSettings, setting_problems
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.directory.settings_file import SettingsFile

NOTES_FILE: Final = SettingsFile(
    name="notes.toml",
    kind=NoteSettings,
    of="notes",
    code="notes_unreadable",
    hint="Mend that in the file, or set notes in the window's settings. Until then none is sent.",
)


def problems_of(settings: NoteSettings) -> tuple[Problem, ...]:
    """What is wrong with the settings, and with who may read their file."""
    path = NOTES_FILE.path()
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116 - of what a link leads to
    except OSError:
        mode = 0
    found = setting_problems(settings)
    if not mode & (stat.S_IRWXG | stat.S_IRWXO) or not (settings.webhook or settings.command):
        return found
    return (
        *found,
        Problem(
            code="notes_readable_by_others",
            severity=Severity.WARNING,
            message=f"Others on this machine can read {visible_line(str(path))}, and the address "
            "of the webhook with it.",
            hint="Take that right from them, or save the settings in the window once.",
            command=f"chmod 600 {visible_line(str(path))}",
        ),
    )

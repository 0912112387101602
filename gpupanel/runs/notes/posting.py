"""Posting a note where its kind is wanted, by every way that is set; never in anybody's way."""

import hashlib
import time
from typing import Final

from gpupanel.domain.notes import NoteKind, NoteSettings, PostedNote
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.visible_text import as_utf8, visible_line, visible_lines
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.locations import notes_dir
from gpupanel.runs.notes.note_settings import NOTES_FILE
from gpupanel.runs.notes.outbox import Outbox
from gpupanel.runs.notes.waking import wake_courier

_LONGEST_TITLE: Final = 200
_LONGEST: Final = 3_000
"""Characters of a text: ntfy makes a file of what has more than 4,096 bytes."""


def are_wanted() -> bool:
    """Whether notes are sent at all."""
    return bool(_settings().ways)


def post(kind: NoteKind, title: str, text: str, *, run: str = "", about: str) -> None:
    """Tell a person of something, once.

    Args:
        kind: What it is.
        title: In a few words.
        text: In one or several sentences.
        run: The directory of the run that it is about, if it is about one.
        about: The same for the same happening, whoever posts it.
    """
    settings = _settings()
    if not settings.wants(kind):
        return
    key = hashlib.sha256(f"{run}\0{about}".encode(errors="surrogateescape")).hexdigest()[:32]
    try:
        # Names of folders are bytes, and servers take text.
        note = PostedNote(
            key=key,
            kind=kind,
            title=visible_line(title)[:_LONGEST_TITLE],
            text=visible_lines(text)[:_LONGEST],
            run=as_utf8(run),
            time_s=time.time(),
        )
        outbox = Outbox(notes_dir())
        outbox.post(note, settings.ways)
        wake_courier(outbox)
    except Exception as error:  # noqa: BLE001 - whichever it is, no run may suffer from it
        write_to_process_log(f"notes: “{title}” was not posted: {error}")


def _settings() -> NoteSettings:
    try:
        return NOTES_FILE.read()
    except ProblemError as error:
        write_to_process_log(f"notes: {error}")
        return NoteSettings()

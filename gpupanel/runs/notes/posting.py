"""Posting a note where its kind is wanted, by every way that is set; never in anybody's way."""

import hashlib
import time

from gpupanel.domain.notes import NoteKind, NoteSettings, PostedNote
from gpupanel.domain.problem import ProblemError
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.locations import notes_dir
from gpupanel.runs.notes.note_settings import read_note_settings
from gpupanel.runs.notes.outbox import Outbox
from gpupanel.runs.notes.waking import wake_courier


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
    note = PostedNote(key=key, kind=kind, title=title, text=text, run=run, time_s=time.time())
    try:
        outbox = Outbox(notes_dir())
        outbox.post(note, settings.ways)
        wake_courier(outbox)
    except (OSError, ProblemError) as error:
        write_to_process_log(f"notes: “{title}” was not posted: {error}")


def _settings() -> NoteSettings:
    try:
        return read_note_settings()
    except ProblemError as error:
        write_to_process_log(f"notes: {error}")
        return NoteSettings()

"""The ways that a note takes to a person."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from tempfile import TemporaryFile
from typing import IO, Final

from gpupanel.domain.child_command import WORKING_DIRECTORY, child_environment
from gpupanel.domain.notes import NoteSettings, PostedNote, Way, setting_problems
from gpupanel.domain.visible_text import visible_beginning, visible_line
from gpupanel.runs.notes.delivery import NotDeliveredError
from gpupanel.runs.notes.webhook import send_to_webhook

_LIMIT_S: Final = 60.0
_LAST_BYTES: Final = 4_096
_SENDMAIL: Final = ("/usr/sbin/sendmail", "/usr/lib/sendmail")


def deliver(note: PostedNote, way: Way, settings: NoteSettings) -> None:
    """Take a note by a way; returns when it has arrived, as far as that is known.

    Raises:
        NotDeliveredError: It has not.
    """
    for problem in setting_problems(settings):
        if problem.is_error and problem.field == way.value:
            raise NotDeliveredError(problem.message, may_go_well=False)
    _DELIVER[way](note, settings)


def _by_desktop(note: PostedNote, _settings: NoteSettings) -> None:
    tool = shutil.which("notify-send")
    if tool is None:
        raise NotDeliveredError(
            "There is no notify-send: install libnotify-bin.", may_go_well=False
        )
    urgency = "normal" if note.kind.value in ("ended", "queue_empty") else "critical"
    _run([tool, "--app-name=gpupanel", f"--urgency={urgency}", "--", note.title, note.text])


def _by_command(note: PostedNote, settings: NoteSettings) -> None:
    try:
        words = shlex.split(settings.command)
    except ValueError as error:
        raise NotDeliveredError(
            f"The command cannot be read: {error}.", may_go_well=False
        ) from error
    facts = {
        "GPUPANEL_NOTE_KIND": note.kind.value,
        "GPUPANEL_NOTE_RUN": note.run,
        "GPUPANEL_NOTE_TITLE": note.title,
        "GPUPANEL_NOTE_TEXT": note.text,
    }
    _run([os.path.expanduser(words[0]), *words[1:], note.title, note.text], facts)  # noqa: PTH111


def _by_mail(note: PostedNote, settings: NoteSettings) -> None:
    tool = next((each for each in _SENDMAIL if os.access(each, os.X_OK)), shutil.which("sendmail"))
    if tool is None:
        raise NotDeliveredError(
            "This machine has no sendmail: install one that passes mail on, such as msmtp-mta.",
            may_go_well=False,
        )
    mail = EmailMessage()
    mail["To"] = settings.mail
    mail["Subject"] = visible_line(note.title)
    # Who gets it twice sees that it is the same.
    mail["Message-ID"] = f"<{note.key}@gpupanel.{socket.gethostname()}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(note.text)
    _run([tool, "-i", "--", settings.mail], text=mail.as_bytes(policy=SMTP.clone(linesep="\n")))


_DELIVER: Final[Mapping[Way, Callable[[PostedNote, NoteSettings], None]]] = {
    Way.DESKTOP: _by_desktop,
    Way.COMMAND: _by_command,
    Way.WEBHOOK: send_to_webhook,
    Way.MAIL: _by_mail,
}


def _run(
    command: Sequence[str], additions: Mapping[str, str] | None = None, text: bytes = b""
) -> None:
    """Run a program of this machine; whatever it leaves behind after its time is ended, too."""
    name = visible_line(command[0])
    # Files, not pipes: a child that it leaves behind would keep those open.
    with TemporaryFile() as given, TemporaryFile() as said:
        given.write(text)
        given.seek(0)
        try:
            process = subprocess.Popen(
                command,
                stdin=given,
                stdout=said,
                stderr=said,
                cwd=WORKING_DIRECTORY,
                env=child_environment(os.environ, additions),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise NotDeliveredError(
                f"{name} cannot be started: {why}.", may_go_well=False
            ) from None
        try:
            status = process.wait(_LIMIT_S)
        except subprocess.TimeoutExpired:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise NotDeliveredError(f"{name} was not done within {_LIMIT_S:.0f} s.") from None
        if status:
            raise NotDeliveredError(f"{name} ended with {status}{_last_words(said)}.")


def _last_words(said: IO[bytes]) -> str:
    end = said.seek(0, os.SEEK_END)
    said.seek(max(0, end - _LAST_BYTES))
    lines = said.read().decode(errors="replace").strip().splitlines()
    return f": {visible_beginning(lines[-1])}" if lines else ""

"""The courier: a process per user that takes notes to their person, and ends when none waits.

``python -m gpupanel.runs.notes.courier FOLDER``. It may be killed at any moment: whoever posts the
next note, or opens a window, starts another one, which takes what waits. Killed just between a
server's answer and the note about it, it sends that one note again: better twice than never.
"""

import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final

from filelock import Timeout

from gpupanel.domain.notes import NoteSettings, PostedNote, Way
from gpupanel.domain.problem import ProblemError
from gpupanel.files.bounded_log import BoundedLog
from gpupanel.files.locks import lock_in_folder
from gpupanel.files.process_log import write_to_process_log
from gpupanel.runs.notes.delivery import NotDeliveredError
from gpupanel.runs.notes.note_settings import NOTES_FILE
from gpupanel.runs.notes.outbox import Letter, Outbox
from gpupanel.runs.notes.waking import courier_lock_file, courier_log
from gpupanel.runs.notes.ways import deliver

LOG_BYTES: Final = 256 * 1024
_ANOTHER_S: Final = 2.0
_LIMIT_S: Final = 120
_LOOK_S: Final = 2.0
"""How soon a note is seen that is posted while another one waits for its next try."""
_WAITS_S: Final = (5.0, 20.0, 60.0, 300.0, 900.0, 3_600.0)
"""After each try in vain; then the last one again and again."""
_GIVES_UP_S: Final = 7 * 86_400.0
"""What nobody heard within a week is news no longer."""

Deliver = Callable[[PostedNote, Way, NoteSettings], None]


class Courier:
    """Takes what waits in an outbox.

    Args:
        outbox: Where notes wait.
        take: Takes one by a way.
    """

    def __init__(self, outbox: Outbox, take: Deliver = deliver) -> None:
        self._outbox = outbox
        self._take = take

    def run(self) -> None:
        """Work until nothing waits, unless another one does."""
        try:
            with lock_in_folder(courier_lock_file(self._outbox.folder), _ANOTHER_S):
                self._outbox.forget_old()
                log = BoundedLog(courier_log(self._outbox.folder), LOG_BYTES, LOG_BYTES)
                try:
                    while self.step():
                        log.bound()
                        time.sleep(_LOOK_S)
                finally:
                    log.close()
        except Timeout:
            return
        # Who posted while this one was about to go has found a courier, and started none.
        if self._outbox.letters():
            self.run()

    def step(self) -> bool:
        """Take what is due; says whether anything waits."""
        letters = self._outbox.letters()
        now_s = time.time()
        for letter in letters:
            # A clock that was set back is no reason to wait for years.
            if letter.next_s <= now_s or letter.next_s > now_s + 2 * _WAITS_S[-1]:
                self._try(letter)
        return bool(letters)

    def _try(self, letter: Letter) -> None:
        settings = _settings()
        if settings is None:
            self._outbox.put_off(letter, _WAITS_S[2])
            return
        if letter.way not in settings.ways:
            # Switched off since.
            self._outbox.settle(letter)
            return
        try:
            self._take_within_limit(letter, settings)
        except NotDeliveredError as error:
            is_old = time.time() - letter.note.time_s > _GIVES_UP_S
            write_to_process_log(
                f"notes: “{letter.note.title}” by {letter.way.label.lower()}: {error}"
                f"{' It is given up.' if is_old else ''}"
            )
            if is_old:
                self._outbox.settle(letter)
            else:
                # Also where the same would come of it again: a person mends the settings.
                wait_s = _WAITS_S[min(letter.tries, len(_WAITS_S) - 1)]
                self._outbox.put_off(letter, wait_s if error.may_go_well else max(60.0, wait_s))
        else:
            self._outbox.settle(letter)

    def _take_within_limit(self, letter: Letter, settings: NoteSettings) -> None:
        """A server that answers a letter a second, or a fault of ours, holds no other note up.

        Raises:
            NotDeliveredError: It was not taken.
        """
        signal.signal(signal.SIGALRM, _give_up)
        signal.alarm(_LIMIT_S)
        try:
            self._take(letter.note, letter.way, settings)
        except NotDeliveredError:
            raise
        except TimeoutError:
            raise NotDeliveredError(f"It was not taken within {_LIMIT_S} s.") from None
        except Exception as error:  # noqa: BLE001 - whichever it is, other notes wait
            # Its own words may have an address in them.
            raise NotDeliveredError(f"It could not be sent ({type(error).__name__}).") from None
        finally:
            signal.alarm(0)


def _give_up(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def _settings() -> NoteSettings | None:
    try:
        return NOTES_FILE.read()
    except ProblemError as error:
        write_to_process_log(f"notes: {error}")
        return None


if __name__ == "__main__":
    with suppress(FileNotFoundError):  # the folder was removed
        Courier(Outbox(Path(sys.argv[1]))).run()

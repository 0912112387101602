"""What is told of the queue: what cannot be started, and that nothing is left."""

import socket
import time
from collections.abc import Sequence

from gpupanel.domain.notes import NoteKind
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.runs.notes.posting import post
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine


def note_refused(entry: QueueEntry, problems: Sequence[Problem]) -> None:
    """An entry cannot be started until somebody mends it."""
    post(
        NoteKind.NEEDS_YOU,
        f"{visible_beginning(entry.name)}: cannot be started on {socket.gethostname()}",
        "\n".join(problem_sentences(problem) for problem in problems),
        about=f"refused {entry.id} {entry.revision}",
    )


def note_trouble(problems: Sequence[Problem]) -> None:
    """The queue stands still until somebody mends that."""
    words = "\n".join(problem_sentences(problem) for problem in problems)
    title = f"The queue of {socket.gethostname()} stands still"
    # The same trouble on another day is news.
    post(NoteKind.NEEDS_YOU, title, words, about=f"trouble {int(time.time() // 86_400)} {words}")


def note_empty(line: WaitingLine) -> None:
    """The last run of the queue has ended; of a queue that had none nothing is told."""
    ended = [entry for entry in line.entries if entry.state is EntryState.ENDED]
    if not ended:
        return
    last = max(ended, key=lambda entry: entry.started_s or entry.added_s)
    how = f": {last.outcome.value}" if last.outcome is not None else ""
    post(
        NoteKind.QUEUE_EMPTY,
        f"The queue of {socket.gethostname()} is empty",
        f"The last was {visible_beginning(last.name)}{how}.",
        about=f"empty {last.id} {last.started_s}",
    )

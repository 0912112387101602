"""The queue of the host: what it holds, and what a window asks of it."""

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Final

from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import document_of, profile_from_document
from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts import code
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.queue import EntryTakenOut, QueueDone, QueueNews, QueueWanted
from gpupanel.runs.locations import default_runs_dir, queue_dir
from gpupanel.runs.trust.trusted import CodeNotTrustedError, trust
from gpupanel.runs.user_queue import UserQueue

if TYPE_CHECKING:
    from gpupanel.domain.problem import Problem

LOOK_S: Final = 0.5
_LOOKS_A_WAKING: Final = 10


def tell_queue(_: Nothing, say: Callable[[QueueNews], None], dropped: Event) -> Nothing:
    """Tell what the queue holds, and what keeps it from working, until nobody wants it."""
    queue, seen, looks = UserQueue(queue_dir()), object(), 0
    told: tuple[Problem, ...] | None = None
    while True:
        fingerprint = queue.fingerprint()
        if fingerprint != seen:
            line, seen = queue.read(), fingerprint
            say(QueueNews(line=line))
        if fingerprint is not None and looks % _LOOKS_A_WAKING == 0:
            problems = queue.problems(line)
            if problems != told:
                told = problems
                say(QueueNews(problems=problems))
            queue.wake()
        looks += 1
        if dropped.wait(LOOK_S):
            return Nothing()


def act_on_queue(
    wanted: QueueWanted, _say: Callable[[Nothing], None], _dropped: Event
) -> QueueDone:
    """Do something with the queue; what came of it.

    Raises:
        ProblemError: It cannot be done.
    """
    trust([*map(code.heard, wanted.trusted)])
    try:
        return _done(UserQueue(queue_dir()), wanted)
    except CodeNotTrustedError as error:
        return QueueDone(untrusted=tuple(map(code.told, error.code)))


def _done(queue: UserQueue, wanted: QueueWanted) -> QueueDone:
    match wanted.act:
        case "add":
            return QueueDone(entry=queue.add(_profile(wanted), default_runs_dir()))
        case "continue":
            layout = RunLayout(default_runs_dir() / wanted.run)
            profile = None if wanted.profile is None else _profile(wanted)
            return QueueDone(entry=queue.continue_run(layout, profile))
        case "edit":
            profile = _profile(wanted)
            return QueueDone(entry=queue.edit(wanted.entry_id, profile, wanted.revision))
        case "move":
            queue.move(wanted.entry_id, wanted.place)
        case "take_out":
            removed = queue.take_out(wanted.entry_id)
            return QueueDone(removed=None if removed is None else EntryTakenOut.of(removed))
        case "put_back":
            if wanted.removed is not None:
                queue.put_back(wanted.removed.removed())
        case "clear":
            queue.clear()
        case "profile":
            revision, profile = queue.profile(wanted.entry_id)
            return QueueDone(revision=revision, profile=document_of(profile))
        case "pause" | "go_on":
            queue.set_paused(paused=wanted.act == "pause")
    return QueueDone()


def _profile(wanted: QueueWanted) -> Profile:
    return profile_from_document(wanted.profile or {})

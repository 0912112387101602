"""The files of one run, told piece by piece: what is there first, then what is written to it."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import read_file, size_of, status
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.runs import RunPiece, RunWanted, ToldUpTo
from gpupanel.hosts.there.thinning import EventThinning, RegularThinning, Thinning, pieces
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.directory.tails import ByteTail, LineTail, Place
from gpupanel.runs.locations import default_runs_dir

LOOK_S: Final = 0.5
_IDLE_LOOK_S: Final = 2.0
"""Between two looks at a run that has ended: it may be resumed."""
_MOST_LOG_BYTES: Final = 2**18
"""Of a log that is there; of more the end."""
MOST_NEW_LOG_BYTES: Final = 2**13
"""Of what is printed within one look: a connection is no place for a flood."""
_MOST_WHOLE_BYTES: Final = 8 * 2**20
WHOLE_FILES: Final = ("profile.toml", "plan.json", "label.toml", "data.json", "evaluation.npz")
"""Small files that are written anew as a whole, and told again when they have changed."""

_MOST_FORMER: Final = 100
_LEFT_OUT: Final = b"[... part of the log is left out over the connection ...]\n"

Say = Callable[[RunPiece], None]


def follow_run(wanted: RunWanted, say: Say, dropped: Event) -> Nothing:
    """Tell what stands in a run's files, and what is written to them until nobody wants it.

    Args:
        wanted: Which run.
        say: Called with each piece; it waits while the connection is slow.
        dropped: Set, by any thread, when nobody wants it any more.

    Raises:
        ProblemError: There is no such run.
    """
    run = _Followed(run_there(wanted.name), wanted.told, say)
    run.fill(dropped)
    while wanted.is_followed and not dropped.wait(run.pause_s):
        run.tell_new(dropped)
    return Nothing()


def run_there(name: str) -> RunLayout:
    """The run of that name.

    Raises:
        ProblemError: There is no such run.
    """
    layout = RunLayout(default_runs_dir() / name)
    if not layout.root.is_dir():
        raise ProblemError(_run_not_there(name))
    return layout


def _run_not_there(name: str) -> Problem:
    """The problem of a run that was deleted meanwhile, or never was."""
    return Problem(
        code="run_not_there",
        message=f"There is no run {name} on the host any more.",
        hint="Refresh the list of runs.",
    )


class _Followed:
    """Remembers how far each file was told."""

    def __init__(self, layout: RunLayout, told: Mapping[str, ToldUpTo], say: Say) -> None:
        self._layout, self._say = layout, say
        self._growing = (
            _Growing(layout.events, told, EventThinning),
            _Growing(layout.telemetry, told, RegularThinning),
            _Growing(layout.validation_examples, told, RegularThinning),
        )
        self._log = _Log(layout.trainer_log, told)
        self._whole: dict[str, tuple[int, int, int]] = {}
        self._is_running = is_supervised(layout)
        self._told_s = 0.0

    @property
    def pause_s(self) -> float:
        """How long to wait before the next look."""
        return LOOK_S if self._is_running else _IDLE_LOOK_S

    def fill(self, dropped: Event) -> None:
        """Tell what is there."""
        self._tell_whole()
        self._tell_growing(dropped)
        self._say(RunPiece(is_running=self._is_running, is_filled=True))

    def tell_new(self, dropped: Event) -> None:
        """Tell what was written since."""
        # Asked before, told after: whoever hears an end finds the last word of the run.
        is_running = is_supervised(self._layout)
        self._tell_growing(dropped)
        if time.monotonic() - self._told_s > _IDLE_LOOK_S or is_running is not self._is_running:
            self._tell_whole()
        if is_running is not self._is_running:
            self._is_running = is_running
            self._say(RunPiece(is_running=is_running))

    def _tell_growing(self, dropped: Event) -> None:
        for growing in self._growing:
            for piece in growing.told(dropped):
                self._say(piece)
        for piece in self._log.told():
            self._say(piece)

    def _tell_whole(self) -> None:
        self._told_s = time.monotonic()
        for name in (*WHOLE_FILES, *self._former()):
            path = self._layout.root / name
            try:
                found = status(path)
                if found is None:
                    if self._whole.pop(name, None) is not None:
                        self._say(RunPiece(file=name, is_gone=True))
                    continue
                stamp = found.st_ino, found.st_mtime_ns, found.st_size
                if self._whole.get(name) == stamp:
                    continue
                content = read_file(path, most_bytes=_MOST_WHOLE_BYTES)
            except OSError:
                continue  # a link, another user's or too large: as if it were not there
            self._whole[name] = stamp
            for piece in _in_pieces(name, content, is_first=True):
                self._say(piece)

    def _former(self) -> Iterator[str]:
        """The profiles and plans from before the run was changed."""
        layout = self._layout
        for number in range(1, _MOST_FORMER):
            if not os.path.lexists(layout.former_profile(number)):
                return
            yield layout.former_profile(number).name
            yield layout.former_plan(number).name


class _Growing:
    """A file of lines that is appended to; of many lines that wait few are told."""

    def __init__(
        self, path: Path, told: Mapping[str, ToldUpTo], thinning: Callable[[int], Thinning]
    ) -> None:
        self._path, self._make_thinning = path, thinning
        self._begin(_place(told.get(path.name)))

    def _begin(self, place: Place) -> None:
        size = size_of(self._path)
        if size < place.offset:
            place = Place()  # it was written anew
        self._tail = LineTail(self._path)
        self._tail.move_to(place)
        self._identity = place.identity
        self._is_first = place.identity is None
        self._is_begun = False
        """Some of what is to be written at once was told, and the rest of it was not."""
        self._thinning: Thinning | None = self._make_thinning(max(0, size - place.offset))

    def told(self, dropped: Event) -> Iterator[RunPiece]:
        """What is new, and where it is much that has waited, in few lines."""
        while not dropped.is_set():
            try:
                block = self._tail.read_block()
            except OSError:
                return
            place = self._tail.place
            if self._identity not in (None, place.identity):
                # Another file by now, which is told from its start.
                self._begin(Place())
                continue
            self._identity = place.identity
            if self._thinning is None:
                yield from self._pieces(block)
            else:
                # What of it waits here is told with the rest: until then nothing of it counts.
                yield from self._pieces(self._thinning.take(block), has_more=True)
            if not self._tail.has_more:
                break
        if self._thinning is not None and not dropped.is_set():
            rest, self._thinning = self._thinning.rest(), None
            yield from self._pieces(rest)

    def _pieces(self, block: bytes, *, has_more: bool = False) -> Iterator[RunPiece]:
        if not block and (has_more or not self._is_begun):
            return
        self._is_begun = has_more
        is_first, self._is_first = self._is_first, False
        told = _told(self._tail.place)
        yield from _in_pieces(self._path.name, block, told, is_first=is_first, has_more=has_more)


class _Log:
    """What the trainer prints; of much at once only the end is told."""

    def __init__(self, path: Path, told: Mapping[str, ToldUpTo]) -> None:
        self._path = path
        place = _place(told.get(path.name))
        self._is_first = place.identity is None
        self._tail = ByteTail(path, most_waiting=_MOST_LOG_BYTES)
        self._tail.move_to(place)
        self._is_filled = False

    def told(self) -> Iterator[RunPiece]:
        """What is new."""
        try:
            content = self._tail.read()
        except OSError:
            return
        left_out = self._tail.passed_over
        self._is_first |= self._tail.began_anew
        if self._is_filled and len(content) > MOST_NEW_LOG_BYTES:
            left_out += len(content) - MOST_NEW_LOG_BYTES
            content = content[-MOST_NEW_LOG_BYTES:]
        self._is_filled = True
        if left_out:
            content = _LEFT_OUT + content.partition(b"\n")[2]
        if content:
            is_first, self._is_first = self._is_first, False
            told = _told(self._tail.place)
            yield from _in_pieces(self._path.name, content, told, is_first=is_first)


def _in_pieces(
    name: str,
    content: bytes,
    told: ToldUpTo | None = None,
    *,
    is_first: bool,
    has_more: bool = False,
) -> Iterator[RunPiece]:
    """Content that is to be written at once, in pieces that let others through."""
    waiting = [*pieces(content)] or [b""]
    for number, piece in enumerate(waiting, 1):
        is_last = number == len(waiting) and not has_more
        yield RunPiece(
            file=name,
            content=piece.decode("latin-1"),
            has_more=not is_last,
            told=told if is_last else None,
            is_first=is_first and number == 1,
        )


def _place(told: ToldUpTo | None) -> Place:
    return Place() if told is None else Place(told.offset, (told.device, told.number))


def _told(place: Place) -> ToldUpTo | None:
    if place.identity is None:
        return None
    return ToldUpTo(device=place.identity[0], number=place.identity[1], offset=place.offset)

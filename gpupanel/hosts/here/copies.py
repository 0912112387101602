"""The runs of a host as copies here: listed as they are told, and whole while they are shown."""

import threading
import time
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Final

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts.here.link import Link
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.hosts.here.mirror import Mirror, OpenedCopy
from gpupanel.hosts.operations.runs import RUN, RUNS, KnownRuns, RunNews, RunPiece, RunWanted

if TYPE_CHECKING:
    from gpupanel.hosts.here.calls import Following

_LOOK_S: Final = 0.05
_FILL_S: Final = 120.0
"""The longest that a run is waited for before what is here of it is shown."""


class HostCopies:
    """Has runs copied for as long as the connection is wanted.

    Args:
        link: To the host.
        mirror: Has the copies.
        runs_changed: As of :class:`~gpupanel.hosts.here.host.OtherMachine`.
    """

    def __init__(self, link: Link, mirror: Mirror, runs_changed: Callable[[bool], object]) -> None:
        self._link, self._mirror, self._runs_changed = link, mirror, runs_changed
        self.runs_problem: Problem | None = None
        """Why the runs there cannot be listed."""
        self.copy_problem: Problem | None = None
        """Why a run that is shown could not be copied any further when it was tried last."""
        self._opening = threading.Lock()
        self._is_ending = Event()
        self._followed: dict[str, Following[RunWanted, RunPiece]] = {}

    def begin(self) -> None:
        """Have all runs told from the first connection on."""
        self._link.follow(RUNS, self._known_runs, self._take_news, self._take_refusal)

    def stop_waiting(self) -> None:
        """Wait for no copy any more; called in another thread, before the end."""
        self._is_ending.set()

    def open_copy(self, layout: RunLayout) -> Callable[[], None]:
        """Have the files of a run copied as they grow, and wait until what is there is here.

        Without a connection, what was copied before is what there is.

        Args:
            layout: Of the copy.

        Returns:
            What ends it.

        Raises:
            ProblemError: There is no such run any more.
        """
        name = layout.root.name
        copy, refused = self._mirror.opened(name), list[Problem]()
        with self._opening:
            copy.users += 1
            if name not in self._followed:
                self._followed[name] = self._link.follow(
                    RUN,
                    lambda: RunWanted(name=name, told=dict(copy.told())),
                    partial(self._take_piece, copy),
                    partial(self._take_copy_refusal, refused),
                )
        until_s = time.monotonic() + _FILL_S
        while not copy.is_filled.wait(_LOOK_S) and time.monotonic() < until_s:
            is_there = self._link.state.kind is LinkCondition.CONNECTED
            if refused or not is_there or self._is_ending.is_set():
                break
        if refused:
            self._close_copy(name)
            raise ProblemError(*refused)
        return partial(self._close_copy, name)

    def _close_copy(self, name: str) -> None:
        copy = self._mirror.opened(name)
        with self._opening:
            copy.users -= 1
            if copy.users > 0:
                return
            followed = self._followed.pop(name, None)
            self.copy_problem = None
            self._mirror.close_copy(name)
        if followed is not None:
            self._link.unfollow(followed)

    def _known_runs(self) -> KnownRuns:
        return KnownRuns(stamps=self._mirror.stamps())

    def _take_news(self, news: RunNews) -> None:
        if news.outline is not None:
            self._mirror.take_outline(news.outline)
        if news.gone is not None:
            self._mirror.forget(news.gone)
        if news.is_whole:
            self.runs_problem = None
        if news.problem is not None:
            self.runs_problem = news.problem
        self._runs_changed(news.is_whole)

    def _take_piece(self, copy: OpenedCopy, piece: RunPiece) -> None:
        copy.take(piece)
        if piece.is_filled:
            self.copy_problem = None

    def _take_copy_refusal(self, refused: list[Problem], problems: tuple[Problem, ...]) -> None:
        """A run that is shown does not grow here any more: that is said, until it does again."""
        refused.extend(problems)
        self.copy_problem = problems[0] if problems else None
        is_whole = False
        self._runs_changed(is_whole)

    def _take_refusal(self, problems: tuple[Problem, ...]) -> None:
        self.runs_problem = problems[0] if problems else None
        is_whole = False
        self._runs_changed(is_whole)

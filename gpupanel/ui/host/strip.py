"""The line above a window that says whose machine it shows, and how the connection to it is."""

import time

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from gpupanel.domain.number_text import duration
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.hosts.here.link_state import LinkCondition, LinkState
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.layouts import row_in
from gpupanel.ui.widgets.tips import wrapped

_MOST_BEHIND_S = 5.0
"""Clocks that differ by more show times that do not fit."""
_TONES = {
    LinkCondition.CONNECTING: Tone.MUTED,
    LinkCondition.CONNECTED: Tone.GOOD,
    LinkCondition.CUT: Tone.WARNING,
    LinkCondition.REFUSED: Tone.ERROR,
}


class HostStrip(QFrame):
    """One line, always seen: nobody is to take another machine for this one.

    Args:
        host: As the person names it.
        parent: Owns it.
    """

    againRequested = Signal()
    """The connection is to be tried now."""

    def __init__(self, host: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("host_strip")
        self._host = host
        self._mark = ElidedLabel(f"● {host}")
        self._mark.setProperty("role", "title")
        self._mark.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._words = ElidedLabel()
        self._words.setObjectName("host_words")
        self._again = QPushButton("&Try now", self)
        self._again.setObjectName("host_again")
        self._again.setToolTip(wrapped("Connects now; ssh may ask for a password"))
        self._again.clicked.connect(self.againRequested)
        row = row_in(self, spacing=GRID)
        row.setContentsMargins(2 * GRID, GRID // 2, 2 * GRID, GRID // 2)
        row.addWidget(self._mark)
        row.addWidget(self._words, 1)
        row.addWidget(self._again)

    def setState(self, state: LinkState, runs_problem: Problem | None = None) -> None:
        """Say how the connection is, and why runs there cannot be listed or copied."""
        words = host_words(self._host, state)
        tone = _TONES[state.kind]
        problem = state.problem
        if state.kind is LinkCondition.CONNECTED and runs_problem is not None:
            words, tone, problem = problem_sentences(runs_problem), Tone.ERROR, runs_problem
        set_tone(self._mark, tone)
        self._words.setText(words)
        detail = "" if problem is None else f"\n\n{problem.detail}".rstrip()
        self._words.setToolTip(wrapped(words + detail))
        self._again.setVisible(state.kind in (LinkCondition.CUT, LinkCondition.REFUSED))

    def text(self) -> str:
        """What it says."""
        return self._words.text()


def host_words(host: str, state: LinkState) -> str:
    """What is said of a connection."""
    match state.kind:
        case LinkCondition.CONNECTING:
            return f"Connecting to {host} by ssh…"
        case LinkCondition.CUT:
            since = time.strftime("%H:%M", time.localtime(state.since_s))
            return (
                f"No connection since {since}: trying again. Runs on {host} continue; what is "
                "shown here is from before."
            )
        case LinkCondition.REFUSED:
            return problem_sentences(state.problem) if state.problem else f"{host} is not reached."
    behind = abs(state.behind_s)
    if behind > _MOST_BEHIND_S:
        how = "behind" if state.behind_s > 0 else "ahead"
        clock = f" Its clock is {duration(behind)} {how} of the one here."
    else:
        clock = ""
    return f"GPUs, files and runs in this window are those of {host}.{clock}"

"""The window as a process of its own, in which somebody does what comes to mind with one run.

``python tests/fakes/busy_window.py RUN_DIR SEED START_S ROUNDS [OTHER_RUN_DIR]`` does one thing
each round, at moments that several such windows share: START_S is the first one's, in seconds
since the epoch. The last thing is to close the window, right after the other run was deleted where
one is given. Prints a line of JSON with what was edited, and what the person was shown.

A run is resumed with a supervisor that is real and a trainer that is not.
"""

import faulthandler
import json
import random
import subprocess
import sys
import time
from pathlib import Path

from PySide6.QtCore import QSettings, QTimer, Slot
from typing_extensions import override

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs import launcher
from gpupanel.runs.history.label import RunLabel, read_label
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui import app
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.bindings.queue_binding import QueueBinding
from gpupanel.ui.main_window import MainWindow
from tests.fakes.person import Person

ROUND_S = 0.3
FAKES = Path(__file__).parent
ROOT, SEED, START_S, ROUNDS = Path(sys.argv[1]), *map(int, sys.argv[2:5])
OTHER = tuple(map(Path, sys.argv[5:]))


class BusyWindow(MainWindow):
    """Does one thing each round, and goes."""

    def __init__(self, settings: QSettings, runs_dir: Path) -> None:
        self.person = Person()
        super().__init__(settings, runs_dir, self.person)
        self.edits: list[tuple[str, str]] = []
        self.line = WaitingLine()
        self._random = random.Random(SEED)
        self._round = 0

    @override
    def begin(self) -> None:
        super().begin()
        self.parts[QueueBinding]._watch.changed.connect(self._see)
        self.parts[QueueBinding]._watch.edited.connect(self._note_edit)
        self.control.open(RunLayout(ROOT))
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._act)
        self._wait()

    @Slot(object)
    def _see(self, line: WaitingLine) -> None:
        self.line = line

    @Slot(str)
    def _note_edit(self, entry_id: str) -> None:
        self.edits.append((entry_id, self.parts[QueueBinding].editing._sent.name))

    def _wait(self) -> None:
        due_s = START_S + self._round * ROUND_S
        self._timer.start(max(0, round((due_s - time.time()) * 1000)))

    @Slot()
    def _act(self) -> None:
        if self._round == ROUNDS:
            for run in OTHER:
                self.parts[HistoryBinding].worker.delete((run,), for_good=True)
            self.close()
            return
        acts = (self._steer, self._steer, self._label, self._edit, self._edit, self._order)
        self._random.choice(acts)()
        self._round += 1
        self._wait()

    def _steer(self) -> None:
        control = self.control
        if self._random.random() < 0.1:
            self.parts[HistoryBinding].worker.delete((ROOT,), for_good=self._round > 0.8 * ROUNDS)
            return
        self._random.choice((control.stop, control.suspend, control.resume, control.resume))()

    def _label(self) -> None:
        before = read_label(RunLayout(ROOT))
        name = f"{SEED}-{self._round}"
        self.parts[HistoryBinding].worker.change_label(ROOT, before, RunLabel(notes=name))

    def _edit(self) -> None:
        editing = self.parts[QueueBinding].editing
        if editing.entry_id:
            name = f"{SEED}-{self._round}"
            self.session.edit(self.session.profile.model_copy(update={"name": name}))
            editing.put_back()
        elif self.line.waiting:
            editing.edit(self.line.waiting[0].id)

    def _order(self) -> None:
        watch = self.parts[QueueBinding]._watch
        if len(self.line.waiting) < 3:
            watch.add(Profile(name=f"added by {SEED}"), ROOT.parent)
            return
        entry_id = self._random.choice(self.line.waiting).id
        self._random.choice(
            (
                lambda: watch.move(entry_id, self._random.randint(1, 4)),
                lambda: watch.remove(entry_id),
                watch.clear,
                lambda: watch.set_paused(paused=True),
            )
        )()

    def report(self) -> str:
        """What was edited, and what was shown to the person."""
        shown = [problem for _, found in self.person.problems for problem in found]
        return json.dumps(
            {
                "edits": self.edits,
                "shown": [(problem.code, problem.message) for problem in shown],
            }
        )


def supervise_without_tensorflow(layout: RunLayout, _: CheckedFiles) -> None:
    command = (sys.executable, str(FAKES / "supervise.py"), "wait_for_any", str(layout.root))
    subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    faulthandler.dump_traceback_later(240.0, exit=True)
    windows: list[BusyWindow] = []

    def make(settings: QSettings, runs_dir: Path) -> BusyWindow:
        windows.append(BusyWindow(settings, runs_dir))
        return windows[0]

    app.MainWindow = make  # type: ignore[assignment,misc]
    launcher.start_supervisor = supervise_without_tensorflow
    status = app.open_window(None)
    print(windows[0].report(), flush=True)
    sys.exit(status)

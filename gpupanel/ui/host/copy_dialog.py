"""Copying files of this machine to the host: what, where to, how far it is."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from threading import Event
from typing import Final

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from gpupanel.domain.number_text import byte_size, count, duration
from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import visible_line
from gpupanel.hosts.here.file_copy import CopyProgress, CopySize, measured
from gpupanel.hosts.operations.machine import PlaceFound
from gpupanel.ui.host.files_dialog import HostFilesDialog
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ElidedLabel, ProseLabel, Tone, set_role, set_tone
from gpupanel.ui.widgets.problem_list import ProblemList
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.single_request import Report, SingleRequestFacade
from gpupanel.ui.workers.workplace import other_machine

USUAL_FOLDER: Final = "~/gpupanel-data"
_LOOK_AFTER_MS: Final = 300
_LOOK_AGAIN_MS: Final = 3_000
_STEPS: Final = 1_000


class CopyDialog(QDialog):
    """Counts the files, asks where they are wanted, copies them, and says what became of it.

    What was copied when it is closed stays there, and is not sent again the next time. Where it
    stands beside a window that is worked in meanwhile, nothing is chosen there without a click.

    Args:
        paths: Files and folders of this machine.
        parent: What it stands before.
    """

    copied = Signal(object)
    """They are there: their paths, a tuple of str."""

    def __init__(self, paths: Sequence[str], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName("copy_dialog")
        self._paths = tuple(map(Path, paths))
        self._machine = other_machine()
        self.setWindowTitle(f"Copy to {visible_line(self._machine.host)}")
        self._measuring = SingleRequestFacade("counting files", self)
        self._placing = WorkerFacade("a place on the host", self)
        self._copying = SingleRequestFacade("copying files", self)
        self._size: CopySize | None = None
        self._place: PlaceFound | None = None
        self._was_begun = self._is_there = False
        self._look_soon = QTimer(self, singleShot=True)
        self._look_soon.timeout.connect(self._look)
        self._make_parts()
        self._compose()
        self._measuring.refused.connect(self._on_uncounted)
        self._placing.refused.connect(self._on_unplaced)
        self._copying.refused.connect(self._show_failure)
        self._folder.textEdited.connect(self._on_edited)
        self._browse.clicked.connect(self._choose_folder)
        self._go.clicked.connect(self._begin_or_take)
        self._buttons.rejected.connect(self.reject)
        self._measure()
        self._look()

    @override
    def done(self, result: int) -> None:
        self._look_soon.stop()
        self._measuring.stop()
        self._copying.stop()
        self._placing.drop()
        self._placing.stop()
        super().done(result)

    def _make_parts(self) -> None:
        first, more = visible_line(self._paths[0].name), len(self._paths) - 1
        self._what = ElidedLabel(first if not more else f"{first} and {count(more)} more")
        self._what.setProperty("role", "title")
        self._how_much = QLabel("Counting…")
        self._how_much.setObjectName("copy_size")
        self._how_much.setProperty("tone", "muted")
        self._folder = QLineEdit(USUAL_FOLDER, self)
        self._folder.setObjectName("copy_folder")
        self._folder.setToolTip(wrapped("A folder of the host; it is made if it is not there"))
        self._browse = QPushButton("&Browse…", self)
        self._browse.setToolTip(wrapped("Chooses among the folders of the host"))
        self._browse.setAutoDefault(False)
        self._note = ProseLabel()
        self._note.setObjectName("copy_note")
        self._problems = ProblemList(self)
        self._problems.hide()
        self._bar = QProgressBar(self)
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._done_words = QLabel(self)
        self._done_words.setObjectName("copy_progress")
        self._done_words.setProperty("tone", "muted")
        # Not "Copy": that is what copies the words of a problem.
        self._go = QPushButton("&Copy files", self)
        self._go.setObjectName("copy_go")
        self._go.setDefault(True)
        self._go.setEnabled(False)
        set_role(self._go, "primary")
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self._buttons.addButton(self._go, QDialogButtonBox.ButtonRole.ActionRole)

    def _compose(self) -> None:
        to = QLabel(f"&Folder on {visible_line(self._machine.host)}")
        to.setBuddy(self._folder)
        where = QHBoxLayout()
        where.setSpacing(GRID)
        where.addWidget(self._folder, 1)
        where.addWidget(self._browse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(GRID)
        layout.addWidget(self._what)
        layout.addWidget(self._how_much)
        layout.addWidget(to)
        layout.addLayout(where)
        layout.addWidget(self._note)
        layout.addWidget(self._problems)
        layout.addStretch(1)
        for part in (self._bar, self._done_words):
            # It has its room before, so that nothing moves once files are copied.
            policy = part.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            part.setSizePolicy(policy)
            part.hide()
            layout.addWidget(part)
        layout.addWidget(self._buttons)
        resize_within_screen(self, 64 * GRID, 44 * GRID)

    # What, and where to.

    def _measure(self) -> None:
        def work(dropped: Event, report: Report) -> CopySize:
            return measured(self._paths, dropped, report)

        self._measuring.carry_out(work, self._on_measured, report=self._show_counted)

    def _show_counted(self, size: CopySize) -> None:
        self._how_much.setText(f"Counting… {_size_words(size)}")

    @Slot(object)
    def _on_uncounted(self, problems: tuple[Problem, ...]) -> None:
        self._how_much.hide()
        self._show_problems(problems)

    def _on_measured(self, size: CopySize) -> None:
        self._size = size
        self._how_much.setText(_size_words(size))
        self._show_place()

    @Slot()
    def _on_edited(self) -> None:
        self._placing.drop()  # an answer about another folder is none
        self._place = None
        self._go.setEnabled(False)
        self._look_soon.start(_LOOK_AFTER_MS)

    @Slot()
    def _choose_folder(self) -> None:
        mode = QFileDialog.FileMode.Directory
        dialog = HostFilesDialog(self, "Copy into a folder", self._folder.text(), mode)
        dialog.fileSelected.connect(self._take_folder)
        dialog.open()

    @Slot(str)
    def _take_folder(self, path: str) -> None:
        self._folder.setText(path)
        self._on_edited()

    @Slot()
    def _look(self) -> None:
        names = tuple(path.name for path in self._paths)
        self._placing.drop()
        look = partial(self._machine.files.place, self._folder.text().strip(), names)
        self._placing.submit(look, self._on_placed)

    def _on_placed(self, place: PlaceFound) -> None:
        self._place = place
        self._show_place()

    @Slot(object)
    def _on_unplaced(self, problems: tuple[Problem, ...]) -> None:
        if not self._is_uncountable():
            self._show_problems(problems)
            self._look_soon.start(_LOOK_AGAIN_MS)  # there may be a connection by then

    def _is_uncountable(self) -> bool:
        """What is to be copied was refused, which stays on the screen."""
        return self._size is None and not self._measuring.is_busy()

    def _show_place(self) -> None:
        place, size = self._place, self._size
        if place is None or self._copying.is_busy() or self._is_uncountable():
            return
        host = visible_line(self._machine.host)
        sentences = [f"{visible_line(place.path)} on {host}: {byte_size(place.free_bytes)} free."]
        if place.taken and not self._was_begun:
            first, more = visible_line(place.taken[0]), len(place.taken) - 1
            names = first if not more else f"{first} and {count(more)} more"
            sentences.append(
                f"{names} {'are' if more else 'is'} there already: files that differ are replaced, "
                "and nothing is deleted."
            )
        has_room = size is None or size.size_bytes <= place.free_bytes or bool(place.taken)
        if not has_room:
            sentences.append("That is not enough.")
        self._say(" ".join(sentences), Tone.MUTED if has_room else Tone.WARNING)
        self._go.setEnabled(size is not None)

    # Copying.

    @Slot()
    def _begin_or_take(self) -> None:
        if self._is_there:
            self._take()
        elif self._size is not None and self._place is not None:
            self._begin(self._size, self._place)

    def _begin(self, size: CopySize, place: PlaceFound) -> None:
        self._was_begun = True
        self._set_editable(is_editable=False)
        self._say(f"Copying to {visible_line(place.path)}…", Tone.MUTED)
        self._show_progress(CopyProgress())
        for part in (self._bar, self._done_words):
            part.show()

        def work(dropped: Event, report: Report) -> Problem | None:
            return self._machine.files.copy(self._paths, place.path, size, dropped, report)

        self._copying.carry_out(work, self._on_copied, report=self._show_progress)

    def _show_progress(self, progress: CopyProgress) -> None:
        if progress.is_waiting:
            self._done_words.setText("No connection: it goes on by itself once there is one.")
            return
        self._bar.setValue(int(_STEPS * progress.fraction))
        words = f"{byte_size(progress.bytes_done)} sent"
        if self._size is not None and progress.bytes_per_s > 0.0:
            left = (1.0 - progress.fraction) * self._size.size_bytes / progress.bytes_per_s
            speed = byte_size(int(progress.bytes_per_s))
            words = f"{words}, {speed}/s, about {duration(left)} left"
        self._done_words.setText(words)

    def _on_copied(self, warning: Problem | None) -> None:
        self._is_there = True
        self._bar.setValue(_STEPS)
        self._done_words.clear()  # which are of its middle, and none of what was there already
        self._buttons.button(QDialogButtonBox.StandardButton.Cancel).setText("Close")
        if warning is not None:
            self._show_problems((warning,))
            self._go.setText("&Use what was copied")
        elif self.isModal():
            self._take()
        else:
            host = visible_line(self._machine.host)
            self._say(f"It is on {host}: {visible_line(self._there()[0])}", Tone.GOOD)
            self._go.setText("&Use it")
        self._go.setEnabled(True)
        self._go.setFocus()  # which was on what closes it while this one was disabled

    def _there(self) -> tuple[str, ...]:
        assert self._place is not None
        folder = PurePosixPath(self._place.path)
        return tuple(str(folder / path.name) for path in self._paths)

    def _take(self) -> None:
        self.accept()
        self.copied.emit(self._there())

    @Slot(object)
    def _show_failure(self, problems: tuple[Problem, ...]) -> None:
        self._set_editable(is_editable=True)
        self._go.setText("&Continue")
        self._show_problems(problems)

    def _set_editable(self, *, is_editable: bool) -> None:
        for part in (self._folder, self._browse, self._go):
            part.setEnabled(is_editable)

    @Slot(object)
    def _show_problems(self, problems: tuple[Problem, ...]) -> None:
        self._note.hide()
        self._problems.setProblems(problems)
        self._problems.show()

    def _say(self, words: str, tone: Tone) -> None:
        self._problems.hide()
        set_tone(self._note, tone)
        self._note.setProse(words)
        self._note.show()


def _size_words(size: CopySize) -> str:
    files = "1 file" if size.files == 1 else f"{count(size.files)} files"
    return f"{files}, {byte_size(size.size_bytes)}"

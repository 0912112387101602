"""What the window asks a person, and how it shows problems: the only modal dialogs."""

import re
from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QFileInfo, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QDialog,
    QFileDialog,
    QInputDialog,
    QMessageBox,
    QWidget,
)

from gpupanel.domain.problem import Problem
from gpupanel.domain.script import PROGRAM_SUFFIXES
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.domain.value import GREATEST_COUNT
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.label import RunLabel
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui import formatting
from gpupanel.ui.dialogs.label_dialog import LabelDialog
from gpupanel.ui.dialogs.problem_dialog import ProblemDialog
from gpupanel.ui.dialogs.trust_dialog import TrustDialog
from gpupanel.ui.inputs.file_chooser import file_chooser
from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.workers.workplace import workplace

_LONGEST_COMMAND = 300
"""Characters; a longer one would fill the screen."""
_FILES = "Profiles (*.toml);;All files (*)"
_PROGRAMS = f"Programs ({' '.join(f'*{each}' for each in PROGRAM_SUFFIXES)});;All files (*)"


class SaveChoice(Enum):
    """What is to become of changes that no file holds."""

    SAVE = auto()
    DISCARD = auto()
    CANCEL = auto()


class ClosingChoice(Enum):
    """What is to become of a run that goes on when the window is closed."""

    KEEP_RUNNING = auto()
    SUSPEND = auto()
    STOP = auto()
    CANCEL = auto()
    """The window stays."""


class HoursChoice(Enum):
    """What is to become of a start outside of the run's hours."""

    NOW = auto()
    QUEUE = auto()
    """It waits for its hours in the queue."""
    CANCEL = auto()


class ClosingAnswer(NamedTuple):
    """What was chosen, and whether the window is to be closed so from now on, unasked."""

    choice: ClosingChoice
    remembers: bool = False


class Questions:
    """Asks by dialogs over the window; a test asks itself instead."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._ending_box: QMessageBox | None = None

    def about_changes(self, name: str) -> SaveChoice:
        """Whether to save changes of the profile before they would be lost."""
        text = f"Save the changes of “{visible_line(name)}”?"
        box = self._box("changes_question", "Unsaved changes", text, "They are lost otherwise.")
        box.setIcon(QMessageBox.Icon.Question)
        buttons = QMessageBox.StandardButton
        box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
        box.setDefaultButton(buttons.Save)
        answers = {buttons.Save: SaveChoice.SAVE, buttons.Discard: SaveChoice.DISCARD}
        return answers.get(QMessageBox.StandardButton(box.exec()), SaveChoice.CANCEL)

    def about_overwriting(self, name: str) -> bool:
        """Whether to save over what something else wrote into the profile's file meanwhile.

        Args:
            name: Of the file.
        """
        box = self._box(
            "overwriting_question",
            "Changed meanwhile",
            f"Save over the changes in {visible_line(name)}?",
            "Another window or program changed the file after this one read it. To keep both, "
            "cancel, and save under another name.",
        )
        box.setIcon(QMessageBox.Icon.Warning)
        return _is_confirmed(box, "&Overwrite")

    def about_ending(self, process: DeviceProcess, *, by_force: bool) -> bool:
        """Whether to end a process.

        Args:
            process: One of the person's own.
            by_force: It was asked before and did not end.
        """
        name = visible_line(process.name or "the program")
        how = " now, without saving" if by_force else ""
        box = self._box(
            "ending_question",
            "End process",
            f"End {name} (process {process.pid}){how}?",
            ending_text(process, by_force=by_force),
        )
        box.setIcon(QMessageBox.Icon.Warning if by_force else QMessageBox.Icon.Question)
        return _is_confirmed(box, "&End now" if by_force else "&End")

    def about_ending_run(self, name: str, loss: str) -> bool:
        """Whether to end a run at once, without saving.

        Args:
            name: Of the run.
            loss: What it does meanwhile, and what would be lost.
        """
        box = self._box(
            "ending_run_question",
            "End without saving",
            f"End {name} now, without saving?",
            loss,
        )
        end = box.addButton("&End without saving", QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton("&Let it save", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        self._ending_box = box
        box.exec()
        self._ending_box = None
        return box.clickedButton() is end

    def withdraw_ending_run(self) -> None:
        """Take that question back, if it is being asked: the run has ended by itself."""
        if self._ending_box is not None:
            self._ending_box.reject()

    def about_code(self, code: Sequence[UserCode]) -> bool:
        """Whether Python code may be carried out, which then is remembered."""
        dialog = TrustDialog(code, self._window)
        answer = dialog.exec()
        dialog.deleteLater()
        return answer == QDialog.DialogCode.Accepted

    def about_hours(self, hours: str, begin: str, *, resumes: bool) -> HoursChoice:
        """Whether a run starts now though its hours have not begun, or waits for them.

        Args:
            hours: As they were written.
            begin: When they begin.
            resumes: It is to continue, not to begin.
        """
        box = self._box(
            "hours_question",
            "Outside its hours",
            f"The hours of this run begin at {begin}.",
            f"It may work in these: {visible_line(hours)}. In the queue it waits for them, also "
            "while no window is open. Started now, it works until they have begun and end again.",
        )
        box.setIcon(QMessageBox.Icon.Question)
        begins = "Continue" if resumes else "Start"
        queue = box.addButton(f"{begins} at {begin}", QMessageBox.ButtonRole.AcceptRole)
        now = box.addButton(f"{begins} &now", QMessageBox.ButtonRole.DestructiveRole)
        queue.setToolTip(wrapped("Adds it to the queue, which starts it then"))
        now.setToolTip(wrapped("Passes over its hours this once"))
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(queue)
        box.exec()
        answers: dict[QAbstractButton, HoursChoice] = {
            queue: HoursChoice.QUEUE,
            now: HoursChoice.NOW,
        }
        return answers.get(box.clickedButton(), HoursChoice.CANCEL)

    def about_label(self, run: RunSummary, *, at_notes: bool) -> RunLabel | None:
        """The name and the notes that a run is to have; ``None``: as they are.

        Args:
            run: The run.
            at_notes: It was asked for to write notes.
        """
        dialog = LabelDialog(run, self._window, at_notes=at_notes)
        try:
            return dialog.label() if dialog.exec() == QDialog.DialogCode.Accepted else None
        finally:
            dialog.deleteLater()

    def about_epochs(self, done: int) -> int | None:
        """Up to how many epochs in all a training is to go on, or ``None``.

        Args:
            done: It has been trained for.
        """
        counted = "1 epoch is" if done == 1 else f"{done:,} epochs are"
        count, is_given = QInputDialog.getInt(
            self._window,
            "Train longer",
            f"{counted} done. Epochs in all:",
            min(2 * done, GREATEST_COUNT),
            min(done + 1, GREATEST_COUNT),
            GREATEST_COUNT,
        )
        return count if is_given else None

    def about_deleting_for_good(self, runs: Sequence[Path]) -> bool:
        """Whether to delete runs where their file system has no bin."""
        what = visible_line(runs[0].name) if len(runs) == 1 else f"{len(runs):,} runs"
        box = self._box(
            "deleting_question",
            "Delete permanently",
            f"The disk of these runs has no bin. Delete {what} permanently?",
            "Their checkpoints, models and curves cannot be brought back.",
        )
        return _is_confirmed(box, "&Delete permanently")

    def profile_to_open(self, folder: Path) -> Path | None:
        """The profile that a person picks, or ``None``."""
        name, _ = QFileDialog.getOpenFileName(self._window, "Open profile", str(folder), _FILES)
        return Path(name) if name else None

    def program_to_open(self, folder: Path) -> Path | None:
        """The program of their own that a person picks, or ``None``."""
        mode = QFileDialog.FileMode.ExistingFile
        picked = self._picked("Open script", mode, _PROGRAMS, folder)
        return next(map(Path, picked), None)

    def place_for_template(self, title: str, suggestion: Path) -> Path | None:
        """The new folder that a person wants a template in, or ``None``."""
        question = f"New folder for “{title}”"
        name, _ = QFileDialog.getSaveFileName(self._window, question, str(suggestion))
        return Path(name) if name else None

    def place_to_save(self, suggestion: Path) -> Path | None:
        """The file that a person wants the profile in, or ``None``."""
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Save profile as", str(suggestion), _FILES
        )
        path = Path(name)
        # What stands behind a dot may be a part of the name: "resnet v1.5".
        is_whole = not name or path.suffix.lower() == ".toml"
        return self._completed(name, "" if is_whole else ".toml")

    def place_to_export(self, title: str, suggestion: Path, kind: str) -> Path | None:
        """The file that a person wants something in that is taken out of the window, or ``None``.

        Args:
            title: What is asked, as the dialog's title.
            suggestion: Its suffix is that of the file where the person gives none of that kind: a
                report called "x.pdf" is "x.pdf.html", and "resnet v1.5" is no file of kind ".5".
            kind: The file's kind as Qt's dialogs filter it: ``Pictures (*.png)``.
        """
        name, _ = QFileDialog.getSaveFileName(self._window, title, str(suggestion), kind)
        is_whole = Path(name).suffix.lower() in re.findall(r"\*(\.\w+)", kind)
        return self._completed(name, "" if is_whole else suggestion.suffix)

    def examples_to_ask_about(self, suffixes: Sequence[str]) -> tuple[str, ...]:
        """The files of this machine that a person picks to ask a model about; none: nothing is.

        Args:
            suffixes: How their names end.
        """
        paths, _ = QFileDialog.getOpenFileNames(
            self._window, "Predict on files", "", _kinds(suffixes)
        )
        return tuple(paths)

    def files_to_predict_on(self, suffixes: Sequence[str]) -> tuple[str, ...]:
        """The files that a person picks for a run to predict on; none: nothing is.

        Args:
            suffixes: How their names end.
        """
        mode = QFileDialog.FileMode.ExistingFiles
        return self._picked("Predict on files", mode, _kinds(suffixes))

    def folder_to_predict_on(self) -> str:
        """The folder of images that a person picks; empty: nothing is to be predicted."""
        mode = QFileDialog.FileMode.Directory
        return next(iter(self._picked("Predict on a folder of images", mode)), "")

    def _picked(
        self,
        title: str,
        mode: QFileDialog.FileMode,
        kinds: str = "",
        folder: Path | None = None,
    ) -> tuple[str, ...]:
        """What a person picks of the files of the machine that is worked on.

        Args:
            title: Of the dialog.
            mode: Whether one file, several, or a folder is picked.
            kinds: Qt's filter of file names.
            folder: Of this machine, in which the dialog begins where this one is worked on.
        """
        picked: list[str] = []
        start = "" if folder is None or workplace().host else str(folder)
        dialog = file_chooser(self._window, title, start, mode, kinds)
        if mode is QFileDialog.FileMode.ExistingFiles:
            dialog.filesSelected.connect(picked.extend)
        else:
            dialog.fileSelected.connect(picked.append)
        dialog.exec()
        return tuple(picked)

    def _completed(self, name: str, suffix: str) -> Path | None:
        """The file that was named, with that suffix; the dialog asked about the bare name only."""
        if not name:
            return None
        path = Path(f"{name}{suffix}")
        if not suffix or not QFileInfo(str(path)).exists():
            return path
        return path if self._may_replace(path) else None

    def _may_replace(self, path: Path) -> bool:
        box = self._box(
            "replacing_question",
            "Replace file",
            f"{visible_line(path.name)} exists already. Replace it?",
            f"It is in {visible_line(str(path.parent))}.",
        )
        box.setIcon(QMessageBox.Icon.Question)
        return _is_confirmed(box, "&Replace")

    def _box(self, name: str, title: str, text: str, more: str) -> QMessageBox:
        """A warning that asks, before it has buttons."""
        box = QMessageBox(self._window)
        box.setObjectName(name)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle(title)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(text)
        box.setInformativeText(more)
        return box

    def about_closing(self, name: str, *, can_suspend: bool) -> ClosingAnswer:
        """What is to become of a run when the window is closed.

        Args:
            name: Of the run.
            can_suspend: It trains; an evaluation has nothing to go on from.
        """
        box = self._box(
            "closing_question",
            "A run is in progress",
            f"{visible_line(name)} is in progress.",
            "It can continue without the window: open gpupanel again to watch it, or to stop it.",
        )
        box.setIcon(QMessageBox.Icon.Question)
        role = QMessageBox.ButtonRole
        keep = box.addButton("&Keep running", role.AcceptRole)
        box.setDefaultButton(keep)
        choices: dict[QAbstractButton, ClosingChoice] = {keep: ClosingChoice.KEEP_RUNNING}
        if can_suspend:
            suspend = box.addButton("&Suspend", role.ActionRole)
            suspend.setToolTip(
                "As Suspend in the window: the devices are free, and it can be resumed"
            )
            choices[suspend] = ClosingChoice.SUSPEND
        stop = box.addButton("S&top", role.ActionRole)
        stop.setToolTip("As Stop in the window: what is to be saved is, then the run ends")
        choices[stop] = ClosingChoice.STOP
        box.addButton(QMessageBox.StandardButton.Cancel)
        always = QCheckBox("&Always keep runs going, without asking", box)
        box.setCheckBox(always)
        box.exec()
        choice = choices.get(box.clickedButton(), ClosingChoice.CANCEL)
        keeps = choice is ClosingChoice.KEEP_RUNNING
        return ClosingAnswer(choice, remembers=keeps and always.isChecked())

    def show_problems(self, title: str, problems: Sequence[Problem]) -> None:
        """Show problems, all of them, as text that can be copied; does not wait for an answer."""
        dialog = ProblemDialog(title, problems, self._window)
        dialog.open()


def _kinds(suffixes: Sequence[str]) -> str:
    return f"Files ({' '.join(f'*{each}' for each in suffixes)})"


def _is_confirmed(box: QMessageBox, act: str) -> bool:
    """Whether a person chose the act, and not Cancel, which Return does."""
    confirm = box.addButton(act, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    box.exec()
    return box.clickedButton() is confirm


def ending_text(process: DeviceProcess, *, by_force: bool) -> str:
    """What ending a process means, what it holds, and which one it is."""
    memory = process.memory_used_mib
    held = "GPU memory" if memory is None else f"{formatting.mib(memory)} of GPU memory"
    what = (
        "It was asked to end and is still there. What it has not saved is lost."
        if by_force
        else "It will be asked to end (SIGTERM). Most programs then save nothing."
    )
    command = visible_line(process.command or "")
    if len(command) > _LONGEST_COMMAND:
        command = f"{command[:_LONGEST_COMMAND]}…"
    return f"It holds {held}. {what}\n\n{command}".rstrip()

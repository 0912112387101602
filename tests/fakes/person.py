"""Who answers the window's questions in a test, and is shown problems."""

from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.runs.history.label import RunLabel
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.questions import ClosingAnswer, ClosingChoice, HoursChoice, Questions, SaveChoice


class Person(Questions):
    """Answers as the test says, and remembers what was asked and shown."""

    def __init__(self) -> None:
        self.choice = SaveChoice.DISCARD
        self.opens: Path | None = None
        self.saves: Path | None = None
        self.suggested: list[Path] = []
        self.asked: list[str] = []
        self.problems: list[tuple[str, tuple[Problem, ...]]] = []
        self.closes = ClosingAnswer(ClosingChoice.KEEP_RUNNING)
        self.left: list[tuple[str, bool]] = []
        self.ends = True
        self.label: RunLabel | None = None
        self.labelled: list[tuple[RunSummary, bool]] = []
        self.epochs: int | None = None
        self.trained: list[int] = []
        self.deletes = False
        self.doomed: list[tuple[Path, ...]] = []
        self.trusts = False
        self.hours = HoursChoice.CANCEL
        self.closed_hours: list[tuple[str, bool]] = []
        self.codes: list[tuple[UserCode, ...]] = []
        self.endings: list[tuple[DeviceProcess, bool]] = []
        self.ends_runs = False
        self.overwrites = False
        self.overwritten: list[str] = []
        self.losses: list[str] = []
        self.picks: tuple[str, ...] = ()
        self.picks_folder = ""
        self.suffixes: list[tuple[str, ...]] = []

    @override
    def about_changes(self, name: str) -> SaveChoice:
        self.asked.append(name)
        return self.choice

    @override
    def about_hours(self, hours: str, begin: str, *, resumes: bool) -> HoursChoice:
        del begin
        self.closed_hours.append((hours, resumes))
        return self.hours

    @override
    def about_overwriting(self, name: str) -> bool:
        self.overwritten.append(name)
        return self.overwrites

    @override
    def about_ending(self, process: DeviceProcess, *, by_force: bool) -> bool:
        self.endings.append((process, by_force))
        return self.ends

    @override
    def about_ending_run(self, name: str, loss: str) -> bool:
        self.losses.append(loss)
        return self.ends_runs

    @override
    def withdraw_ending_run(self) -> None:
        pass

    @override
    def about_code(self, code: Sequence[UserCode]) -> bool:
        self.codes.append(tuple(code))
        return self.trusts

    @override
    def about_epochs(self, done: int) -> int | None:
        self.trained.append(done)
        return self.epochs

    @override
    def about_label(self, run: RunSummary, *, at_notes: bool) -> RunLabel | None:
        self.labelled.append((run, at_notes))
        return self.label

    @override
    def about_deleting_for_good(self, runs: Sequence[Path]) -> bool:
        self.doomed.append(tuple(runs))
        return self.deletes

    @override
    def profile_to_open(self, folder: Path) -> Path | None:
        return self.opens

    @override
    def program_to_open(self, folder: Path) -> Path | None:
        return self.opens

    @override
    def place_for_template(self, title: str, suggestion: Path) -> Path | None:
        self.suggested.append(suggestion)
        return self.saves

    @override
    def place_to_save(self, suggestion: Path) -> Path | None:
        return self.saves

    @override
    def place_to_export(self, title: str, suggestion: Path, kind: str) -> Path | None:
        return self.saves

    @override
    def examples_to_ask_about(self, suffixes: Sequence[str]) -> tuple[str, ...]:
        return self.files_to_predict_on(suffixes)

    @override
    def files_to_predict_on(self, suffixes: Sequence[str]) -> tuple[str, ...]:
        self.suffixes.append(tuple(suffixes))
        return self.picks

    @override
    def folder_to_predict_on(self) -> str:
        return self.picks_folder

    @override
    def show_problems(self, title: str, problems: Sequence[Problem]) -> None:
        self.problems.append((title, tuple(problems)))

    @override
    def about_closing(self, name: str, *, can_suspend: bool) -> ClosingAnswer:
        self.left.append((name, can_suspend))
        return self.closes

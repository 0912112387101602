"""Devices are compared in the window: asked for by a click, measured, shown, used."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.bench import (
    Bench,
    BenchCandidate,
    BenchDivision,
    BenchProgress,
    BenchResult,
    LeftOut,
    with_efficiency,
)
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history.measured_speeds import remember, remembered
from gpupanel.runs.tools.bench import bench as bench_tool
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.bench.binding import BenchBinding
from gpupanel.ui.tools.bench.dialog import BenchDialog
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.widgets.speed_bars import SpeedBar
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.ui.new_window import new_window
from tests.ui.tool_page import ToolPage
from tests.ui.values import TWO_GPUS, mirrored

pytestmark = pytest.mark.usefixtures("undressed")

BOTH = tuple(gpu.key for gpu in TWO_GPUS.gpus)
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED, shares="balanced")


def result(
    name: str,
    speed: float | None,
    keys: tuple[str, ...],
    problem: Problem | None = None,
    variant: str = "",
) -> BenchResult:
    alone = len(keys) == 1
    candidate = BenchCandidate(
        division=BenchDivision.ALONE if alone else BenchDivision.BALANCED,
        device_keys=keys,
        visible=keys,
        strategy=StrategySettings() if alone else MIRRORED,
        jit_compile=not alone,
        variant=variant,
    )
    return BenchResult(
        candidate=candidate,
        name=name,
        examples_per_second=speed,
        speeds=() if speed is None else (speed, speed),
        spread=None if speed is None else 0.02,
        shares=() if alone else (40, 24),
        problem=problem,
    )


FAILED = Problem(code="x", message="It ran out of memory.")
REFUSED = Problem(code="y", message="NCCL wants whole GPUs.")
FOUND = Bench(
    results=with_efficiency(
        (
            result("RTX 4090 alone", 1_000.0, BOTH[:1]),
            result("RTX 3060 alone", 500.0, BOTH[1:]),
            result("all, balanced", 1_200.0, BOTH),
            result("all, balanced, with XLA", None, BOTH, FAILED, "with XLA"),
        )
    ),
    left_out=(LeftOut(name="as in the profile", problem=REFUSED),),
    measured_s=1.7e9,
    seconds=60.0,
)


@dataclass
class Answer:
    """What stands for the comparison: it answers, or waits until it is cancelled."""

    bench: Bench = FOUND
    error: ProblemError | None = None
    waits: bool = False
    asked: int = 0
    cancelled: int = 0

    def __call__(
        self,
        _profile: Profile,
        _machine: object,
        *,
        runs_dir: Path,
        cancelled: Event,
        on_progress: Callable[[BenchProgress], None],
    ) -> Bench:
        assert threading.current_thread() is not threading.main_thread()
        self.asked += 1
        on_progress(BenchProgress(name="RTX 4090 alone", number=2, of=6, results=FOUND.results[:1]))
        if self.waits:
            assert cancelled.wait(60.0)
            self.cancelled += 1
        if self.error is not None:
            raise self.error
        return self.bench


class Comparison(ToolPage):
    """A page with two GPUs."""

    def __init__(self, qtbot: QtBot, runs_dir: Path) -> None:
        def bind(session: Session, page: SessionPage, window: QWidget) -> BenchBinding:
            return BenchBinding(session, page, runs_dir, window)

        super().__init__(qtbot, "bench", "compare_devices", bind, mirrored())

    def bars(self) -> dict[str, str]:
        found = self.dialog._scroll.widget().findChildren(SpeedBar)
        return {bar.accessibleName(): bar.accessibleDescription() for bar in found}


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Answer:
    answer = Answer()
    monkeypatch.setattr(bench_tool, "compare", answer)
    return answer


@pytest.fixture
def shown(qtbot: QtBot, runs_dir: Path, answer: Answer) -> Iterator[Comparison]:
    del answer
    bound = Comparison(qtbot, runs_dir)
    yield bound
    bound.close()


def test_that_devices_are_compared_and_the_fastest_is_used(qtbot: QtBot, shown: Comparison) -> None:
    before = shown.session.profile
    shown.click()
    assert shown.label("verdict") == "Comparing devices…"
    assert not shown.button("use").isEnabled()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    assert "The fastest is all, balanced, with 1,200 ex/s." in shown.label("sentence")
    bars = shown.bars()
    assert bars["RTX 4090 alone"] == "1,000 ex/s, efficiency 100 %, ± 1 % in 2 runs"
    assert bars["all, balanced"] == (
        "1,200 ex/s, efficiency 80 %, the fastest, ± 1 % in 2 runs; shares 40 + 24"
    )
    assert bars["all, balanced, with XLA"].endswith("It ran out of memory.")
    rows = shown.dialog.findChildren(ProblemRow)
    assert [row.problem().code for row in rows] == ["x"]
    texts = [label.text().replace("\u200b", "") for label in shown.dialog.findChildren(QLabel)]
    assert any("NCCL wants whole GPUs." in text for text in texts)
    shown.button("copy").click()
    assert "all, balanced\t1200.0\t0.800" in QGuiApplication.clipboard().text()
    shown.button("use").click()
    after = shown.session.profile
    assert (after.strategy, after.training.jit_compile) == (MIRRORED, True)
    assert after.devices.visible == BOTH
    assert (after.data, after.name) == (before.data, before.name)
    assert not shown.dialog.isVisible()


def test_that_other_settings_make_it_outdated(qtbot: QtBot, shown: Comparison) -> None:
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    profile = shown.session.profile
    longer = profile.training.model_copy(update={"epochs": 77})
    shown.session.edit(profile.model_copy(update={"training": longer}))
    assert shown.label("verdict") == "Compare devices"
    other = profile.training.model_copy(update={"global_batch_size": 128})
    shown.session.edit(profile.model_copy(update={"training": other}))
    assert shown.label("verdict") == "Outdated"
    assert not shown.button("use").isEnabled()


def test_that_it_is_cancelled_by_its_button_and_by_closing(
    qtbot: QtBot, shown: Comparison, answer: Answer
) -> None:
    answer.waits = True
    shown.click()
    qtbot.waitUntil(lambda: "2 of 6: RTX 4090 alone" in shown.label("sentence"))
    assert list(shown.bars()) == ["RTX 4090 alone"]
    shown.click()  # begins nothing anew
    assert answer.asked == 1
    shown.button("cancel").click()
    qtbot.waitUntil(lambda: answer.cancelled == 1)
    assert shown.label("verdict") == "Not compared yet"
    assert shown.bars() == {}
    shown.button("again").click()
    qtbot.waitUntil(lambda: answer.asked == 2)
    shown.dialog.close()
    qtbot.waitUntil(lambda: answer.cancelled == 2)
    assert shown.dialog.answer() is None


def test_that_why_nothing_was_measured_is_shown(
    qtbot: QtBot, shown: Comparison, answer: Answer
) -> None:
    busy = Problem(code="bench_goes_on", message="Devices are being compared already.")
    answer.error = ProblemError(busy)
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    assert [row.problem() for row in shown.dialog.findChildren(ProblemRow)] == [busy]
    assert not shown.button("use").isEnabled()
    assert shown.label("sentence") == "No speed could be measured."
    code = UserCode("data.path", Path("/d.py"), b"x")
    answer.error = CodeNotTrustedError((code,))
    shown.button("again").click()
    qtbot.waitUntil(lambda: answer.asked == 2 and not shown.worker.is_busy())
    (row,) = shown.dialog._scroll.widget().findChildren(ProblemRow)
    assert "the window asks" in row.problem().hint


def test_that_what_is_remembered_is_shown_at_once(
    qtbot: QtBot, shown: Comparison, answer: Answer
) -> None:
    remember(shown.session.profile, TWO_GPUS, FOUND)
    shown.click()
    qtbot.waitUntil(lambda: shown.dialog.answer() is not None)
    assert answer.asked == 0
    assert shown.dialog.answer() == FOUND
    shown.button("again").click()
    qtbot.waitUntil(lambda: answer.asked == 1)


def test_that_a_time_that_no_calendar_has_does_no_harm(qtbot: QtBot) -> None:
    dialog = BenchDialog()
    qtbot.addWidget(dialog)
    dialog.setAnswer(FOUND.model_copy(update={"measured_s": 1e300}))
    assert dialog.findChild(QLabel, "bench_sentence").text()


def test_that_the_button_is_there_where_something_is_trained(shown: Comparison) -> None:
    button = shown.page.plan.findChild(QPushButton, "compare_devices")
    assert button.isVisibleTo(shown.page.plan)


def test_that_what_was_measured_says_how_long_a_training_takes_and_is_undone(
    qtbot: QtBot, tmp_path: Path, runs_dir: Path, answer: Answer
) -> None:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    session, plan = window.session, window.session_page.plan
    line = plan.findChild(QLabel, "plan_epochs")
    profile = Profile(training=TrainingSettings(epochs=61))
    session.set_inventory(CPU_ONLY)
    session.edit(profile)
    preview = DataPreview(example_count=1_000, trained_count=1_000)
    session.set_preview(preview_request(profile), preview)
    plan.setData(preview)
    assert "take about" not in line.text()
    measured = Bench(results=(result("a CPU alone", 1_000.0, ("cpu",)),), measured_s=1.0)

    def compare(named: Profile, *_: object, **__: object) -> Bench:
        remember(named, CPU_ONLY, measured)
        return measured

    answer_of_window = pytest.MonkeyPatch()
    answer_of_window.setattr(bench_tool, "compare", compare)
    button = plan.findChild(QPushButton, "compare_devices")
    qtbot.waitUntil(lambda: button.isVisibleTo(plan))
    assert button.isEnabled()
    button.click()
    expected = "steps take about 1:01, at the 1,000 ex/s of the comparison of devices (a CPU alone)"
    qtbot.waitUntil(lambda: expected in line.text().replace("\u200b", ""), timeout=20_000)
    assert remembered(profile, CPU_ONLY) == measured
    dialog = window.findChild(BenchDialog)
    dialog.findChild(QPushButton, "bench_use").click()
    assert session.profile.devices.visible == ("cpu",)
    window.window_actions.undo.trigger()
    assert session.profile == profile
    window.close()
    answer_of_window.undo()

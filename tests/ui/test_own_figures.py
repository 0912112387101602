"""The page of a run of a program of one's own: what it reports is drawn, and nothing else."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gpupanel.domain.events import (
    EpochDone,
    Event,
    FiguresReported,
    FitBegan,
    Phase,
    PhaseChanged,
    RunEnded,
    RunStarted,
    ScriptStarted,
    StepsDone,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.planning.prepare import Preparation, prepare
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.report.material import read_material
from gpupanel.runs.report.page import report_page
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.panels.live_panel import LivePanel
from gpupanel.ui.plots.own_figures import MOST_PLOTS
from gpupanel.ui.plots.run_curves import RunCurves
from gpupanel.ui.run_actions import run_actions
from gpupanel.ui.run_page.progress import ProgressRow
from gpupanel.ui.run_state import RunState, button_states
from gpupanel.ui.run_texts import state_text, status_text
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import STARTED_S, WrittenRun
from tests.patience import PATIENCE_S
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process")

PROGRAM = Profile(name="mine", task="script", script=ScriptSettings(path="/tmp/train.py"))
BEGUN = (
    RunStarted(time_s=STARTED_S, supervisor_pid=1),
    ScriptStarted(time_s=STARTED_S, pid=2, program="train.py"),
    PhaseChanged(time_s=STARTED_S, phase=Phase.RUNNING),
)


def step(number: int, **measured: float | None) -> StepsDone:
    return StepsDone(
        time_s=STARTED_S + number,
        step=number,
        steps=1,
        epoch=1 + (number - 1) // 10,
        step_in_epoch=1 + (number - 1) % 10,
        examples=0,
        loss=1.0 / number,
        **measured,
    )


def figures(number: int, **reported: float) -> FiguresReported:
    return FiguresReported(
        time_s=STARTED_S + number, step=number, epoch=1 + (number - 1) // 10, figures=reported
    )


@pytest.fixture
def panel(qtbot: QtBot) -> LivePanel:
    panel = LivePanel()
    for plot in panel.plot_wall.plots:
        plot.prepare()
    qtbot.addWidget(panel)
    panel.resize(1_000, 700)
    with qtbot.waitExposed(panel):
        panel.show()
    return panel


def feed(panel: LivePanel, *events: Event) -> None:
    add(panel, *BEGUN, *events)


def add(panel: LivePanel, *events: Event) -> None:
    """Take them in, and wait until each figure has its plot: one is made after the other."""
    panel.addEvents(list(events))
    panel.plot_wall.redraw()
    wanted = [visible_beginning(name) for name in panel.curves.own.curves]
    until_s = time.monotonic() + PATIENCE_S
    while not set(wanted) <= set(titles(panel)):
        assert time.monotonic() < until_s
        QApplication.processEvents()
    panel.plot_wall.redraw()


def titles(panel: LivePanel) -> list[str]:
    return [plot.title() for plot in panel.plot_wall.plots]


def plot_of(panel: LivePanel, title: str):
    return next(plot for plot in panel.plot_wall.plots if plot.title() == title)


def test_that_each_figure_has_a_plot_with_its_twin_of_validation(panel: LivePanel) -> None:
    feed(
        panel,
        *(figures(n, reward=float(n), entropy=1.0 / n) for n in range(1, 21)),
        figures(20, val_reward=7.0),
    )
    assert titles(panel) == ["reward", "entropy", "Utilization, %", "Memory, %"]
    trained, validated = plot_of(panel, "reward").curves
    assert trained.buffer.values.tolist() == [float(n) for n in range(1, 21)]
    assert (validated.label, validated.buffer.values.tolist()) == ("validation", [7.0])
    assert trained.color() == panel.plot_wall.loss_plot.curves[0].color()
    assert validated.color() == panel.plot_wall.loss_plot.curves[1].color()
    (alone,) = plot_of(panel, "entropy").curves
    assert alone.label == ""


def test_that_figures_stand_below_the_loss_and_are_smoothed_with_it(panel: LivePanel) -> None:
    feed(panel, *(each for n in range(1, 41) for each in (step(n), figures(n, f1=n / 40))))
    assert titles(panel) == ["Loss", "f1", "Utilization, %", "Memory, %"]
    panel.plot_wall.setSmoothing(10.0)
    raw, smooth = plot_of(panel, "f1").curves
    assert raw.is_backdrop
    assert not np.array_equal(raw.buffer.values, smooth.buffer.values)
    assert panel.plot_wall.loss_plot.curves[0].is_backdrop


def test_that_a_program_without_a_loss_is_drawn_over_its_steps(panel: LivePanel) -> None:
    feed(panel, *(figures(n, reward=1.0) for n in range(1, 31)))
    assert panel.curves.steps.last_step == 30
    assert panel.plot_wall.span()[1] == pytest.approx(30.0, rel=0.1)


def test_that_steps_of_fit_count_and_not_those_of_figures_before(panel: LivePanel) -> None:
    feed(panel, figures(500, reward=1.0), *(step(n) for n in range(1, 21)), figures(7, reward=2.0))
    assert panel.curves.steps.last_step == 20
    assert panel.curves.steps.is_undone(panel.curves.loss.times) is None


def test_that_a_figure_that_appears_later_gets_its_plot_then(panel: LivePanel) -> None:
    feed(panel, *(step(n) for n in range(1, 6)))
    assert "late" not in titles(panel)
    add(panel, figures(6, late=1.0))
    assert plot_of(panel, "late").isVisible()


def test_that_so_many_figures_have_plots_and_the_rest_is_said(panel: LivePanel) -> None:
    named = {f"figure_{number}": float(number) for number in range(MOST_PLOTS + 10)}
    feed(panel, figures(1, **named))
    drawn = [title for title in titles(panel) if title.startswith("figure_")]
    assert sorted(drawn) == sorted(list(named)[:MOST_PLOTS])
    note = panel.findChild(QLabel, "undrawn_figures")
    assert note.isVisible()
    assert note.text().startswith("The first 24 figures of the program have a plot. Not drawn: ")
    assert "figure_24, " in note.text()
    assert "figure_31 and 2 more; Export CSV has them." in note.text()
    panel.clear()
    feed(panel, step(1))
    assert not note.isVisible()
    assert [title for title in titles(panel) if title.startswith("figure_")] == []


def test_that_what_a_program_does_not_report_has_no_plot(panel: LivePanel) -> None:
    feed(panel)
    add(panel, figures(1, reward=1.0))
    assert titles(panel) == ["reward", "Utilization, %", "Memory, %"]
    add(panel, step(2, accuracy=0.5, examples_per_second=100.0))
    shown = ["Loss", "Accuracy, %", "Utilization, %", "Memory, %", "Examples/s", "reward"]
    assert sorted(titles(panel)) == sorted(shown)


def test_that_devices_have_no_parts_of_the_speed(panel: LivePanel) -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED)
    plan = prepare(PROGRAM.model_copy(update={"strategy": strategy}), TWO_UNEQUAL).plan
    panel.setDevices(TWO_UNEQUAL)
    panel.setPlan(plan)
    feed(panel, *(step(n, examples_per_second=100.0) for n in range(1, 6)))
    assert len(panel.plot_wall.rate_plot.curves) == 1
    panel.clear()
    panel.setPlan(plan)
    assert len(panel.plot_wall.rate_plot.curves) == 3


def test_that_the_error_of_steps_and_of_validations_stand_in_one_plot(panel: LivePanel) -> None:
    metrics = Metrics(loss=1.0, mean_absolute_error=0.5, val_mean_absolute_error=0.75, val_auc=0.6)
    feed(
        panel,
        step(1),
        figures(1, mean_absolute_error=0.9, auc=0.5),
        EpochDone(time_s=STARTED_S + 2, epoch=1, step=1, metrics=metrics, seconds=1.0),
    )
    assert titles(panel) == ["Loss", "Mean absolute error", "auc", "Utilization, %", "Memory, %"]
    trained, validated = panel.plot_wall.metric_plot.curves
    assert trained.buffer.values.tolist() == [0.9, 0.5]
    assert validated.buffer.values.tolist() == [0.75]
    assert [curve.buffer.values.tolist() for curve in plot_of(panel, "auc").curves] == [
        [0.5],
        [0.6],
    ]


def test_that_epochs_can_be_counted_where_fit_says_how_long_they_are(panel: LivePanel) -> None:
    feed(panel, FitBegan(time_s=STARTED_S, epochs=3, steps_per_epoch=10), step(1))
    assert panel.curves.steps_per_epoch == 10
    panel.addEvents([FitBegan(time_s=STARTED_S + 1, epochs=6, steps_per_epoch=20)])
    assert panel.curves.steps_per_epoch is None
    panel.clear()
    end = EpochDone(time_s=STARTED_S + 9, epoch=2, step=40, metrics=Metrics(), seconds=1.0)
    feed(panel, end)
    assert panel.curves.steps_per_epoch is None
    panel.addEvents([FitBegan(time_s=STARTED_S + 9, epochs=3), end])
    assert panel.curves.steps_per_epoch == 20


def status(*events: Event) -> RunStatus:
    return RunStatus().after_all([*BEGUN, *events])


def figures_of(row: ProgressRow) -> list[str]:
    return [label.text() for label in row.findChildren(QLabel) if label.text()]


def test_that_progress_says_what_is_known(qtbot: QtBot) -> None:
    row = ProgressRow()
    qtbot.addWidget(row)
    unknown = status(step(7))
    row.setStatus(unknown, status_text(unknown))
    said = figures_of(row)
    assert {"Running train.py", "epoch 1", "step 7"} <= set(said)
    assert any(each.startswith("since ") for each in said)
    assert row.bar.maximum() == 0
    known = status(FitBegan(time_s=STARTED_S, epochs=3, steps_per_epoch=10), step(1), step(15))
    row.setStatus(known, status_text(known))
    assert "epoch 2/3" in figures_of(row)
    assert "0:15 left" in figures_of(row)
    assert row.bar.value() == 500
    assert "step 15 / 30" in row.bar.format()


def test_that_a_program_runs_and_does_not_train(qtbot: QtBot) -> None:
    going = status(step(1))
    assert state_text(RunState.RUNNING, going, Preparation()) == "Running"
    assert not going.trains
    states = button_states(RunState.RUNNING, Preparation(), is_program=True)
    assert states.is_program
    assert "report.should_stop" in states.suspend_tip
    ended = going.after(RunEnded(time_s=STARTED_S + 9, outcome=Outcome.STOPPED))
    assert status_text(ended) == "Stopped"
    offered = run_actions(RunState.ENDED, ended)
    assert (offered.offers_resume, offered.can_resume) == (True, True)
    assert "report.checkpoint_folder" in offered.resume_tip
    assert not offered.offers_tensorboard
    assert not offered.offers_longer


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, runs_dir: Path, undressed: None) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(TWO_UNEQUAL)
    yield window
    window.closing.close_unasked()


def going(runs_dir: Path, **script: object) -> WrittenRun:
    """A run of a program that has reported nothing yet."""
    program = runs_dir.parent / "train.py"
    program.write_text("", encoding="utf-8")
    settings = ScriptSettings.model_validate({"path": str(program), **script})
    profile = PROGRAM.model_copy(update={"script": settings})
    trust(code_of_profile(profile))
    return WrittenRun(runs_dir, profile)


def written(runs_dir: Path, **script: object) -> WrittenRun:
    """One that has ended."""
    run = going(runs_dir, **script)
    with run:
        run.write(*BEGUN, step(1), figures(1, reward=3.0), figures(2, reward=4.0))
        metrics = Metrics(loss=0.5, val_loss=0.25)
        run.write(
            EpochDone(time_s=STARTED_S + 3, epoch=1, step=2, metrics=metrics, seconds=1.0),
            RunEnded(time_s=STARTED_S + 4, outcome=Outcome.COMPLETED, metrics=metrics),
        )
    return run


def visible_tabs(window: MainWindow) -> list[str]:
    tabs = window.live_page.tabs
    return [tabs.tabText(place) for place in range(tabs.count()) if tabs.isTabVisible(place)]


def visible_buttons(window: MainWindow) -> list[str]:
    exports = window.live_page.exports
    buttons = exports.findChildren(QPushButton)
    return sorted(each.text() for each in buttons if each.isVisibleTo(exports.page))


def test_that_the_page_of_an_ended_run_shows_the_same_figures_and_no_model(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    window.control.open(written(runs_dir).layout)
    live = window.live_page.live
    qtbot.waitUntil(lambda: "reward" in live.curves.own.curves)
    assert live.curves.own.curves["reward"].training.values.tolist() == [3.0, 4.0]
    assert visible_tabs(window) == ["Curves", "Devices", "Export", "Log"]
    assert visible_buttons(window) == ["Open folder", "Report…"]
    other = WrittenRun(runs_dir, Profile(name="trained"))
    with other:
        other.begin()
        other.step(3)
        other.end()
    window.control.open(other.layout)
    qtbot.waitUntil(lambda: window.control.shown_facts is not None)
    assert {"Evaluation", "Predict"} <= set(visible_tabs(window))
    assert "Notebook…" in visible_buttons(window)


def test_that_the_settings_of_such_a_run_come_into_the_session(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    window.control.open(written(runs_dir, arguments=("--x",)).layout)
    qtbot.waitUntil(lambda: window.control.shown_facts is not None)
    window.findChild(QAction, "use_settings").trigger()
    script = window.session.profile.script
    assert script is not None
    assert (script.name, script.arguments) == ("train.py", ("--x",))
    assert window.session_page.script.value() == script


def test_that_a_report_names_the_program_and_its_figures(runs_dir: Path) -> None:
    run = written(
        runs_dir,
        arguments=("--name", "a b", "{lr}"),
        values={"lr": 0.125},
        environment={"TOKEN": "secret"},
    )
    page = report_page(read_material(run.layout))
    for said in (
        "Own program report",
        "/train.py",
        "--name",
        "reward",
        "lr = 0.125",
        "Seen by the program",
    ):
        assert said in page
    assert "TOKEN" in page
    for left_out in ("secret", "of the batch", "Digits", "Learning rate</dt>"):
        assert left_out not in page


def test_that_a_program_that_is_to_end_now_is_not_said_to_save(
    qtbot: QtBot, window: MainWindow, runs_dir: Path
) -> None:
    person = window.core.questions
    window.control._after_stop.setInterval(20)
    run = going(runs_dir)
    with run:
        run.write(*BEGUN, step(1))
        window.control.follow(run.layout)
        qtbot.waitUntil(lambda: window.session.run_state is RunState.RUNNING)
        assert "as Ctrl+C in a terminal does" in window.core.actions.stop.whatsThis()
        assert not window.core.actions.checkpoint.isEnabled()
        assert not window.core.actions.trace.isEnabled()
        window.core.actions.stop.trigger()
        qtbot.waitUntil(lambda: window.session.buttons.end_now)
        window.core.actions.end.trigger()
        (loss,) = person.losses
        assert loss.startswith("It was interrupted as Ctrl+C does, and ends by itself.")
        assert "saves before it ends" not in loss


def test_that_metrics_of_ones_own_code_have_plots_in_a_training_of_gpupanels() -> None:
    curves = RunCurves()
    curves.add_events(
        [
            RunStarted(time_s=STARTED_S, supervisor_pid=1),
            step(1, examples_per_second=1.0),
            EpochDone(
                time_s=STARTED_S + 2.0,
                epoch=1,
                step=1,
                metrics=Metrics(loss=0.5, val_loss=0.4, iou=0.25, val_iou=0.125),
                seconds=1.0,
            ),
        ]
    )
    assert curves.own.shape == (("iou", True, True),)


def test_that_a_training_measured_otherwise_has_no_empty_plot_of_accuracy(
    panel: LivePanel,
) -> None:
    assert "Accuracy, %" in titles(panel)
    kind = Metrics(loss=0.5, kind_loss=0.25, kind_accuracy=0.75)
    add(
        panel,
        BEGUN[0],
        step(1),
        EpochDone(time_s=STARTED_S + 2.0, epoch=1, step=1, metrics=kind, seconds=1.0),
    )
    assert "Accuracy, %" not in titles(panel)
    assert {"Loss", "kind_loss", "kind_accuracy"} <= set(titles(panel))
    panel.plot_wall.setCurves(RunCurves())
    panel.plot_wall.redraw()
    assert "Accuracy, %" in titles(panel)

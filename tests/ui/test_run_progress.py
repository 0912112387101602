"""The row with step, epoch, speed and time left."""

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QLabel

from gpupanel.domain.events import DataProgressed, FineTuningBegan, Phase
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.run_page.progress import ProgressRow

HALFWAY = RunStatus(
    stage=RunStage.RUNNING,
    phase=Phase.TRAINING,
    epoch=2,
    epoch_total=3,
    step=1500,
    step_total=3000,
    loss=0.25,
    examples_per_second=118_000.0,
    waiting_for_data=0.34,
    first_step_time_s=0.0,
    last_step_time_s=41.0,
)


@pytest.fixture
def panel(qtbot):
    panel = ProgressRow()
    qtbot.addWidget(panel)
    return panel


def _shown(panel, status, words=""):
    panel.setStatus(status, words)
    texts = [label.text() for label in panel.findChildren(QLabel)]
    return texts, panel.bar


def test_that_a_run_is_shown_with_units(panel):
    texts, bar = _shown(panel, HALFWAY, "Training")

    assert texts == [
        "Training",
        "epoch 2/3",
        "step 1,500 / 3,000",
        "loss 0.2500",
        "118,000 ex/s",
        "data wait 34 %",
        "0:41 left",
    ]
    assert bar.value() * 2 == bar.maximum()
    assert bar.text() == "epoch 2/3, step 1,500 / 3,000"


def test_that_the_epoch_says_since_when_layers_are_fine_tuned(panel):
    began = FineTuningBegan(
        time_s=2.0, epoch=2, layers=3, trainable_parameters=9, learning_rate=1e-5
    )
    panel.setStatus(HALFWAY.after(began), "Fine-tuning")
    (epoch,) = (each for each in panel.findChildren(QLabel) if each.text() == "epoch 2/3")
    assert "Fine-tuning since epoch 2: 3 layers of the base learn" in epoch.toolTip()


def test_that_start_up_shows_words_and_a_bar_without_a_measure(panel):
    texts, bar = _shown(panel, RunStatus(epoch_total=3), "Importing TensorFlow…")
    assert not any("epoch" in text for text in texts)  # none has begun

    assert texts[0] == "Importing TensorFlow…"
    assert bar.maximum() == 0


def test_that_decoding_has_a_measure(panel):
    decoding = DataProgressed(time_s=1.0, doing="decoding images", done=30, total=120)

    _, bar = _shown(panel, RunStatus(epoch_total=3, data_progress=decoding), "Decoding…")

    assert bar.value() * 4 == bar.maximum()


def test_that_examples_in_memory_show_no_wait(panel):
    texts, _ = _shown(panel, HALFWAY.model_copy(update={"waiting_for_data": 0.001}), "Training")

    assert not any("wait" in text for text in texts)


def test_that_a_run_that_ended_before_its_first_step_leaves_the_bar_empty(panel):
    status = RunStatus(stage=RunStage.ENDED, outcome=Outcome.FAILED)
    _, bar = _shown(panel, status, "Failed")

    assert (bar.value(), bar.maximum() > 0) == (0, True)


def test_that_evaluating_and_predicting_are_shown_in_examples(panel):
    evaluating = RunStatus(
        stage=RunStage.RUNNING,
        phase=Phase.PREDICTING,
        examples=1024,
        examples_total=1797,
        examples_per_second=77.3,
    )
    texts, bar = _shown(panel, evaluating, "Predicting")

    assert texts == ["Predicting", "", "1,024 of 1,797 examples", "", "77 ex/s", "", "0:10 left"]
    assert bar.value() == bar.maximum() * 1024 // 1797
    assert bar.text() == "1,024 of 1,797 examples"
    ended = evaluating.model_copy(update={"stage": RunStage.ENDED, "phase": Phase.SAVING})
    assert _shown(panel, ended, "Completed")[0][2] == "1,024 of 1,797 examples"


def test_that_a_prediction_that_begins_has_no_measure_yet(panel):
    texts, bar = _shown(panel, RunStatus(phase=Phase.EVALUATING), "Evaluating")

    assert texts[1:] == [""] * 6
    assert bar.maximum() == 0


def test_that_an_ended_run_reports_how_long_it_took(panel):
    ended = HALFWAY.model_copy(
        update={"stage": RunStage.ENDED, "started_s": 100.0, "ended_s": 161.0}
    )
    texts, _ = _shown(panel, ended, "Completed")

    assert texts[-1] == "took 1:01"


def test_that_what_is_not_known_is_not_named(panel):
    texts, bar = _shown(panel, None)

    assert texts == ["No run yet", *[""] * 6]
    assert bar.value() == 0


def test_that_numbers_keep_their_place_while_they_change(qtbot, panel):
    panel.resize(1280, 40)
    panel.setStatus(HALFWAY, "Training")
    with qtbot.waitExposed(panel):
        panel.show()
    before = [label.x() for label in panel.findChildren(QLabel)]
    panel.setStatus(HALFWAY.model_copy(update={"step": 2, "examples_per_second": 3.0}), "Saving…")
    panel.layout().activate()

    assert [label.x() for label in panel.findChildren(QLabel)] == before


def test_that_phases_that_take_turns_do_not_flicker(qtbot, panel):
    validating = HALFWAY.model_copy(update={"phase": Phase.VALIDATING})
    phase = panel.findChild(QLabel)
    panel.setStatus(HALFWAY, "Training")
    for _ in range(5):
        panel.setStatus(validating, "Validating")
        assert phase.text() == "Training"
        panel.setStatus(HALFWAY, "Training")
    panel.setStatus(validating, "Validating")

    qtbot.waitUntil(lambda: phase.text() == "Validating", timeout=2000)


def test_that_a_clock_set_back_meanwhile_gives_no_negative_time(panel):
    ended = HALFWAY.model_copy(
        update={"stage": RunStage.ENDED, "started_s": 7200.0, "ended_s": 3600.0}
    )
    texts, _ = _shown(panel, ended)
    assert f"took {formatting.DASH}" in texts


def test_that_the_bar_stands_still_once_there_is_a_measure_even_while_it_is_empty(qtbot, panel):
    moves = []

    class Moves(QObject):
        def eventFilter(self, watched, event):
            moves.append(event.type() == QEvent.Type.StyleAnimationUpdate)
            return False

    qtbot.addWidget(panel.bar)
    panel.bar.setStyleSheet(
        "QProgressBar { background: white; border: none; border-radius: 2px; }"
        "QProgressBar::chunk { background: blue; border-radius: 2px; }"
    )
    panel.bar.resize(600, 4)
    panel.bar.show()
    panel.setStatus(RunStatus(epoch_total=3), "Importing TensorFlow…")
    noting = Moves(panel)
    panel.bar.installEventFilter(noting)
    qtbot.waitUntil(lambda: any(moves))

    panel.setStatus(HALFWAY.model_copy(update={"step": 1, "step_total": 10**6}), "Training")

    qtbot.wait(50)  # what was on its way
    moves.clear()
    qtbot.wait(200)
    assert panel.bar.value() == 0
    assert not any(moves)


def test_that_where_a_run_stands_is_drawn_with_the_rest_of_the_window_and_not_at_once(qtbot, panel):
    drawn = []

    class Drawn(QObject):
        def eventFilter(self, watched, event):
            if event.type() is QEvent.Type.Paint:
                drawn.append(watched)
            return False

    qtbot.addWidget(panel.bar)
    with qtbot.waitExposed(panel.bar):
        panel.bar.show()
    panel.setStatus(HALFWAY, "Training")
    QApplication.processEvents()
    noted = Drawn()
    panel.bar.installEventFilter(noted)

    panel.setStatus(HALFWAY.model_copy(update={"step": 1_800}), "Training")

    assert drawn == []
    qtbot.waitUntil(lambda: bool(drawn), timeout=1000)
    assert panel.bar.value() == 600

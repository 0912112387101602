import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.training import TrainingSettings
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.inputs.real_spin_box import RealSpinBox
from gpupanel.ui.inputs.switch import Switch
from gpupanel.ui.panels.training_panel import TrainingPanel
from gpupanel.ui.plots.rate_curve_view import RateCurveView
from gpupanel.ui.widgets.buttons import FoldButton
from tests.ui.values import TRAININGS

_QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def panel(qtbot: QtBot) -> TrainingPanel:
    panel = TrainingPanel()
    qtbot.addWidget(panel)
    return panel


def _named(panel: QWidget, kind: type[QWidget], name: str) -> QWidget:
    return next(each for each in panel.findChildren(kind) if each.accessibleName() == name)


@_QUICK
@given(value=TRAININGS)
def test_that_every_value_comes_back_unchanged_and_unannounced(panel, value):
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setValue(value)
    assert panel.value() == value
    assert heard == []


def test_that_typing_a_batch_size_reports_each_number_once(panel, qtbot):
    heard = []
    panel.valueChanged.connect(heard.append)
    batch = _named(panel, Counter, "Global batch size")
    batch.setFocus()
    batch.selectAll()
    qtbot.keyClicks(batch, "128")
    assert [value.global_batch_size for value in heard] == [1, 12, 128]
    assert panel.value().global_batch_size == 128


def test_that_a_learning_rate_can_be_typed_with_an_exponent(panel, qtbot):
    rate = _named(panel, RealSpinBox, "Learning rate")
    rate.selectAll()
    with qtbot.waitSignal(panel.valueChanged):
        qtbot.keyClicks(rate, "3e-4")
    assert panel.value().learning_rate == 3e-4


def test_that_momentum_is_offered_only_where_the_optimizer_takes_it(panel):
    momentum = _named(panel, RealSpinBox, "Momentum")
    enabled = set()
    for optimizer in Optimizer:
        panel.setValue(TrainingSettings(optimizer=optimizer))
        if momentum.isEnabled():
            enabled.add(optimizer)
    assert enabled == {Optimizer.SGD, Optimizer.RMSPROP}


@pytest.fixture
def schedule(panel) -> tuple[ValueForm, RateCurveView]:
    """The form of the schedule, unfolded, and its curve."""
    panel.show()
    (fold,) = (each for each in panel.findChildren(FoldButton) if "chedule" in each.text())
    fold.click()
    (curve,) = panel.findChildren(RateCurveView)
    return curve.parentWidget().findChild(ValueForm), curve


def test_that_the_curve_of_the_learning_rate_follows_what_is_chosen(panel, schedule):
    form, curve = schedule
    assert set(curve.rates) == {1e-3}
    heard = []
    panel.valueChanged.connect(heard.append)
    kinds = _named(form, QComboBox, "Kind")
    kinds.setCurrentIndex(kinds.findText("One cycle"))
    assert [value.schedule.kind for value in heard] == ["one_cycle"]
    assert curve.rates[0] == pytest.approx(4e-5)
    assert max(curve.rates) == pytest.approx(1e-3, rel=1e-3)
    assert curve.rates[-1] < 1e-6
    rate = _named(panel, RealSpinBox, "Learning rate")
    rate.selectAll()
    rate.setValue(0.5)
    rate.valueChanged.emit(0.5)
    assert curve.rates[0] == pytest.approx(0.02)
    panel.setValue(TrainingSettings(epochs=4, schedule={"kind": "step", "every_epochs": 2}))
    assert [curve.rates[place] for place in (0, 199, 201, 400)] == pytest.approx(
        [1e-3, 1e-3, 1e-4, 1e-4]
    )
    panel.setFineTuning(FineTuning(from_epoch=3, learning_rate=1e-5))
    assert [curve.rates[place] for place in (0, 199, 201, 400)] == pytest.approx(
        [1e-3, 1e-3, 1e-6, 1e-6]
    )
    panel.setFineTuning(None)
    assert curve.rates[201] == pytest.approx(1e-4)
    assert not curve.grab().toImage().isNull()


def test_that_only_what_means_something_to_a_schedule_is_shown(panel, schedule):
    form, _ = schedule
    rows = {
        "constant": set(),
        "step": {"Falls", "Factor"},
        "exponential": {"Falls", "Factor"},
        "cosine": {"Warm-up (epochs)", "Least rate"},
        "one_cycle": {"Rise"},
        "reduce_on_plateau": {"Factor", "Least rate", "Patience"},
    }
    for kind, wanted in rows.items():
        panel.setValue(TrainingSettings(schedule={"kind": kind}))
        shown = {
            each.accessibleName()
            for each in (*form.findChildren(Counter), *form.findChildren(RealSpinBox))
            if each.isVisibleTo(form)
        }
        assert shown == wanted, kind
    # What was set and means nothing is in sight.
    panel.setValue(TrainingSettings(schedule={"rise": 0.5}))
    assert _named(form, RealSpinBox, "Rise").isVisibleTo(form)


def test_that_the_line_of_a_schedule_says_its_kind(panel):
    panel.setValue(TrainingSettings(schedule={"kind": "cosine", "warmup_epochs": 1.0}))
    lines = [each.text().replace("&", "") for each in panel.findChildren(FoldButton)]
    assert "Schedule: cosine, warm-up" in lines


def test_that_choosing_an_optimizer_reports_once(panel):
    heard = []
    panel.valueChanged.connect(heard.append)
    box = _named(panel, QComboBox, "Optimizer")
    box.setCurrentIndex(box.findText("SGD"))
    assert [value.optimizer for value in heard] == [Optimizer.SGD]


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("Mixed precision", "mixed_precision"),
        ("XLA (jit_compile)", "jit_compile"),
        ("TensorBoard files", "tensorboard"),
        ("Keep the best checkpoint", "keep_best_checkpoint"),
    ],
)
def test_that_a_click_on_a_check_box_turns_its_setting_once(panel, qtbot, name, field):
    heard = []
    panel.valueChanged.connect(heard.append)
    before = getattr(panel.value(), field)
    box = _named(panel, QCheckBox, name)
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))
    assert [getattr(value, field) for value in heard] == [not before]


def test_that_early_stopping_is_off_until_a_patience_is_set(panel):
    assert panel.value().early_stopping_patience is None
    patience = _named(panel, Counter, "Early stopping")
    assert patience.text() == "off"
    patience.stepUp()
    assert panel.value().early_stopping_patience == 1
    assert patience.text() == "after 1 epoch"
    patience.stepDown()
    assert panel.value().early_stopping_patience is None


@pytest.mark.parametrize("optimizer", [Optimizer.SGD, Optimizer.ADAM])
def test_that_the_wheel_changes_nothing_without_focus(panel, qtbot, optimizer):
    panel.show()
    qtbot.waitExposed(panel)
    panel.setValue(TrainingSettings(optimizer=optimizer))
    for box in (
        *panel.findChildren(QComboBox),
        *panel.findChildren(Counter),
        *panel.findChildren(RealSpinBox),
    ):
        if not box.isEnabled():
            continue  # Qt itself passes it on
        before = panel.value()
        QApplication.focusWidget() and QApplication.focusWidget().clearFocus()
        wheel = QWheelEvent(
            QPointF(5, 5),
            QPointF(5, 5),
            QPoint(0, 0),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(box, wheel)
        assert panel.value() == before
        assert not wheel.isAccepted(), "the page below could not scroll"


def test_that_a_problem_can_lead_to_the_editor_of_its_key(panel, qtbot):
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    panel.focus_editor("training.learning_rate")
    qtbot.waitUntil(lambda: _named(panel, RealSpinBox, "Learning rate").hasFocus())


def test_that_every_control_teaches_and_has_a_name(panel):
    for kind in (QComboBox, Counter, RealSpinBox, QCheckBox):
        for control in panel.findChildren(kind):
            assert control.accessibleName()
            assert len(control.toolTip()) > 20


def test_that_clipping_is_off_until_it_is_switched_on_and_keeps_its_number(panel, qtbot):
    switch = _named(panel, Switch, "Clip gradients: on or off")
    number = _named(panel, RealSpinBox, "Clip gradients")
    assert panel.value().clip_norm is None
    assert number.isHidden()
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert panel.value().clip_norm == 1.0
    number.selectAll()
    qtbot.keyClicks(number, "2.5")
    assert panel.value().clip_norm == 2.5
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert panel.value().clip_norm is None
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert panel.value().clip_norm == 2.5


def test_that_a_run_restarts_by_itself_only_when_that_is_asked_for(panel, qtbot):
    restarts = _named(panel, Counter, "Restart automatically")
    assert restarts.text() == "never"
    qtbot.keyClick(restarts, Qt.Key.Key_Up)
    assert (panel.value().max_restarts, restarts.text()) == (1, "up to 1 time")
    restarts.selectAll()
    qtbot.keyClicks(restarts, "1000")
    assert panel.value().max_restarts <= 100


def test_that_checkpoints_within_an_epoch_are_off_until_they_are_switched_on(panel, qtbot):
    switch = _named(panel, Switch, "Timed checkpoints: on or off")
    number = _named(panel, RealSpinBox, "Timed checkpoints")
    assert panel.value().checkpoint_every_minutes is None
    qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert panel.value().checkpoint_every_minutes == 10.0
    number.selectAll()
    qtbot.keyClicks(number, "2.5")
    assert panel.value().checkpoint_every_minutes == 2.5
    qtbot.keyClick(switch, Qt.Key.Key_Space)
    assert panel.value().checkpoint_every_minutes is None


def test_that_at_least_the_newest_checkpoint_is_kept(panel):
    kept = _named(panel, Counter, "Checkpoints kept")
    assert kept.text() == "the newest 3"
    for _ in range(5):
        kept.stepDown()
    assert (panel.value().checkpoints_kept, kept.text()) == (1, "the newest 1")


def test_that_a_retry_after_too_little_memory_is_only_made_when_asked_for(panel, qtbot):
    memory = _named(panel, Counter, "When out of memory")
    assert memory.text() == "stop"
    qtbot.keyClick(memory, Qt.Key.Key_Up)
    assert (panel.value().out_of_memory_retries, memory.text()) == (1, "retry up to 1 time")
    memory.selectAll()
    qtbot.keyClicks(memory, "100")
    assert panel.value().out_of_memory_retries <= 10


def test_that_problems_lead_to_the_new_fields(panel, qtbot):
    with qtbot.waitExposed(panel):
        panel.show()
    panel.activateWindow()
    assert panel.isAncestorOf(panel.focus_editor("training.clip_norm"))
    assert panel.isAncestorOf(panel.focus_editor("training.checkpoint_every_minutes"))
    assert panel.focus_editor("training.max_restarts") is _named(
        panel, Counter, "Restart automatically"
    )
    panel.hide()


def test_that_it_says_in_short_what_is_set_before_anything_was_changed(panel):
    panel.set_folded(folded=True)
    assert panel._head.words.text() == "3 epochs · batch 64 · learning rate 0.001"
    rate = {"learning_rate": 0.000139596}
    panel.setValue(panel.value().model_copy(update=rate))
    assert panel._head.words.text() == "3 epochs · batch 64 · learning rate 0.0001396"

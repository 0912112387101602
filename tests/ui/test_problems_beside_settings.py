"""A problem of a setting stands below its row, in whichever panel that is, until it is mended."""

import pytest
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from gpupanel.domain.data import ImagesData, NpzData
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.inputs.text_input import PathEdit
from gpupanel.ui.panels.data_panel import DataPanel
from gpupanel.ui.panels.model_panel import ModelPanel
from gpupanel.ui.panels.strategy_panel import StrategyPanel
from gpupanel.ui.panels.task_panel import TaskPanel
from gpupanel.ui.panels.training_panel import TrainingPanel
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.task_choices import TaskChoices
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.workers.tool_worker import QuestionWorker
from tests.ui.values import TWO_GPUS


def _problem(field: str, severity: Severity = Severity.ERROR, message: str = "") -> Problem:
    message = message or "Something is wrong with this setting."
    return Problem(code="wrong", field=field, severity=severity, message=message)


def _notes(panel: QWidget) -> list[Note]:
    return [each for each in panel.findChildren(Note) if each.isVisibleTo(panel) and each.text()]


def _note(panel: QWidget, message: str) -> Note | None:
    return next((each for each in _notes(panel) if each.text() == message), None)


def _top(panel: QWidget, part: QWidget) -> int:
    return part.mapTo(panel, part.rect().topLeft()).y()


def _named(panel: QWidget, kind: type[QWidget], name: str) -> QWidget:
    return next(each for each in panel.findChildren(kind) if each.accessibleName() == name)


@pytest.fixture
def training(qtbot) -> TrainingPanel:
    panel = TrainingPanel()
    qtbot.addWidget(panel)
    panel.resize(430, 900)
    return panel


_PANELS = [
    (TaskPanel, TaskChoices(), "task"),
    (TaskPanel, TaskChoices(task="evaluate"), "inference.batch_size"),
    (StrategyPanel, StrategySettings(kind=StrategyKind.MIRRORED), "strategy.kind"),
    (StrategyPanel, StrategySettings(kind=StrategyKind.MIRRORED), "strategy.shares"),
    (DataPanel, NpzData(path=""), "data.source"),
    (DataPanel, NpzData(path=""), "data.path"),
    (DataPanel, ImagesData(path="x"), "data.image_size.0"),
    (DataPanel, NpzData(path="x"), "data.validation_fraction"),
    (ModelPanel, MlpModel(), "model.source"),
    (ModelPanel, CnnModel(), "model.filters.1"),
    (TrainingPanel, TrainingSettings(), "training.epochs"),
    (TrainingPanel, TrainingSettings(), "training.mixed_precision"),
]


@pytest.mark.parametrize(("make", "value", "field"), _PANELS)
def test_that_a_problem_stands_below_its_setting_and_goes_when_mended(qtbot, make, value, field):
    panel: SettingsCard = make()
    qtbot.addWidget(panel)
    panel.setValue(value)
    problem = _problem(field)
    panel.resize(430, 900)
    with qtbot.waitExposed(panel):
        panel.show()
    panel.setProblems((problem, _problem("elsewhere.epochs", message="No.")))
    note = _note(panel, problem.message)
    assert note is not None
    assert _note(panel, "No.") is None
    editor = panel.focus_editor(field)
    qtbot.waitUntil(lambda: _top(panel, note) >= _top(panel, editor) + editor.height())
    assert not [
        each
        for form in panel.findChildren(SettingsForm)
        for each in form.editors().values()
        if each.isVisible() and _top(panel, editor) < _top(panel, each) < _top(panel, note)
    ], "something stands between them"
    panel.setProblems(())
    assert _note(panel, problem.message) is None
    panel.hide()


@pytest.mark.parametrize(
    ("severity", "tone"),
    [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.HINT, "muted")],
)
def test_that_the_tone_reports_how_grave_a_problem_is(training, severity, tone):
    problem = _problem("training.epochs", severity)
    training.setProblems((problem,))
    assert _note(training, problem.message).property("tone") == tone


def test_that_the_gravest_of_several_problems_stands_there(training):
    error, hint = (_problem("training.epochs", each, each) for each in ("error", "hint"))
    training.setProblems((hint, error))
    assert [note.text() for note in _notes(training)] == ["error"]
    training.setProblems((hint,))
    assert [note.text() for note in _notes(training)] == ["hint"]


def test_that_what_has_the_focus_describes_its_problem_to_assistive_technology(training, qtbot):
    epochs = _named(training, Counter, "Epochs")
    before = epochs.accessibleDescription()
    assert before
    training.setProblems((_problem("training.epochs", message="Too many."),))
    assert epochs.accessibleDescription() == f"Too many. {before}"
    training.setProblems((_problem("training.epochs", message="Too few."),))
    assert epochs.accessibleDescription() == f"Too few. {before}"
    training.setProblems(())
    assert epochs.accessibleDescription() == before
    data = DataPanel()
    qtbot.addWidget(data)
    data.setValue(NpzData(path=""))
    field = data.findChild(PathEdit).findChild(QLineEdit)
    before = field.accessibleDescription()
    assert before
    data.setProblems((_problem("data.path", message="No file."),))
    assert field.accessibleDescription() == f"No file. {before}"


def test_that_a_problem_calls_settings_as_the_window_does(training):
    training.setProblems((_problem("training.epochs", message="training.epochs is too small."),))
    assert _note(training, "“Epochs” is too small.") is not None


def test_that_a_problem_unfolds_its_setting_once(training):
    seed = _named(training, Counter, "Seed")
    assert not seed.isVisibleTo(training)
    problem = _problem("training.seed")
    training.setProblems((problem,))
    assert seed.isVisibleTo(training)
    assert _note(training, problem.message) is not None
    training.findChild(FoldButton).click()
    training.setProblems((problem, _problem("training.epochs", message="No.")))
    assert not seed.isVisibleTo(training), "a person folded it away"
    assert _note(training, problem.message) is None
    training.findChild(FoldButton).click()
    assert _note(training, problem.message) is not None


def test_that_a_problem_of_a_hidden_setting_is_not_shown_without_it(qtbot):
    panel = StrategyPanel()
    qtbot.addWidget(panel)
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED))
    panel.setProblems((_problem("strategy.shares", message="Bad shares."),))
    assert _note(panel, "Bad shares.") is not None
    panel.setValue(StrategySettings(kind=StrategyKind.ONE_DEVICE))
    assert _note(panel, "Bad shares.") is None
    panel.setValue(StrategySettings(kind=StrategyKind.MIRRORED))
    assert _note(panel, "Bad shares.") is not None


def test_that_a_problem_follows_the_value_to_the_form_of_another_kind(qtbot):
    panel = DataPanel()
    qtbot.addWidget(panel)
    panel.setProblems((_problem("data.path", message="Not there."),))
    assert _note(panel, "Not there.") is None
    panel.setValue(ImagesData(path="x"))
    note = _note(panel, "Not there.")
    assert note.parent().isAncestorOf(
        next(each for each in panel.findChildren(PathEdit) if each.isVisibleTo(panel))
    )


def test_that_the_session_hands_its_problems_to_every_panel(qtbot):
    session, loader = Session(_preparer), QuestionWorker(preview_data)
    page = SessionPage(session, loader)
    qtbot.addWidget(page)
    page._preview_timer.stop()
    session.set_inventory(TWO_GPUS)
    session.prepare_now()
    assert [len(_notes_of_problems(panel)) for panel in _panels(page)] == [1, 1, 1, 1, 1]
    session.edit(Profile(name="mended"))
    session.prepare_now()
    assert [len(_notes_of_problems(panel)) for panel in _panels(page)] == [0, 0, 0, 0, 0]
    page._preview_timer.stop()
    session.close()
    loader.stop()


_FIELDS = ("task", "strategy.kind", "data.cache", "model.hidden", "training.epochs")


def _preparer(profile: Profile, *_: object) -> Preparation:
    is_mended = profile.name == "mended"
    return Preparation(problems=() if is_mended else tuple(map(_problem, _FIELDS)))


def _panels(page: SessionPage) -> tuple[SettingsCard, ...]:
    return (page.task, page.strategy, page.data, page.model, page.training)


def _notes_of_problems(panel: QWidget) -> list[Note]:
    return [note for note in _notes(panel) if note.text().startswith("Something is wrong with")]


def test_that_a_folded_setting_that_is_gone_to_comes_into_view(qtbot):
    session, loader = Session(_preparer), QuestionWorker(preview_data)
    page = SessionPage(session, loader)
    qtbot.addWidget(page)
    page._preview_timer.stop()
    page.resize(900, 300)
    with qtbot.waitExposed(page):
        page.show()
    page.plan.problems.fieldActivated.emit("training.tensorboard")
    editor = _named(page.training, QCheckBox, "TensorBoard files")

    def is_seen() -> None:
        assert editor.visibleRegion().boundingRect().height() == editor.height()

    qtbot.waitUntil(is_seen)
    page._preview_timer.stop()
    session.close()
    loader.stop()

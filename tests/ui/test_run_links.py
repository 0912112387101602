"""A training and the runs that took its model lead to each other."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton

from gpupanel.domain.model import SavedModel
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.run_links import MOST_LINKS, RunLinks, link_texts, links_of
from gpupanel.ui.run_page.model_runs_page import ModelRunsPage
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

ON_CPU = DeviceSettings(visible=("cpu",))


def summary(name: str, model_run: Path | None = None) -> RunSummary:
    return RunSummary(name=name, path=Path("/runs", name), profile_name=name, model_run=model_run)


TRAINED, OTHER = summary("a"), summary("b")
EVALUATED = summary("c", TRAINED.path)
RUNS = (EVALUATED, OTHER, TRAINED, summary("d", Path("/runs/gone")))


def test_that_runs_belong_together_by_their_model():
    assert links_of(TRAINED.path, RUNS) == RunLinks(None, (EVALUATED,))
    assert links_of(EVALUATED.path, RUNS) == RunLinks(TRAINED)
    assert links_of(Path("/runs/../runs/c"), RUNS) == RunLinks(TRAINED)
    for path in (OTHER.path, Path("/runs/d"), Path("/elsewhere"), None):
        assert links_of(path, RUNS) == RunLinks()
    many = tuple(summary(f"of a {number}", TRAINED.path) for number in range(2 * MOST_LINKS))
    assert links_of(TRAINED.path, (*many, TRAINED)).others == many[:MOST_LINKS]


def evaluation(accuracy: float, started_s: float | None = None) -> RunSummary:
    return RunSummary(
        name="e",
        path=Path("/runs", f"{accuracy} {started_s}"),
        profile_name="evaluation of digits on two replicas",
        outcome=Outcome.COMPLETED,
        metrics=Metrics(accuracy=accuracy),
        started_s=started_s,
    )


def test_that_runs_that_would_read_alike_say_when_they_were_started():
    runs = evaluation(0.9, 1e9), evaluation(0.8, 1e9), evaluation(0.9, 2e9), evaluation(0.9, 1e300)
    first, other, later, endless = link_texts(runs)
    assert other == "evaluation of digits on two replicas · completed · accuracy 80.0 %"
    assert first.startswith(
        "evaluation of digits on two replicas · completed · accuracy 90.0 % · 20"
    )
    assert first != later
    assert endless.endswith(" · \N{EN DASH}")


def test_that_what_distinguishes_evaluations_is_seen_in_their_list(qtbot):
    page = ModelRunsPage("evaluate")
    qtbot.addWidget(page)
    page.resize(700, 400)
    page.show()
    page.setRuns([evaluation(0.8312), evaluation(0.9722)])
    listed = page.findChild(ComboBox, "evaluate_list")
    shown = []
    for place, accuracy in enumerate(("83.1 %", "97.2 %")):
        listed.setCurrentIndex(place)
        shown.append(listed.shownText())
        assert "…" in shown[-1]
        assert shown[-1].endswith(accuracy)
        assert listed.itemText(place) in listed.itemData(place, Qt.ItemDataRole.ToolTipRole)
    assert listed.view().textElideMode() is Qt.TextElideMode.ElideMiddle


def written(runs_dir: Path, profile: Profile):
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        run.step(2)
        run.end()
    return run.layout


@pytest.fixture
def window(qtbot, tmp_path, runs_dir):
    settings = QSettings(str(tmp_path / "s.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    yield window
    window.close()


def test_that_a_click_leads_from_a_training_to_its_evaluation_and_back(qtbot, window, runs_dir):
    trained = written(runs_dir, Profile(name="trained & saved", devices=ON_CPU))
    model = SavedModel(path=str(trained.model))
    profile = Profile(name="evaluation of it", task="evaluate", model=model, devices=ON_CPU)
    evaluated = written(runs_dir, profile)
    window.begin()
    window.open_target(trained.root)
    listed = window.findChild(QComboBox, "evaluate_list")
    origin = window.findChild(QPushButton, "origin_button")
    qtbot.waitUntil(lambda: listed.count() == 1, timeout=10_000)
    assert listed.itemText(0).startswith("evaluation of it · ")
    assert origin.isHidden()

    listed.setCurrentIndex(0)
    listed.activated.emit(0)
    assert window.control.shown == trained  # it is seen on the page of its run
    window.findChild(QPushButton, "evaluate_page_button").click()
    qtbot.waitUntil(lambda: window.control.shown == evaluated, timeout=10_000)
    qtbot.waitUntil(lambda: not origin.isHidden(), timeout=10_000)
    assert listed.count() == 0
    assert "trained & saved" in origin.toolTip().replace("&amp;", "&")

    origin.click()
    qtbot.waitUntil(lambda: window.control.shown == trained, timeout=10_000)


def test_that_the_shown_run_has_the_name_that_a_person_gave_it(qtbot, window, runs_dir):
    run = written(runs_dir, Profile(name="trained", devices=ON_CPU))
    other = written(runs_dir, Profile(name="other", devices=ON_CPU))
    window.resize(1600, 900)  # a long name is cut where there is no room for it
    window.begin()
    window.open_target(run.root)
    title = window.findChild(QLabel, "shown_run")
    qtbot.waitUntil(lambda: title.text() == "trained", timeout=10_000)
    assert run.name in title.toolTip()
    for label, shown in (("the best & last", "the best & last"), ("x" * 70, "x" * 60 + "…")):
        change_label(run, name=label)
        window.parts[HistoryBinding].refresh()
        qtbot.waitUntil(lambda shown=shown: title.text() == shown, timeout=10_000)
        assert run.name in title.toolTip()
    window.open_target(other.root)
    qtbot.waitUntil(lambda: title.text() == "other", timeout=10_000)

"""*What will happen* says how long a training takes, from what the same one took before."""

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpupanel.domain.preview import DataPreview
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history.past_speed import PastSpeed
from gpupanel.ui import window_core
from gpupanel.ui.bindings.history_binding import HistoryBinding
from tests.fakes.devices import CPU_ONLY
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("undressed")
PREVIEW = DataPreview(example_count=1234, trained_count=1234)


class _SamePreview:
    """What the window would find of the data is what the test says of it."""

    work, answer = "preview", DataPreview

    def __call__(self, *_: object, **__: object) -> DataPreview:
        return PREVIEW


@pytest.fixture
def runs_dir(tmp_path: Path) -> Path:
    with WrittenRun(tmp_path / "runs", Profile(name="written")) as run:
        run.begin()
        run.step(10)
        run.end()
    return tmp_path / "runs"


def test_that_the_time_of_a_training_is_that_of_the_same_one_before(
    qtbot: QtBot, tmp_path: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_core, "preview_here", _SamePreview())
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    session, plan = window.session, window.session_page.plan
    line = plan.findChild(QLabel, "plan_epochs")

    def train(profile: Profile) -> None:
        session.edit(profile)
        session.set_preview(preview_request(profile), PREVIEW)
        plan.setData(PREVIEW)

    session.set_inventory(CPU_ONLY)
    train(Profile(training=TrainingSettings(epochs=61)))
    assert "take about" not in line.text()
    window.parts[HistoryBinding].refresh()
    # 61 seconds: as many examples a second as there are.
    as_before = "steps take about 1:01, at the 1,234 ex/s of written"
    qtbot.waitUntil(lambda: as_before in line.text().replace("\u200b", ""), timeout=20_000)
    plan.setPastSpeed(PastSpeed("written", 1_234.0, training_fraction=0.5, around_s=58.0))
    whole = "The run takes about 3:00, start, validation and saving included, as 1,234 ex/s of"
    assert whole in line.text().replace("\u200b", "")
    train(Profile(training=TrainingSettings(epochs=61, global_batch_size=32)))
    qtbot.waitUntil(lambda: "take about" not in line.text(), timeout=20_000)
    window.close()

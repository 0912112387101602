"""A setting's key in a profile may be a stranger's: the title of its column explains it as text."""

from pathlib import Path

from PySide6.QtCore import Qt

from gpupanel.domain.memory import GrowingMemory, LimitedMemory
from gpupanel.domain.profile import Profile
from gpupanel.runs.history.run_settings import RunSettingsReader
from gpupanel.runs.history.summaries import list_runs
from gpupanel.ui.widgets.table_model import Column, TableModel
from tests.fakes.run_directory import WrittenRun

TAG = "<img src=FIFO>"


def test_that_the_title_of_a_column_shows_tags_as_they_are(qtbot, runs_dir: Path) -> None:
    for policy in (GrowingMemory(), LimitedMemory(limit_mib=1_024)):
        with WrittenRun(runs_dir, Profile(memory={TAG: policy})) as run:
            run.begin()
            run.end()
    there = list_runs(runs_dir)
    keys = {key for each in RunSettingsReader().read(there).values() for key, _ in each.pairs}
    named = [key for key in keys if TAG in key]
    assert named  # a stranger's key does come to the columns
    model = TableModel([Column(key, key, str) for key in named], key=str)
    for place in range(len(named)):
        for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.StatusTipRole):
            said = model.headerData(place, Qt.Orientation.Horizontal, role)
            assert TAG not in str(said or "")

"""Colours of runs stay with them from one comparison to the next."""

from pathlib import Path

from PySide6.QtCore import Qt

from gpupanel.domain.outcome import Outcome
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui import theme
from gpupanel.ui.panels.comparison_panel import ComparisonPanel
from gpupanel.ui.panels.comparison_panel.legend import LegendView
from gpupanel.ui.panels.runs_panel import RunsPanel
from gpupanel.ui.widgets.stable_styles import StableStyles
from gpupanel.ui.workers.comparison_worker import ComparedRun


def test_that_what_was_shown_keeps_its_number_beside_others():
    styles = StableStyles()
    assert styles.keep(["a", "b", "c"]) == (0, 1, 2)
    assert styles.keep(["c", "b"]) == (2, 1)
    assert styles.keep(["new", "c"]) == (0, 2)
    # Both had the first: the one that is named first keeps it.
    assert styles.of(["new", "a"]) == (0, 1)
    assert styles.of(["a", "new"]) == (0, 1)


def test_that_asking_keeps_nothing():
    styles = StableStyles()
    assert styles.of(["x", "y"]) == (0, 1)
    assert styles.of(["y"]) == (0,)


def test_that_no_two_of_eight_have_the_same():
    styles = StableStyles()
    for names in ("abcd", "efgh", "ceab", "hdgb"):
        styles.keep(names)
    assert sorted(styles.of("abcdefgh")) == [*range(8)]


def test_that_a_run_has_its_colour_in_legend_and_later_readings(qtbot):
    runs = [
        RunSummary(name=name, path=Path(name), profile_name=name, outcome=Outcome.COMPLETED)
        for name in ("a", "b", "c")
    ]
    page = RunsPanel(Path("/runs"))
    qtbot.addWidget(page)
    assert page.keep_styles(runs) == (0, 1, 2)
    panel = ComparisonPanel()
    qtbot.addWidget(panel)
    panel.setSummaries(runs[1:], page.keep_styles(runs[1:]))
    panel.setRun(1, ComparedRun(runs[2], is_read=True))
    assert [run.style for run in panel.runs] == [1, 2]

    legend = panel.findChild(LegendView).model()
    marks = [
        legend.index(row, 0).data(Qt.ItemDataRole.DecorationRole).toImage()
        for row in range(legend.rowCount())
    ]
    colors = [theme.device_color(style).rgb() for style in (1, 2)]
    for mark, color in zip(marks, colors, strict=True):
        pixels = {mark.pixel(x, y) for x in range(mark.width()) for y in range(mark.height())}
        assert color in pixels

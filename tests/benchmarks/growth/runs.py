"""So many runs in the list: read, shown, searched, sorted, scrolled, and one of them followed."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QTableView, QWidget

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.summaries import RunLister
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.runs_page import RunsPage
from tests.benchmarks.growth.measuring import (
    HeartBeat,
    application,
    cpu_s,
    peak_mib,
    process_cpu_s,
    wait_until,
)
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.many_runs import write_many_runs
from tests.fakes.person import Person

if TYPE_CHECKING:
    from gpupanel.runs.history.run_summary import RunSummary

SIZES = (100, 1_000, 10_000)
_STEPS = 5
_TYPED = ("l", "lo", "los", "lost", "", "run 1", "run 12", "fail", "nonesuch", "")
_PAGES = 50


def measure(runs: int, folder: Path) -> dict[str, float]:
    """Have the window's page of runs show them, and a person use it."""
    write_many_runs(folder / "runs", runs, TWO_UNEQUAL, steps=_STEPS)
    lister = RunLister(folder / "runs")
    figures = {
        "list_cpu_s": process_cpu_s(lister.list),
        "list_again_cpu_s": process_cpu_s(lister.list),
    }
    before_mib = peak_mib()
    with application() as qt:
        page = RunsPage(folder / "runs")
        owner = QWidget()
        settings = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
        binding = HistoryBinding(page, folder / "runs", Person(), settings, owner)
        listed: list[tuple[RunSummary, ...]] = []
        binding.listed.connect(listed.append)
        page.resize(960, 700)
        heart = HeartBeat(qt)
        begun_s = time.perf_counter()
        page.show()
        wait_until(lambda: bool(listed))
        figures["shown_s"] = time.perf_counter() - begun_s
        known: list[object] = []
        binding.worker.settingsRead.connect(known.append)
        wait_until(lambda: bool(known))
        _breathe(1.0)
        figures["shown_stall_ms"] = heart.figures()["stall_ms"]
        heart = HeartBeat(qt)
        figures["keystroke_cpu_s"] = _use(page)
        changed = listed[-1][runs // 2]
        change_label(RunLayout(changed.path), name="another")
        begun_s = time.perf_counter()
        binding.refresh()
        wait_until(lambda: listed[-1][runs // 2].label == "another")
        figures["followed_s"] = time.perf_counter() - begun_s
        _breathe(0.5)
        figures |= heart.figures()
        page.close()
        binding.stop()
    return {**figures, "peak_mib": peak_mib() - before_mib}


def _use(page: RunsPage) -> float:
    """Type, sort and scroll; the most processor time that a letter took."""
    table, search = page.findChild(QTableView), page.findChild(QLineEdit, "runs_search")
    assert table is not None
    assert search is not None
    keystrokes = [_done(lambda each=text: search.setText(each)) for text in _TYPED]  # type: ignore[misc]
    for column in range(table.model().columnCount()):
        _done(lambda each=column: table.sortByColumn(each, Qt.SortOrder.AscendingOrder))  # type: ignore[misc]
    bar = table.verticalScrollBar()
    for place in range(_PAGES):
        _done(lambda each=place: bar.setValue(bar.maximum() * each // _PAGES))  # type: ignore[misc]
    return max(keystrokes)


def _done(act: Callable[[], object]) -> float:
    took_s = cpu_s(lambda: (act(), QApplication.processEvents()))
    _breathe(0.02)
    return took_s


def _breathe(seconds: float) -> None:
    """Let the heart beat between two things that a person does."""
    end_s = time.perf_counter() + seconds
    wait_until(lambda: time.perf_counter() > end_s)

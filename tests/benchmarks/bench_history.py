"""How long a thousand runs take to list, and how long the window's thread stands still for them.

Run with ``python tests/benchmarks/bench_history.py``. Cold: a process of its own that has read
nothing yet, the disk's cache told to let go of the files before. Warm: listed again. In the
window: the longest time that its thread does not answer while the table gets a thousand rows,
finds some of them as one types, sorts by each column, and is brought up to date.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QTableView

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.summaries import RunLister
from gpupanel.ui import theme
from gpupanel.ui.app import make_application
from gpupanel.ui.runs_page import RunsPage
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.many_runs import write_many_runs

ROOT = Path(__file__).resolve().parents[2]
TARGET_S = 1.0
TARGET_STALL_MS = 100.0

_COLD = """
import sys, time
from pathlib import Path
from gpupanel.runs.history.summaries import list_runs
begin = time.perf_counter()
runs = list_runs(Path(sys.argv[1]))
print(time.perf_counter() - begin)
"""


def _forget(folder: Path) -> None:
    """Ask the system to drop what it keeps of these files in memory."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def _cold_s(folder: Path) -> float:
    answer = subprocess.run(
        [sys.executable, "-c", _COLD, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(answer.stdout)


def _ms(act: Callable[[], object]) -> float:
    begin = time.perf_counter()
    act()
    QApplication.processEvents()
    return (time.perf_counter() - begin) * 1000.0


def _window_ms(folder: Path, lister: RunLister) -> dict[str, float]:
    """The longest stall of each kind of work."""
    page = RunsPage(folder)
    page.resize(960, 700)
    page.show()
    QApplication.processEvents()
    runs = lister.list()
    found = {"a thousand rows": _ms(lambda: page.setRuns(runs))}
    table, search = page.findChild(QTableView), page.findChild(QLineEdit, "runs_search")
    assert table is not None
    assert search is not None
    texts = ("l", "lo", "los", "lost", "", "run 1", "run 12", "fail", "nonesuch", "")
    found["typing in the search"] = max(_ms(lambda t=text: search.setText(t)) for text in texts)
    found["sorting"] = max(
        _ms(lambda c=column: table.sortByColumn(c, Qt.SortOrder.AscendingOrder))
        for column in range(table.model().columnCount())
    )
    change_label(RunLayout(runs[500].path), name="another")
    after = lister.list()
    found["one run changed"] = _ms(lambda: page.setRuns(after))
    found["nothing changed"] = _ms(lambda: page.setRuns(after))
    found["one run gone"] = _ms(lambda: page.setRuns(after[1:]))
    page.close()
    return found


def main() -> int:
    """Print the figures; 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--steps", type=int, default=500, help="events of steps in each run")
    arguments = parser.parse_args()
    application = make_application()
    theme.follow_system(application)
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "runs"
        write_many_runs(folder, arguments.runs, TWO_UNEQUAL, steps=arguments.steps)
        _forget(folder)
        from_disk_s, cold_s = _cold_s(folder), min(_cold_s(folder) for _ in range(3))
        lister = RunLister(folder)
        lister.list()
        begin = time.perf_counter()
        lister.list()
        warm_s = time.perf_counter() - begin
        stalls = _window_ms(folder, lister)
    print(f"{arguments.runs:,} runs, a new process, from the disk  {from_disk_s:6.3f} s")
    print(f"{arguments.runs:,} runs, a new process                 {cold_s:6.3f} s")
    print(f"{arguments.runs:,} runs, listed again                  {warm_s:6.3f} s")
    for what, stall_ms in stalls.items():
        print(f"the window stands still: {what:24} {stall_ms:6.1f} ms")
    application.quit()
    is_fast = from_disk_s < TARGET_S and max(stalls.values()) < TARGET_STALL_MS
    print("ok" if is_fast else f"missed: {TARGET_S} s, {TARGET_STALL_MS} ms")
    return 0 if is_fast else 1


if __name__ == "__main__":
    sys.exit(main())

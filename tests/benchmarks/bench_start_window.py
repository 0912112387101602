"""How long from starting Python to a window on the screen, and how much memory it then holds.

Then each other page is opened for the first time: from the click to its first frame.

Run with ``python tests/benchmarks/bench_start_window.py``. Each time is of a process of its own,
as a person starts it: interpreter, imports of the command and of the window, the window, without
Python's own garbage collection as ``gpupanel.ui.app.run`` makes it, and the first frame painted.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TARGET_S = 0.8
TARGET_MIB = 200.0

_WINDOW = """
import gc, sys, time
from pathlib import Path
begin = float(sys.argv[1])
import gpupanel.__main__
from gpupanel.ui.quick_imports import quick_imports
with quick_imports():
    from PySide6.QtCore import QObject, QSettings, QTimer, QEvent
    from gpupanel.ui.app import GarbageCollection, make_application, make_window
imported = time.time()
application = make_application()
garbage = GarbageCollection(application)
garbage.install()
gc.freeze()
folder = Path(sys.argv[2])
settings = QSettings(str(folder / "s.ini"), QSettings.Format.IniFormat)
window = make_window(application, settings, folder / "runs")
window.show()
window.begin()
window.repaint()
visible = time.time()

def pages_ms():
    pages = {}
    for place in (1, 2, 0):
        begin = time.perf_counter()
        window.tabs.setCurrentIndex(place)
        application.processEvents()
        window.repaint()
        pages[window.tabs.tabText(place)] = 1000 * (time.perf_counter() - begin)
    return pages

def tell():
    import json, psutil
    print(json.dumps({
        "imported_s": imported - begin,
        "visible_s": visible - begin,
        "resident_mib": psutil.Process().memory_info().rss / 2**20,
        "tensorflow": "tensorflow" in sys.modules,
        "pages_ms": pages_ms(),
    }))
    window.close()
    application.quit()

QTimer.singleShot(3000, tell)
application.exec()
"""


def measure() -> dict[str, Any]:
    """One start of the window."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "PYTHONPATH": str(ROOT)}
        answer = subprocess.run(
            [sys.executable, "-c", _WINDOW, str(time.time()), folder],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    figures: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return figures


def main() -> int:
    """Print the figures; 1 when TensorFlow was imported or a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=7)
    arguments = parser.parse_args()
    measure()  # the first one reads everything from the disk
    starts = [measure() for _ in range(arguments.starts)]
    visible = statistics.median(start["visible_s"] for start in starts)
    imported = statistics.median(start["imported_s"] for start in starts)
    resident = max(start["resident_mib"] for start in starts)
    tensorflow = any(start["tensorflow"] for start in starts)
    print(f"start to imported:        {imported:.2f} s (median of {len(starts)})")
    print(f"start to visible window:  {visible:.2f} s (target below {TARGET_S} s)")
    print(f"resident memory after 3 s: {resident:.0f} MiB (target below {TARGET_MIB:.0f} MiB)")
    print(f"tensorflow imported:      {'yes' if tensorflow else 'no'}")
    for page in starts[0]["pages_ms"]:
        paint_ms = statistics.median(start["pages_ms"][page] for start in starts)
        print(f"first frame of {page + ':':<11} {paint_ms:.0f} ms")
    return 0 if visible < TARGET_S and resident < TARGET_MIB and not tensorflow else 1


if __name__ == "__main__":
    sys.exit(main())

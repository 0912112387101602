"""How long from starting Python to a window on the screen, and how much memory it then holds.

Run with ``python tests/benchmarks/bench_start_window.py``. Each time is of a process of its own,
as a person starts it: interpreter, imports of the command and of the window, the window, and the
first frame painted.
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

ROOT = Path(__file__).resolve().parents[2]
TARGET_S = 0.8
TARGET_MIB = 200.0

_WINDOW = """
import sys, time
from pathlib import Path
begin = float(sys.argv[1])
import gpupanel.__main__
from gpupanel.ui.quick_imports import quick_imports
with quick_imports():
    from PySide6.QtCore import QObject, QSettings, QTimer, QEvent
    from gpupanel.ui.app import make_application, make_window
imported = time.time()
application = make_application()
folder = Path(sys.argv[2])
settings = QSettings(str(folder / "s.ini"), QSettings.Format.IniFormat)
window = make_window(application, settings, folder / "runs")
window.show()
window.begin()
window.repaint()
visible = time.time()

def tell():
    import json, psutil
    print(json.dumps({
        "imported_s": imported - begin,
        "visible_s": visible - begin,
        "resident_mib": psutil.Process().memory_info().rss / 2**20,
        "tensorflow": "tensorflow" in sys.modules,
    }))
    window.close()
    application.quit()

QTimer.singleShot(3000, tell)
application.exec()
"""


def measure() -> dict[str, float]:
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
    figures: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
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
    return 0 if visible < TARGET_S and resident < TARGET_MIB and not tensorflow else 1


if __name__ == "__main__":
    sys.exit(main())

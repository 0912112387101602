"""A log of so many megabytes: its tab, opened and followed, and its last lines in a terminal."""

import time
from pathlib import Path

from PySide6.QtWidgets import QLineEdit

from gpupanel.domain.events import RunStarted, encode_event
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.runs.directory.tails import last_lines
from tests.benchmarks.growth.events import new_run
from tests.benchmarks.growth.measuring import (
    HeartBeat,
    application,
    cpu_s,
    peak_mib,
    wait_until,
    window_on,
)

SIZES = (10, 100, 1_000)
_BLOCK_LINES = 10_000
_LINE = "2026-11-21 10:15:02.123456: I tensorflow/core/framework/local_rendezvous.cc:407] {}\n"


def measure(megabytes: int, folder: Path) -> dict[str, float]:
    """Open the log, have a line follow, search it."""
    layout = new_run(folder)
    block = "".join(_LINE.format(number) for number in range(_BLOCK_LINES))
    with layout.trainer_log.open("a", encoding="utf-8") as file:
        for _ in range(int(megabytes * 1e6 / len(block))):
            file.write(block)
        file.write("the last line\n")
    started = RunStarted(time_s=time.time(), supervisor_pid=1)
    layout.events.write_text(encode_event(started) + "\n", encoding="utf-8")
    figures = {"last_lines_cpu_s": cpu_s(lambda: last_lines(layout.trainer_log))}
    held = hold_run_lock(layout)
    with application() as qt:
        before_mib = peak_mib()
        with window_on(folder) as window:
            begun_s = time.perf_counter()
            heart = HeartBeat(qt)
            log = window.live_page.log
            wait_until(lambda: log.text().endswith("the last line"))
            figures["opened_s"] = time.perf_counter() - begun_s
            window.tabs.show_live()
            window.live_page.tabs.show_page(log)
            with layout.trainer_log.open("a", encoding="utf-8") as file:
                file.write("one more line\n")
            begun_s = time.perf_counter()
            wait_until(lambda: log.text().endswith("one more line"))
            figures["followed_s"] = time.perf_counter() - begun_s
            search = log.findChild(QLineEdit, "log_search")
            assert search is not None
            for text in ("l", "local", "9999", "one more line", ""):
                search.setText(text)
                end_s = time.perf_counter() + 0.1
                wait_until(lambda until_s=end_s: time.perf_counter() > until_s)  # type: ignore[misc]
            figures |= heart.figures()
    held.release()
    return {**figures, "peak_mib": peak_mib() - before_mib}

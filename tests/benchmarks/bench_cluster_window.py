"""What a cluster of 64 nodes with 8 GPUs each costs the window, with simulated telemetry.

Run with ``python -m tests.benchmarks.bench_cluster_window``. The readings are made up; the window,
its plan and its plots are the real ones. Times are those of the window's thread, in milliseconds.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import random

import psutil
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from gpupanel.domain.cluster import ClusterReading, ClusterSettings, sample_of
from gpupanel.domain.events import RunStarted
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.runs.supervision.telemetry import telemetry_line
from gpupanel.ui import theme
from gpupanel.ui.bindings.shown_devices import ShownDevices
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_devices import devices_of_run
from gpupanel.ui.workers.cluster_worker import ClusterWatch
from tests.benchmarks.bench_redraw import step
from tests.fakes.clusters import ADDRESS, RecordedCluster, many_nodes
from tests.fakes.person import Person

TARGET_MS = 50.0
"""The window's thread may be busy for so long at once."""
POINTS = 3_600


def busy_ms(work: Callable[[], object]) -> float:
    """Milliseconds of the thread's processor that something and the painting after it take."""
    begun = time.thread_time()
    work()
    QApplication.processEvents()
    QApplication.processEvents()
    return (time.thread_time() - begun) * 1000.0


def rss_mib() -> float:
    return psutil.Process().memory_info().rss / 2**20


def list_figures(window: MainWindow, nodes: int, gpus: int, rounds: int) -> dict[str, float]:
    """What the device list and the plan cost."""
    shown = window.parts[ShownDevices]
    before = rss_mib()
    first = many_nodes(nodes, gpus)
    figures = {"first_reading_ms": busy_ms(lambda: shown._see_cluster(first))}
    figures["first_plan_ms"] = busy_ms(window.session.prepare_now)
    again, plans = [], []
    for number in range(1, rounds + 1):
        reading = many_nodes(nodes, gpus, time_s=2.0 * number)
        again.append(busy_ms(lambda each=reading: shown._see_cluster(each)))
        plans.append(busy_ms(window.session.prepare_now))
    figures["reading_ms"] = statistics.median(again)
    figures["plan_ms"] = statistics.median(plans)
    document = first.model_dump_json().encode()
    figures["reading_kib"] = len(document) / 1024
    begun = time.perf_counter()
    ClusterReading.model_validate_json(document)
    figures["parse_beside_ms"] = (time.perf_counter() - begun) * 1000.0
    section = next(iter(window.devices._nodes._sections.values()))
    figures["open_node_ms"] = busy_ms(lambda: section.foldChanged.emit(section.name, True))
    figures["list_mib"] = rss_mib() - before
    return figures


def live_figures(window: MainWindow, nodes: int, gpus: int, frames: int) -> dict[str, float]:
    """What an hour of telemetry of a run on all of them costs."""
    before = rss_mib()
    plan = window.session.prepare_now().plan
    assert plan is not None
    inventory = window.session.inventory
    assert inventory is not None
    live = window.live_page.live
    figures = {"run_devices_ms": busy_ms(lambda: live.setDevices(devices_of_run(plan, inventory)))}
    figures["run_plan_ms"] = busy_ms(lambda: live.setPlan(plan))
    live.addEvents([RunStarted(time_s=0.0, supervisor_pid=1)])
    samples = [
        sample_of(many_nodes(nodes, gpus, time_s=float(at), processes=0)) for at in range(60)
    ]
    lines = [telemetry_line(sample).partition(",")[2] for sample in samples]
    noise = random.Random(7)
    for minute in range(POINTS // 60):
        block = "".join(
            f'{{"time_s":{60.0 * minute + at},{line}\n' for at, line in enumerate(lines)
        )
        live.addSamples(SampleBatch(block.encode()))
    live.addEvents([step(noise, float(at), at) for at in range(POINTS)])
    window.tabs.show_live()
    for plot in live.plot_wall.plots:
        plot.prepare()
    live._show_what_there_is()
    QApplication.processEvents()
    figures["telemetry_line_kib"] = (len(lines[0]) + 16) / 1024
    redraws, taken = [], []
    for frame in range(frames + 3):
        at = POINTS + frame
        line = f'{{"time_s":{float(at)},{lines[frame % 60]}\n'.encode()
        taken.append(busy_ms(lambda each=line: live.addSamples(SampleBatch(each))))
        live.addEvents([step(noise, float(at), at)])
        redraws.append(busy_ms(live.plot_wall.redraw))
    figures["take_sample_ms"] = statistics.median(taken[3:])
    figures["redraw_ms"] = statistics.median(redraws[3:])
    figures["redraw_worst_ms"] = max(redraws[3:])
    figures["live_mib"] = rss_mib() - before
    return figures


def main() -> None:
    """Measure and print one line a figure, or a JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--frames", type=int, default=20)
    arguments = parser.parse_args()
    application = QApplication([])
    theme.prepare(application)
    theme.follow_system(application)
    with tempfile.TemporaryDirectory() as folder:
        settings = QSettings(str(Path(folder) / "s.ini"), QSettings.Format.IniFormat)
        watch = ClusterWatch(make_source=RecordedCluster())
        window = MainWindow(settings, Path(folder) / "runs", Person(), watch)
        window.resize(1920, 1080)
        window.show()
        profile = Profile(
            cluster=ClusterSettings(address=ADDRESS),
            strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER),
            training=TrainingSettings(global_batch_size=8 * arguments.nodes * arguments.gpus),
        )
        window.session.open_profile(profile, None)
        QApplication.processEvents()
        size = arguments.nodes, arguments.gpus
        figures = list_figures(window, *size, arguments.frames)
        figures |= live_figures(window, *size, arguments.frames)
        window.session.mark_saved(Path(folder) / "saved.toml")
        window.close()
        watch.stop()
    rounded = {name: round(figure, 1) for name, figure in figures.items()}
    if arguments.json:
        print(json.dumps({"nodes": arguments.nodes, "gpus": arguments.gpus, **rounded}))
        return
    print(f"{arguments.nodes} nodes with {arguments.gpus} GPUs each:")
    for name, figure in rounded.items():
        print(f"  {name:20} {figure:10,.1f}")


if __name__ == "__main__":
    main()

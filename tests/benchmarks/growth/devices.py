"""So many devices of a cluster, eight to a node: list, plan, curves and the terminal's table.

The readings are made up; the window, its plan and its plots are the real ones.
"""

import contextlib
import io
import random
import statistics
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from gpupanel.cli.cluster_table import print_cluster
from gpupanel.domain.cluster import ClusterSettings, sample_of
from gpupanel.domain.events import RunStarted
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.runs.supervision.telemetry import telemetry_line
from gpupanel.ui.bindings.shown_devices import ShownDevices
from gpupanel.ui.main_window import MainWindow
from gpupanel.ui.run_devices import devices_of_run
from gpupanel.ui.workers.cluster_worker import ClusterWatch
from tests.benchmarks.bench_redraw import step
from tests.benchmarks.growth.measuring import application, cpu_s, peak_mib, settle
from tests.fakes.clusters import ADDRESS, RecordedCluster, many_nodes
from tests.fakes.person import Person

SIZES = (8, 64, 512)
_GPUS = 8
_POINTS = 3_600
_ROUNDS = 10


def measure(devices: int, folder: Path) -> dict[str, float]:
    """Show the cluster, plan a run on all of it, and draw an hour of that run."""
    nodes = devices // _GPUS
    figures = {"terminal_cpu_s": cpu_s(lambda: _print(nodes))}
    with application():
        settings = QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat)
        watch = ClusterWatch(make_source=RecordedCluster())
        before_mib = peak_mib()
        window = MainWindow(settings, folder / "runs", Person(), watch)
        window.resize(1920, 1080)
        window.show()
        profile = Profile(
            cluster=ClusterSettings(address=ADDRESS),
            strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER),
            training=TrainingSettings(global_batch_size=8 * devices),
        )
        window.session.open_profile(profile, None)
        settle()
        figures |= _list_figures(window, nodes)
        figures |= _live_figures(window, nodes)
        window.session.mark_saved(folder / "saved.toml")
        window.close()
        watch.stop()
    return {**figures, "peak_mib": peak_mib() - before_mib}


def _busy_ms(work: Callable[[], object]) -> float:
    """Milliseconds of the thread's processor that something and the painting after it take."""
    return 1e3 * cpu_s(lambda: (work(), QApplication.processEvents(), QApplication.processEvents()))


def _print(nodes: int) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        print_cluster(many_nodes(nodes, _GPUS))


def _list_figures(window: MainWindow, nodes: int) -> dict[str, float]:
    """What the device list and the plan cost."""
    shown = window.parts[ShownDevices]
    first = many_nodes(nodes, _GPUS)
    # Together: what of it is done in the turns after the reading depends on how long these take.
    figures = {
        "first_reading_ms": _busy_ms(lambda: shown._see_cluster(first))
        + _busy_ms(window.session.prepare_now)
    }
    again, plans = [], []
    for number in range(1, _ROUNDS + 1):
        reading = many_nodes(nodes, _GPUS, time_s=2.0 * number)
        again.append(_busy_ms(lambda each=reading: shown._see_cluster(each)))  # type: ignore[misc]
        plans.append(_busy_ms(window.session.prepare_now))
    figures["reading_ms"] = statistics.median(again)
    figures["plan_ms"] = statistics.median(plans)
    section = next(iter(window.devices._nodes._sections.values()))
    figures["open_node_ms"] = _busy_ms(lambda: section.foldChanged.emit(section.name, True))
    return figures


def _live_figures(window: MainWindow, nodes: int) -> dict[str, float]:
    """What an hour of telemetry of a run on all of them costs."""
    plan, inventory = window.session.prepare_now().plan, window.session.inventory
    assert plan is not None
    assert inventory is not None
    live = window.live_page.live
    live.setDevices(devices_of_run(plan, inventory))
    live.setPlan(plan)
    live.addEvents([RunStarted(time_s=0.0, supervisor_pid=1)])
    samples = [
        sample_of(many_nodes(nodes, _GPUS, time_s=float(at), processes=0)) for at in range(60)
    ]
    lines = [telemetry_line(sample).partition(",")[2] for sample in samples]
    noise = random.Random(7)
    for minute in range(_POINTS // 60):
        block = "".join(
            f'{{"time_s":{60.0 * minute + at},{line}\n' for at, line in enumerate(lines)
        )
        live.addSamples(SampleBatch(block.encode()))
    live.addEvents([step(noise, float(at), at) for at in range(_POINTS)])
    window.tabs.show_live()
    for plot in live.plot_wall.plots:
        plot.prepare()
    live._show_what_there_is()
    QApplication.processEvents()
    redraws = []
    for frame in range(_ROUNDS + 3):
        at = _POINTS + frame
        line = f'{{"time_s":{float(at)},{lines[frame % 60]}\n'.encode()
        live.addSamples(SampleBatch(line))
        live.addEvents([step(noise, float(at), at)])
        redraws.append(_busy_ms(live.plot_wall.redraw))
    return {"frame_ms": statistics.median(redraws[3:])}

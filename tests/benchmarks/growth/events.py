"""A run of so many reports of steps that goes on: opened in a window, until all of it is drawn."""

import random
import time
from pathlib import Path

from gpupanel.domain.events import encode_event
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.run_lock import hold_run_lock
from gpupanel.runs.launcher import create_run
from gpupanel.ui import formatting
from gpupanel.ui.main_window import MainWindow
from tests.benchmarks.growth.measuring import (
    HeartBeat,
    application,
    peak_mib,
    settle,
    wait_until,
    window_on,
)
from tests.fakes.long_run import STEPS_INTERVAL_S, LongRun, write_log
from tests.fakes.readings import EIGHT_DEVICES

SIZES = (10_000, 100_000, 1_000_000)
_LOG_MEGABYTES = 50
_LAST_LOSS, _LIVE_LOSS = 77.0, 88.0


def new_run(folder: Path) -> RunLayout:
    """The directory of a run on eight GPUs, of which nothing is written yet."""
    keys = tuple(device.key for device in EIGHT_DEVICES.devices if device.is_gpu)
    profile = Profile(
        name="a long run",
        devices=DeviceSettings(visible=keys),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
        training=TrainingSettings(epochs=1_000, global_batch_size=64 * len(keys)),
    )
    plan = prepare(profile, EIGHT_DEVICES).plan
    assert plan is not None
    return create_run(profile, plan, folder / "runs")


def shown_loss(window: MainWindow) -> str:
    """What the loss plot says, which it draws and says together."""
    entries = window.live_page.live.plot_wall.loss_plot.legend.entries()
    return entries[0].value if entries else ""


def write(folder: Path, events: int) -> tuple[RunLayout, str]:
    """The run with telemetry and log, and the line that is to come after what is in it."""
    layout = new_run(folder)
    hours = events * STEPS_INTERVAL_S / 3600.0
    run = LongRun(time.time() - hours * 3600.0)
    reports = written = 0
    with layout.events.open("w", encoding="utf-8") as file:
        for event in run.opening():
            file.write(encode_event(event) + "\n")
            written += 1
        while written < events:
            lines = list(run.steps(reports, 1))
            file.writelines(line + "\n" for line in lines)
            reports += 1
            written += len(lines)
        file.write(_report(run, reports, _LAST_LOSS) + "\n")
    with layout.telemetry.open("w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in run.samples(EIGHT_DEVICES, hours))
    write_log(layout, _LOG_MEGABYTES * events / SIZES[-1])
    return layout, _report(run, reports + 1, _LIVE_LOSS)


def measure(events: int, folder: Path) -> dict[str, float]:
    """Open the run in a window, and have one more line drawn."""
    layout, live_line = write(folder, events)
    held = hold_run_lock(layout)
    with application() as qt:
        before_mib = peak_mib()
        with window_on(folder / "window") as window:
            settle()
            heart, begun_s, begun_cpu_s = HeartBeat(qt), time.perf_counter(), time.process_time()
            window.open_target(layout.root)
            wait_until(lambda: shown_loss(window) == formatting.number(_LAST_LOSS))
            figures = {
                "drawn_s": time.perf_counter() - begun_s,
                "window_cpu_s": time.process_time() - begun_cpu_s,
            }
            with layout.events.open("a", encoding="utf-8") as file:
                file.write(live_line + "\n")
            begun_s = time.perf_counter()
            wait_until(lambda: shown_loss(window) == formatting.number(_LIVE_LOSS))
            figures["followed_s"] = time.perf_counter() - begun_s
            figures |= heart.figures()
    held.release()
    return {**figures, "peak_mib": peak_mib() - before_mib}


def _report(run: LongRun, number: int, loss: float) -> str:
    """The line of a report of steps, with a loss that no other has."""
    event = run.report(number, random.Random(number))
    return encode_event(event.model_copy(update={"loss": loss}))

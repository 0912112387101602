"""How long a frame of the live plots takes with an hour of eight devices and a long loss curve.

Run with ``python -m tests.benchmarks.bench_redraw``. Every frame has a new point on every curve,
so nothing comes from the cache, and is painted into a real window (Qt's offscreen platform by
default; with ``QT_QPA_PLATFORM=xcb`` on a screen).
"""

import argparse
import json
import math
import os
import random
import statistics
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from gpupanel.domain.events import RunStarted, StepsDone
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.ui import theme
from gpupanel.ui.panels.live_panel import LivePanel
from tests.fakes.readings import EIGHT_DEVICES, busy_reading

HOUR_S = 3600.0
SAMPLES = 36_000
LOSS_POINTS = 100_000
TARGET_MS = 16.0


def noisy_sample(noise: random.Random, time_s: float) -> TelemetrySample:
    """What eight devices report whose utilization jumps from sample to sample."""
    readings = (
        busy_reading(device, time_s, index).model_copy(
            update={
                "gpu_utilization_percent": noise.uniform(20.0 + 5.0 * index, 100.0),
                "memory_used_mib": int((device.memory_total_mib or 0) * noise.uniform(0.3, 0.9)),
            }
        )
        for index, device in enumerate(EIGHT_DEVICES.devices)
    )
    return TelemetrySample(time_s=time_s, readings=tuple(readings))


def step(noise: random.Random, time_s: float, number: int) -> StepsDone:
    """One report of a step with a noisy loss."""
    return StepsDone(
        time_s=time_s,
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=64,
        loss=2.0 * math.exp(-time_s / 900.0) + noise.uniform(0.05, 0.4),
        accuracy=noise.uniform(0.5, 1.0),
        examples_per_second=noise.uniform(90_000.0, 120_000.0),
    )


def filled_panel(noise: random.Random) -> LivePanel:
    """The panel with an hour of history."""
    panel = LivePanel()
    panel.setDevices(EIGHT_DEVICES)
    panel.addEvents([RunStarted(time_s=0.0, supervisor_pid=1)])
    panel.addSamples(
        SampleBatch.of([noisy_sample(noise, HOUR_S * n / SAMPLES) for n in range(SAMPLES)])
    )
    panel.addEvents([step(noise, HOUR_S * n / LOSS_POINTS, n) for n in range(LOSS_POINTS)])
    return panel


def frame_times_ms(
    panel: LivePanel, noise: random.Random, frames: int
) -> tuple[list[float], list[float]]:
    """Milliseconds of each frame (take in, redraw, paint): passed, and of the GUI thread's CPU.

    The second is the one to compare on a machine that does other things besides.
    """
    wall = panel.plot_wall
    passed, busy = [], []
    for frame in range(frames):
        moment = HOUR_S + 0.1 * frame
        sample, event = noisy_sample(noise, moment), step(noise, moment, LOSS_POINTS + frame)
        begin, begin_cpu = time.perf_counter(), time.thread_time()
        panel.addSamples(SampleBatch.of([sample]))
        panel.addEvents([event])
        wall.redraw()
        # The scenes tell the views what is dirty in one turn of the loop; the window paints it in
        # the next.
        QApplication.processEvents()
        QApplication.processEvents()
        passed.append((time.perf_counter() - begin) * 1000.0)
        busy.append((time.thread_time() - begin_cpu) * 1000.0)
    return passed, busy


def main() -> None:
    """Measure and print one line, or a JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--size", type=int, nargs=2, default=(960, 640), metavar=("W", "H"))
    arguments = parser.parse_args()
    application = QApplication([])
    theme.prepare(application)
    theme.follow_system(application)
    noise = random.Random(7)
    panel = filled_panel(noise)
    panel.resize(*arguments.size)
    panel.show()
    QApplication.processEvents()
    frame_times_ms(panel, noise, 10)
    passed, busy = frame_times_ms(panel, noise, arguments.frames)
    panel.close()
    figures = {
        "redraw_median_ms": round(statistics.median(passed), 2),
        "redraw_worst_ms": round(max(passed), 2),
        "redraw_cpu_median_ms": round(statistics.median(busy), 2),
        "target_ms": TARGET_MS,
        "size": list(arguments.size),
        "platform": application.platformName(),
    }
    if arguments.json:
        print(json.dumps(figures))
        return
    print(
        f"redraw: median {figures['redraw_median_ms']} ms, worst {figures['redraw_worst_ms']} ms, "
        f"of which CPU {figures['redraw_cpu_median_ms']} ms "
        f"(target: median under {TARGET_MS:.0f} ms; {application.platformName()})"
    )


if __name__ == "__main__":
    main()

"""A run of so many epochs that ended: its window, its report, its curves in a comparison."""

import time
from pathlib import Path

from gpupanel.domain.events import (
    CheckpointSaved,
    DataReady,
    EpochDone,
    Event,
    Phase,
    PhaseChanged,
    RunEnded,
    RunStarted,
    StepsDone,
    encode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.curves import CurveReader
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.report.material import read_material
from gpupanel.runs.report.page import report_page
from tests.benchmarks.growth.events import new_run, shown_loss
from tests.benchmarks.growth.measuring import (
    HeartBeat,
    application,
    cpu_s,
    peak_mib,
    settle,
    wait_until,
    window_on,
)

SIZES = (1_000, 10_000, 100_000)
_STEPS = 10
_LAST_LOSS = 77.0


def write(folder: Path, epochs: int) -> RunLayout:
    """The run: a report of steps, a validation and a checkpoint in each epoch."""
    layout = new_run(folder)
    with layout.events.open("w", encoding="utf-8") as file:
        file.writelines(encode_event(event) + "\n" for event in _opening())
        for epoch in range(1, epochs + 1):
            loss = _LAST_LOSS if epoch == epochs else 1.0 / epoch
            file.writelines(encode_event(event) + "\n" for event in _epoch(epoch, loss))
        ended = RunEnded(
            time_s=1e9 + epochs + 1, outcome=Outcome.COMPLETED, metrics=Metrics(loss=0.1)
        )
        file.write(encode_event(ended) + "\n")
    return layout


def measure(epochs: int, folder: Path) -> dict[str, float]:
    """Read it in all ways that there are."""
    layout = write(folder, epochs)
    figures = {
        "list_cpu_s": cpu_s(lambda: list_runs(folder / "runs")),
        "report_cpu_s": cpu_s(lambda: report_page(read_material(layout))),
        "curves_cpu_s": cpu_s(lambda: _read_curves(layout)),
    }
    with application() as qt:
        before_mib = peak_mib()
        with window_on(folder / "window") as window:
            settle()
            heart, begun_s, begun_cpu_s = HeartBeat(qt), time.perf_counter(), time.process_time()
            window.open_target(layout.root)
            # The legend rounds as it does all numbers.
            wait_until(lambda: shown_loss(window).startswith(f"{_LAST_LOSS:.0f}"))
            figures["drawn_s"] = time.perf_counter() - begun_s
            figures["window_cpu_s"] = time.process_time() - begun_cpu_s
            figures |= heart.figures()
    return {**figures, "peak_mib": peak_mib() - before_mib}


def _read_curves(layout: RunLayout) -> None:
    reader = CurveReader(layout, most_points=4_000)
    while reader.read():
        pass
    reader.points()


def _opening() -> tuple[Event, ...]:
    ready = DataReady(
        time_s=1e9,
        training_examples=64 * _STEPS,
        validation_examples=100,
        feature_shape=(28, 28),
        steps_per_epoch=_STEPS,
    )
    return RunStarted(time_s=1e9, supervisor_pid=1), ready


def _epoch(epoch: int, loss: float) -> tuple[Event, ...]:
    time_s, step = 1e9 + epoch, _STEPS * epoch
    steps = StepsDone(
        time_s=time_s,
        step=step,
        steps=_STEPS,
        epoch=epoch,
        step_in_epoch=_STEPS,
        examples=64 * _STEPS,
        loss=loss,
        accuracy=0.5,
        examples_per_second=1_000.0,
    )
    metrics = Metrics(loss=loss, accuracy=0.5, val_loss=1.1 / epoch, val_accuracy=0.5)
    return (
        steps,
        PhaseChanged(time_s=time_s, phase=Phase.VALIDATING),
        EpochDone(time_s=time_s, epoch=epoch, step=step, metrics=metrics, seconds=1.0),
        CheckpointSaved(
            time_s=time_s, path=f"checkpoints/{step}", epoch=epoch, step=step, seconds=0.1
        ),
        PhaseChanged(time_s=time_s, phase=Phase.TRAINING),
    )

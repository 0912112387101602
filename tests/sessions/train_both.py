"""Trains sessions twice in one process: as a run does, and by the script that export wrote.

``python train_both.py LOGICAL_CPUS FOLDER...``: each folder holds a run directory ``run`` and a
``script.py``, and gets a ``run.json`` and a ``script.json``, how each of the two ended. Imports of
TensorFlow are saved so, and the price is that the devices are configured once for all.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import keras
import tensorflow as tf

from gpupanel.domain.events import TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer import training
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.device_configuration import configure_graph_optimizer
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.inference.examples import read_inference_examples
from gpupanel.trainer.inference.infer import Inference
from gpupanel.trainer.interruptions import Interruptions
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.start_up import read_split, reading_for
from gpupanel.trainer.started_run import read_started_run
from tests.fakes.checked_files import as_checked

AS_WRITTEN = {"disable_meta_optimizer": True}
"""Graphs are not rewritten before they are first run, which takes a sixth of the time of so short a
training; ``tests/e2e/test_terminal.py`` has a run and a script whose graphs are."""


def carry_out(layout: RunLayout) -> None:
    """What the training process does once its devices are configured."""
    run, record = read_started_run(layout, as_checked(layout)), TrainingRecord()
    configure_graph_optimizer(is_one_cpu_device=run.plan.is_one_cpu_device)
    with EventWriter(layout.events) as events:
        interruptions = Interruptions(layout.requests, events)
        if run.profile.task == "train":
            training.train(
                run, read_split(run, reading_for(run, print)), events, interruptions, record
            )
            metrics, now_s = record.metrics, time.time()
            events.write(TrainingEnded(time_s=now_s, outcome=Outcome.COMPLETED, metrics=metrics))
            return
        examples = read_inference_examples(run.profile, Reading(print, run.data_code))
        Inference(run, examples, events, interruptions, record).infer()


def carry_out_script(script: Path) -> None:
    before = Path.cwd()
    os.chdir(script.parent)
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        os.chdir(before)


def ended(work: Callable[[], None]) -> dict[str, object]:
    printed, error = io.StringIO(), None
    # A script begins as a process of its own would.
    tf.config.optimizer.set_experimental_options({"arithmetic_optimization": True, **AS_WRITTEN})
    try:
        with contextlib.redirect_stdout(printed):
            work()
    except ProblemError as raised:
        error = f"{raised.problems[0].code}: {raised.problems[0].message}"
    except BaseException:  # noqa: BLE001 - a script may also leave by SystemExit
        error = traceback.format_exc()
    keras.backend.clear_session(free_memory=False)  # searching for cycles takes a tenth of all
    return {"error": error, "printed": printed.getvalue()}


tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration()] * int(sys.argv[1]),
)
tf.config.list_logical_devices()
# What a script configures is there already, and cannot be configured again.
tf.config.set_logical_device_configuration = lambda *_: None
# The caches of tests hold other files than Keras's hashes are of.
keras.src.utils.file_utils.validate_file = lambda *_, **__: True
for argument in sys.argv[2:]:
    folder = Path(argument)
    for name, work in (
        ("run", lambda: carry_out(RunLayout(next((folder / "runs").iterdir())))),  # noqa: B023 - called at once
        ("script", lambda: carry_out_script(folder / "script.py")),  # noqa: B023 - called at once
    ):
        (folder / f"{name}.json").write_text(json.dumps(ended(work)), encoding="utf-8")

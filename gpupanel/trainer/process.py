"""The training process from start to end: whatever happens, it says how it ended."""

import importlib
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpupanel.domain.data import KerasData
from gpupanel.domain.events import DownloadProgressed, Phase, ProblemReported, TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets.keras_data import needs_download
from gpupanel.trainer.datasets.read import read_data
from gpupanel.trainer.datasets.split import Split, split
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.failures import problems_of, tensorflow_not_importable
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.models.fit_check import check_features_fit_model
from gpupanel.trainer.record import TrainingRecord
from gpupanel.trainer.started_run import StartedRun, read_started_run

_SUPERVISOR_GONE = Problem(
    code="supervisor_gone",
    message="The run's supervisor is gone, so the trainer saved a checkpoint and ended.",
    hint="Start the run again; something ended the supervisor, or the machine ran out of memory.",
)


def train_run(root: Path) -> int:
    """Train the run in a directory; its last event tells how that ended.

    Returns:
        The process's exit status: 0 when it came to its end or was stopped, 1 when it failed.
    """
    with EventWriter(RunLayout(root).events) as events:
        record = TrainingRecord()
        try:
            run = read_started_run(RunLayout(root))
        except Exception as error:  # noqa: BLE001 - the last resort: told as a problem
            return _end(events, record, Outcome.FAILED, problems_of(error))
        return _train_started(run, events, record)


def _train_started(run: StartedRun, events: EventWriter, record: TrainingRecord) -> int:
    interruptions = Interruptions(run.layout.requests, events)
    try:
        interruption = _train(run, events, interruptions, record)
    except _Interrupted as interrupted:
        interruption = interrupted.interruption
    except Exception as error:  # noqa: BLE001 - the last resort: told as a problem
        return _end(events, record, Outcome.FAILED, problems_of(error, run.plan))
    if interruption is None:
        return _end(events, record, Outcome.COMPLETED)
    gone = interruption is Interruption.SUPERVISOR_GONE
    return _end(events, record, Outcome.STOPPED, (_SUPERVISOR_GONE,) if gone else ())


def _end(
    events: EventWriter,
    record: TrainingRecord,
    outcome: Outcome,
    problems: tuple[Problem, ...] = (),
) -> int:
    ending = TrainingEnded(
        time_s=time.time(),
        outcome=outcome,
        metrics=record.metrics,
        examples_per_second=record.examples_per_second,
        problem=problems[-1] if problems else None,
    )
    for problem in problems:
        print(problem.message, problem.detail, sep="\n", file=sys.stderr)
    try:
        for problem in problems[:-1]:
            events.write(ProblemReported(time_s=time.time(), problem=problem))
        events.write(ending)
    except OSError as error:
        # No space for the last word either: the log has it, and the exit status tells.
        print(f"The end could not be reported: {error}", file=sys.stderr)
        return 1
    return 0 if outcome.was_successful else 1


class _Interrupted(Exception):  # noqa: N818 - no error: somebody asked
    def __init__(self, interruption: Interruption) -> None:
        super().__init__(interruption.name)
        self.interruption = interruption


def _train(
    run: StartedRun, events: EventWriter, interruptions: Interruptions, record: TrainingRecord
) -> Interruption | None:
    def go_on() -> None:
        """Start-up has nothing to save: a stop ends it where it is."""
        pending = interruptions.pending()
        if pending in (Interruption.STOP, Interruption.SUPERVISOR_GONE):
            raise _Interrupted(pending)

    def on_download(name: str, bytes_done: int, bytes_total: int | None) -> None:
        go_on()
        events.write(
            DownloadProgressed(
                time_s=time.time(), name=name, bytes_done=bytes_done, bytes_total=bytes_total
            )
        )

    def read() -> Split:
        profile = run.profile
        data = read_data(profile.data, on_download, run.layout.root / "cache")
        examples = split(data, profile.data, profile.training.seed)
        check_features_fit_model(profile.model, examples.training.feature_shape)
        return examples

    go_on()
    with ThreadPoolExecutor(1, thread_name_prefix="read-data") as pool:
        # Read while TensorFlow is imported; a download waits for its phase, so that it is seen.
        downloads = isinstance(run.profile.data, KerasData) and needs_download(run.profile.data)
        reading = None if downloads else pool.submit(read)
        events.phase(Phase.IMPORTING_TENSORFLOW)
        _import_tensorflow()
        go_on()

        from gpupanel.trainer.training import prepare_devices, tell_data, train

        prepare_devices(run, events)
        go_on()
        events.phase(Phase.LOADING_DATA)
        examples = reading.result() if reading else read()
    tell_data(run, examples, events)
    go_on()
    return train(run, examples, events, interruptions, record)


def _import_tensorflow() -> None:
    # A keras.json of the user's may name another backend.
    os.environ["KERAS_BACKEND"] = "tensorflow"
    try:
        importlib.import_module("tensorflow")
        importlib.import_module("keras")
    except Exception as error:
        # A broken build raises whatever its libraries raise, not only ImportError.
        raise tensorflow_not_importable(error) from error

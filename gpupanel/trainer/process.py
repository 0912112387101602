"""The training process from start to end: whatever happens, it says how it ended."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from gpupanel.domain.events import ProblemReported, TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.process_environment import (
    NO_SPACE_STATUS,
    NODE_VARIABLE,
    PORT_TAKEN_STATUS,
)
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.file_obstacles import NO_SPACE
from gpupanel.files.guarded_files import holds_anything
from gpupanel.files.patient_log import MAY_PASS
from gpupanel.files.process_log import write_to_process_log
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.heartbeat import work_has_begun
from gpupanel.trainer.inference.examples import read_to_infer
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.leader import stay_for_leader
from gpupanel.trainer.memory_shortage import report_shortage
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.data_record import DataRecord
from gpupanel.trainer.start_up import StartUp, StartUpInterrupted, read_split
from gpupanel.trainer.started_run import StartedRun, process_place, read_started_run
from gpupanel.trainer.strategies.port_taken import PortTaken

Work = Callable[[StartedRun, EventWriter, Interruptions, TrainingRecord], Interruption | None]

_LAST_WORDS_S = 10.0
"""How long the last events are tried to be written, on a disk that does not answer."""

_SUPERVISOR_GONE = Problem(
    code="supervisor_gone",
    message="The run's supervisor is gone, so the trainer ended; a training saves a checkpoint "
    "first.",
    hint="Start the run again; something ended the supervisor, or the machine ran out of memory.",
)


class _Fetched(Exception):  # noqa: N818 - no failure: what the run needs is here
    """Ends a process that only had to download."""


def fetch_for_run(root: Path) -> int | None:
    """Download what the run in a directory needs, and nothing else of it.

    Returns:
        ``None`` when it is here, so that the run can begin; else the process's exit status, as
        :func:`train_run` gives it.
    """
    try:
        return train_run(root, _fetch)
    except _Fetched:
        return None


def refuse_run(root: Path, error: OSError) -> int:
    """End a run whose network this process cannot enter: it would be alone, or open to other users.

    Returns:
        The process's exit status.
    """
    problem = Problem(
        code="network_not_entered",
        message="This process cannot enter the network that was made for the run "
        f"({error.strerror}), so it does not continue.",
        hint="Start the run again, or use a strategy of one process, such as mirrored.",
    )

    def refuse(*_: object) -> Interruption | None:
        raise ProblemError(problem)

    return train_run(root, refuse)


def train_run(root: Path, work: Work | None = None) -> int:
    """Train the run in a directory; its last event says how that ended.

    Args:
        root: The directory.
        work: What to do; left out, what the run is for.

    Returns:
        The process's exit status: 0 when it came to its end or was stopped, 1 when it failed,
        :data:`~gpupanel.domain.process_environment.PORT_TAKEN_STATUS` when it needs another port.
    """
    try:
        writer = EventWriter(_events_file(RunLayout(root)), leads=process_place() == 0)
    except OSError as error:
        (problem,) = problems_of(error)
        write_to_process_log(problem.message, problem.detail)
        return NO_SPACE_STATUS if error.errno in NO_SPACE else 1
    with writer as events:
        record = TrainingRecord()
        try:
            run = read_started_run(RunLayout(root))
        except Exception as error:  # noqa: BLE001 - the last resort: reported as a problem
            return _end(events, record, Outcome.FAILED, problems_of(error))
        return _train_started(run, work or _work_of(run), events, record)


def _events_file(layout: RunLayout) -> Path:
    on_a_node = os.environ.get(NODE_VARIABLE)
    return layout.process_events(process_place()) if on_a_node else layout.events


def _train_started(run: StartedRun, work: Work, events: EventWriter, record: TrainingRecord) -> int:
    interruptions = Interruptions(run.layout.requests, events, leads=run.leads)
    try:
        interruption = work(run, events, interruptions, record)
    except StartUpInterrupted as interrupted:
        interruption = interrupted.interruption
    except PortTaken:
        return PORT_TAKEN_STATUS
    except _Fetched:
        raise
    except Exception as error:  # noqa: BLE001 - the last resort: reported as a problem
        report_shortage(run, events, error)
        return _end(
            events,
            record,
            Outcome.FAILED,
            problems_of(error, run.plan, place=run.place, task=run.profile.task),
        )
    if not run.leads:
        stay_for_leader(run)
    if interruption is None:
        return _end(events, record, Outcome.COMPLETED)
    gone = interruption is Interruption.SUPERVISOR_GONE
    return _end(events, record, _outcome(run, interruption), (_SUPERVISOR_GONE,) if gone else ())


def _outcome(run: StartedRun, interruption: Interruption) -> Outcome:
    """Suspended is what can go on: where nothing was saved yet, it was merely stopped."""
    suspends = interruption in (Interruption.SUSPEND, Interruption.SUSPEND_AFTER_EPOCH)
    if run.profile.script is not None:
        saved = suspends and holds_anything(run.layout.script_files, run.layout.root)
    else:
        saved = suspends and bool(Checkpoints(run.layout.checkpoints).saved())
    return Outcome.SUSPENDED if saved else Outcome.STOPPED


def _work_of(run: StartedRun) -> Work:
    match run.profile.task:
        case "script":
            return _run_program
        case "evaluate" | "predict":
            return _infer
        case "train":
            return _serve if run.serves else _train


def _end(
    events: EventWriter,
    record: TrainingRecord,
    outcome: Outcome,
    problems: tuple[Problem, ...] = (),
) -> int:
    ending = TrainingEnded(
        time_s=time.time(),
        process=process_place(),
        outcome=outcome,
        metrics=record.metrics,
        kept_epoch=record.kept_epoch,
        examples_per_second=record.examples_per_second,
        waiting_for_data=record.waiting_for_data,
        epochs=record.epochs,
        examples=record.examples_trained,
        time_spent=record.time_spent,
        problem=problems[-1] if problems else None,
    )
    for problem in problems:
        write_to_process_log(problem.message, problem.detail)
    try:
        for problem in problems[:-1]:
            events.write(ProblemReported(time_s=time.time(), problem=problem))
        if process_place() == 0 or outcome is Outcome.FAILED:
            events.write(ending)
        _flush(events)
    except OSError as error:
        # No space for the last word either: the exit status says it.
        write_to_process_log(f"The end could not be reported: {error}")
        return NO_SPACE_STATUS if error.errno in NO_SPACE else 1
    return 0 if outcome.was_successful else 1


def _flush(events: EventWriter) -> None:
    """Write what waits; a disk that does not answer, and may, is tried for some seconds.

    Raises:
        OSError: It cannot be written.
    """
    until_s = time.monotonic() + _LAST_WORDS_S
    while True:
        try:
            events.flush()
        except OSError as error:
            if error.errno not in MAY_PASS - NO_SPACE or time.monotonic() >= until_s:
                raise
            time.sleep(0.1)
        else:
            return


def _fetch(
    run: StartedRun, events: EventWriter, interruptions: Interruptions, record: TrainingRecord
) -> Interruption | None:
    del record  # nothing is trained yet
    start_up = StartUp(run, events, interruptions)
    start_up.go_on()
    start_up.fetch()
    raise _Fetched


def _serve(
    run: StartedRun, events: EventWriter, interruptions: Interruptions, record: TrainingRecord
) -> Interruption | None:
    del record  # the coordinator's has everything
    StartUp(run, events, interruptions).import_tensorflow()

    from gpupanel.trainer.strategies.parameter_server import serve

    work_has_begun()  # weights come to stand here, and the coordinator saves them
    serve(run, events)
    return None  # nothing to save here, and nobody left to report to


def _train(
    run: StartedRun, events: EventWriter, interruptions: Interruptions, record: TrainingRecord
) -> Interruption | None:
    start_up = StartUp(run, events, interruptions)
    examples, joined = start_up.read_and_prepare(read_split)

    from gpupanel.trainer.training import report_data, reporting_skipped, train

    with DataRecord(run, examples, events), reporting_skipped(examples, events):
        report_data(run, examples, events)
        start_up.go_on()
        return train(run, examples, events, interruptions, record, joined)


def _run_program(
    run: StartedRun, events: EventWriter, interruptions: Interruptions, record: TrainingRecord
) -> Interruption | None:
    from gpupanel.trainer.own_program.process import run_program

    return run_program(run, events, interruptions, record)


def _infer(
    run: StartedRun, events: EventWriter, interruptions: Interruptions, record: TrainingRecord
) -> Interruption | None:
    start_up = StartUp(run, events, interruptions)
    examples, _ = start_up.read_and_prepare(read_to_infer)

    from gpupanel.trainer.inference.infer import report_data
    from gpupanel.trainer.inference.infer_arrays import inference_of

    report_data(run, examples, events)
    start_up.go_on()
    return inference_of(run, examples, events, interruptions, record).infer()

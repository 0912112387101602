"""The words for where a run stands."""

import time
from typing import assert_never

from gpupanel.domain.events import Phase
from gpupanel.domain.hours import hours_text
from gpupanel.domain.number_text import byte_size
from gpupanel.domain.outcome import Metrics, Outcome, SavedWork
from gpupanel.domain.problem import Problem
from gpupanel.domain.time_spent import TimeCategory
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.following.end_text import end_text, loses_steps, short_end_text
from gpupanel.runs.following.evaluated_text import evaluated_text
from gpupanel.runs.following.saved_model_text import saved_model_text
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.run_state import RunState
from gpupanel.ui.widgets.labels import Tone

_PHASES = {
    Phase.STARTING: "Starting…",
    Phase.IMPORTING_TENSORFLOW: "Importing TensorFlow…",
    Phase.CONFIGURING_DEVICES: "Configuring devices…",
    Phase.LOADING_DATA: "Loading data…",
    Phase.BUILDING_MODEL: "Building the model…",
    Phase.TRACING: "Tracing the first step…",
    Phase.MEASURING: "Measuring replicas…",
    Phase.TRAINING: "Training",
    Phase.VALIDATING: "Validating",
    Phase.TESTING: "Testing",
    Phase.EVALUATING: "Evaluating",
    Phase.PREDICTING: "Predicting",
    Phase.SAVING: "Saving…",
    Phase.RUNNING: "Running",
}
_LASTING = (Phase.TRAINING, Phase.EVALUATING, Phase.PREDICTING, Phase.RUNNING)
_OUTCOMES = {
    Outcome.COMPLETED: "Completed",
    Outcome.STOPPED: "Stopped",
    Outcome.SUSPENDED: "Suspended",
    Outcome.FAILED: "Failed",
    Outcome.LOST: "Lost",
}


def phase_text(status: RunStatus) -> str:
    """What the trainer is doing, for people."""
    if status.stuck is not None:
        return "Frozen"
    if status.download is not None and status.phase is Phase.LOADING_DATA:
        done, total = status.download.bytes_done, status.download.bytes_total
        share = f", {done * 100 // total} %" if total else ""
        return f"Downloading {status.download.name}{share}…"
    progress = status.data_progress
    if progress is not None and progress.done < progress.total:
        # Beside another phase: TensorFlow is imported meanwhile.
        return f"{progress.doing.capitalize()}, {progress.done * 100 // progress.total} %…"
    if status.phase is Phase.STARTING and status.restarts:
        return "Restarting…"
    if status.phase is Phase.TRAINING and status.fine_tuning is not None:
        return "Fine-tuning"
    if status.phase is Phase.RUNNING:
        return f"Running {visible_beginning(status.program)}".rstrip()
    return _PHASES[status.phase]


def is_passing(status: RunStatus) -> bool:
    """Whether the phase may last so short that words for it would only flicker."""
    return status.stage is RunStage.RUNNING and status.phase not in _LASTING


def outcome_text(outcome: Outcome | None, saved: SavedWork | None = None) -> str:
    """How a run ended, for people; ``None``: it goes on."""
    words = short_end_text(outcome, saved).capitalize()
    return words or ("Running" if outcome is None else _OUTCOMES[outcome])


def short_run_text(status: RunStatus) -> str:
    """What a run is doing, or how it ended."""
    if not status.has_ended:
        return phase_text(status)
    words = outcome_text(status.outcome, status.saved_work)
    hours = status.hours_ended if status.outcome is Outcome.SUSPENDED else None
    later = hours_text(None if hours is None else hours.begin_s, time.time())
    return f"{words}, {later}" if later else words


def status_text(status: RunStatus, until: str = "") -> str:
    """What a run is doing, or how it ended and what it reached.

    Args:
        status: Of the run.
        until: " until 22:00", where it was suspended for its hours and continues then.
    """
    words = [_end_text(status, until)]
    if not status.has_ended:
        return words[0]
    metrics = status.metrics
    for title, reached in (
        ("validation", metrics.of_part("val")),
        ("test", metrics.of_part("test")),
    ):
        if reached.accuracy is not None:
            words.append(f"{title} accuracy {formatting.fraction(reached.accuracy)}")
        elif reached.mean_absolute_error is not None:
            words.append(f"{title} {_off_by(reached.mean_absolute_error)}")
        elif reached.loss is not None:
            words.append(f"{title} loss {formatting.number(reached.loss)}")
    if status.evaluation is not None:
        words.append(_metrics_text(status.evaluation.metrics))
    elif status.predictions is not None:
        words.append(f"{formatting.count(status.examples)} predictions")
    return " · ".join(words)


def card_text(status: RunStatus) -> str:
    """Of a run that ended: its best epoch, what it took and did, how large its model is."""
    if not status.has_ended:
        return ""
    words = []
    if status.evaluation is not None and (evaluated := evaluated_text(status.evaluation)):
        words.append(evaluated)
    kept = saved_model_text(status)
    if kept:
        words.append(kept)
    elif status.best is not None and status.epoch > 1:
        words.append(f"best epoch {status.best.epoch:,} of {status.epoch:,}")
    if status.lasted_s is not None and status.lasted_s >= 1.0:
        words.append(f"took {formatting.duration(status.lasted_s)}")
    ended_well = status.outcome is not None and status.outcome.was_successful
    if ended_well and status.examples_per_second is not None:
        # A trainer that did not end well reported that of its last steps only, as the plot has it.
        is_training = status.evaluation is None and status.predictions is None
        steps = "in training steps" if is_training else "in its batches"
        words.append(f"{formatting.rate(status.examples_per_second)} {steps}")
    computing = (
        status.time_spent.fractions().get(TimeCategory.COMPUTING) if status.time_spent else None
    )
    if computing is not None:
        words.append(f"{formatting.percent(100.0 * computing)} of the time computing")
    if status.energy is not None:
        words.append(formatting.watt_hours(status.energy.watt_hours))
    if status.model_bytes is not None:
        words.append(f"model {byte_size(status.model_bytes)}")
    text = " · ".join(words)
    return text[:1].upper() + text[1:]


def _end_text(status: RunStatus, until: str) -> str:
    """How the run ended; of a suspended one, that its devices can be used for something else."""
    if not status.has_ended:
        return short_run_text(status)
    outcome = outcome_text(status.outcome, status.saved_work)
    words = f"{outcome}{until}" if until else short_run_text(status)
    ending = end_text(status.outcome, status.saved_work)
    if status.outcome is not Outcome.SUSPENDED:
        return ending or words
    if ending:
        words = ending.replace(outcome, words, 1)
    elif status.checkpoint is not None:
        words = f"{words} at step {formatting.count(status.checkpoint.step)}"
    returned = status.memory_returned
    is_held = returned is not None and any(each.still_held_mib for each in returned.devices)
    return words if is_held else f"{words}; the devices are free"


def _metrics_text(metrics: Metrics) -> str:
    if metrics.accuracy is not None:
        return f"accuracy {formatting.fraction(metrics.accuracy)}"
    return _off_by(metrics.mean_absolute_error)


def _off_by(error: float | None) -> str:
    return f"off by {formatting.number(error)} on average"


def state_text(run: RunState, status: RunStatus | None, preparation: Preparation) -> str:
    """One or two words that stand beside the Start button."""
    match run:
        case RunState.IDLE:
            return _readiness_text(preparation.problems)
        case RunState.LAUNCHING:
            return "Starting…"
        case RunState.STARTING:
            return "Starting…" if status is None else phase_text(status)
        case RunState.RUNNING:
            # Validating and saving can take turns with training many times a second.
            if status is not None and status.program and status.stuck is None:
                return _PHASES[Phase.RUNNING]
            if status is None or not (status.evaluates or status.stuck is not None):
                return "Training"
            return phase_text(status)
        case RunState.STOPPING | RunState.SUSPENDING:
            words = "Stopping" if run is RunState.STOPPING else "Suspending"
            saving = status is not None and status.phase is Phase.SAVING
            return f"{words}: saving…" if saving else f"{words}…"
        case RunState.KILLING:
            return "Ending now…"
        case RunState.ENDED if _has_errors(preparation):
            # What keeps the next run from starting; how the last one ended stands in Live.
            return _readiness_text(preparation.problems)
        case RunState.ENDED:
            return "Running" if status is None else short_run_text(status)
    assert_never(run)


def run_progress_text(run: RunState, status: RunStatus | None) -> str:
    """How far the run that goes on is, beside its state; empty where that is not known."""
    if run not in (RunState.RUNNING, RunState.STOPPING, RunState.SUSPENDING) or status is None:
        return ""
    if status.evaluates:
        total = status.examples_total
        return f"{status.examples * 100 // total} %" if total else ""
    has_begun = status.epoch > 0 and status.epoch_total > 0
    words = [f"epoch {status.epoch:,}/{status.epoch_total:,}"] if has_begun else []
    if run is RunState.RUNNING and status.seconds_left is not None:
        words.append(f"{formatting.duration(status.seconds_left)} left")
    return " · ".join(words)


def state_tone(run: RunState, status: RunStatus | None, preparation: Preparation) -> Tone:
    """How these words are meant."""
    if run is RunState.IDLE:
        return Tone.GOOD if preparation.is_startable else Tone.WARNING
    if run is RunState.ENDED and _has_errors(preparation):
        return Tone.WARNING
    if run is RunState.ENDED and status is not None and status.outcome is not None:
        if loses_steps(status.outcome, status.saved_work):
            return Tone.WARNING
        return Tone.GOOD if status.outcome.was_successful else Tone.ERROR
    return Tone.PLAIN


def _has_errors(preparation: Preparation) -> bool:
    return any(problem.is_error for problem in preparation.problems)


def _readiness_text(problems: tuple[Problem, ...]) -> str:
    errors = sum(problem.is_error for problem in problems)
    if errors:
        return "1 problem to fix" if errors == 1 else f"{errors} problems to fix"
    return "Ready"

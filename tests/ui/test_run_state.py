"""What can be done about a run, and the words for it."""

import time

import pytest

from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.events import (
    CheckpointSaved,
    DataProgressed,
    DownloadProgressed,
    EvaluationDone,
    FineTuningBegan,
    HoursEnded,
    MemoryReturned,
    ModelSaved,
    Phase,
    PhaseChanged,
    RequestAnswered,
    RunRestarted,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.planning.prepare import Preparation, prepare
from gpupanel.runs.following.status import BestEpoch, RunStage, RunStatus
from gpupanel.ui.run_state import RunState, button_states, state_after
from gpupanel.ui.run_texts import (
    card_text,
    outcome_text,
    phase_text,
    short_run_text,
    state_text,
    state_tone,
    status_text,
)
from gpupanel.ui.widgets.labels import Tone
from tests.fakes.devices import CPU_ONLY

READY = prepare(Profile(), CPU_ONLY)
TROUBLED = Preparation(
    problems=(
        Problem(code="wrong", message="Wrong."),
        Problem(code="odd", message="Odd.", severity=Severity.HINT),
    )
)
ENDED = RunStatus(stage=RunStage.ENDED, outcome=Outcome.COMPLETED)


@pytest.mark.parametrize(
    ("run", "start", "stop", "end_now", "suspend"),
    [
        (RunState.IDLE, True, False, False, False),
        (RunState.LAUNCHING, False, True, False, True),
        (RunState.STARTING, False, True, False, True),
        (RunState.RUNNING, False, True, False, True),
        (RunState.SUSPENDING, False, True, False, False),
        (RunState.STOPPING, False, False, True, False),
        (RunState.KILLING, False, False, False, False),
        (RunState.ENDED, True, False, False, False),
    ],
)
def test_that_buttons_follow_from_the_run_and_the_problems(run, start, stop, end_now, suspend):
    ready, troubled = button_states(run, READY), button_states(run, TROUBLED)

    assert (ready.start, ready.stop, ready.end_now) == (start, stop, end_now)
    assert ready.suspend == suspend
    assert ready.suspend_tip
    assert not button_states(run, READY, evaluates=True).suspend
    assert not troubled.start
    assert (troubled.stop, troubled.end_now) == (stop, end_now)


@pytest.mark.parametrize(
    ("stage", "asked", "expected"),
    [
        (RunStage.STARTING, None, RunState.STARTING),
        (RunStage.RUNNING, None, RunState.RUNNING),
        (RunStage.RUNNING, Request.STOP, RunState.STOPPING),
        (RunStage.RUNNING, Request.SUSPEND, RunState.SUSPENDING),
        (RunStage.SUSPENDING, None, RunState.SUSPENDING),
        (RunStage.SUSPENDING, Request.STOP, RunState.STOPPING),
        (RunStage.STOPPING, Request.SUSPEND, RunState.STOPPING),
        (RunStage.STOPPING, None, RunState.STOPPING),
        (RunStage.STOPPING, Request.END, RunState.KILLING),
        (RunStage.ENDED, Request.END, RunState.ENDED),
    ],
)
def test_that_what_was_clicked_here_counts_before_the_run_answers(stage, asked, expected):
    assert state_after(RunStatus(stage=stage), asked) is expected


def test_that_a_stop_asked_elsewhere_is_seen():
    status = RunStatus().after(RequestAnswered(time_s=1.0, request=Request.STOP))

    assert state_after(status, None) is RunState.STOPPING


@pytest.mark.parametrize("phase", list(Phase))
def test_that_each_phase_has_words(phase):
    status = RunStatus().after(PhaseChanged(time_s=1.0, phase=phase))

    assert phase_text(status)


def test_that_a_run_that_trains_more_layers_than_at_first_is_fine_tuning():
    began = FineTuningBegan(
        time_s=2.0, epoch=5, layers=3, trainable_parameters=9, learning_rate=1e-5
    )
    status = RunStatus().after(began)
    status = status.after(PhaseChanged(time_s=3.0, phase=Phase.TRAINING))
    assert phase_text(status) == "Fine-tuning"
    assert phase_text(status.after(PhaseChanged(time_s=4.0, phase=Phase.VALIDATING))) != (
        "Fine-tuning"
    )
    again = status.after(RunRestarted(time_s=5.0, attempt=1))
    again = again.after(PhaseChanged(time_s=6.0, phase=Phase.TRAINING))
    assert phase_text(again) == "Training"


def test_that_a_download_is_shown_with_its_progress():
    status = (
        RunStatus()
        .after(PhaseChanged(time_s=1.0, phase=Phase.LOADING_DATA))
        .after(DownloadProgressed(time_s=2.0, name="mnist", bytes_done=5, bytes_total=20))
    )

    assert phase_text(status) == "Downloading mnist, 25 %…"


def test_that_data_that_is_made_ready_is_shown_with_its_progress():
    status = (
        RunStatus()
        .after(PhaseChanged(time_s=1.0, phase=Phase.IMPORTING_TENSORFLOW))
        .after(DataProgressed(time_s=2.0, doing="decoding images", done=300, total=1000))
    )

    assert phase_text(status) == "Decoding images, 30 %…"
    decoded = DataProgressed(time_s=3.0, doing="decoding images", done=1000, total=1000)
    assert phase_text(status.after(decoded)) == "Importing TensorFlow…"


@pytest.mark.parametrize("outcome", [None, *Outcome])
def test_that_each_outcome_has_words(outcome):
    assert outcome_text(outcome)


@pytest.mark.parametrize("run", list(RunState))
def test_that_each_state_has_words(run):
    assert state_text(run, ENDED, READY)


def test_that_problems_are_counted_without_the_hints():
    assert state_text(RunState.IDLE, None, TROUBLED) == "1 problem to fix"
    assert state_text(RunState.IDLE, None, READY) == "Ready"


def test_that_a_run_that_failed_looks_so():
    failed = RunStatus(stage=RunStage.ENDED, outcome=Outcome.LOST)

    assert state_tone(RunState.ENDED, failed, READY) is Tone.ERROR
    assert state_tone(RunState.ENDED, ENDED, READY) is Tone.GOOD
    assert state_text(RunState.ENDED, failed, READY) == "Lost"


@pytest.mark.parametrize("run", [RunState.IDLE, RunState.ENDED])
def test_that_what_keeps_the_next_run_from_starting_wins_over_how_the_last_one_ended(run):
    assert state_text(run, ENDED, TROUBLED) == "1 problem to fix"
    assert state_tone(run, ENDED, TROUBLED) is Tone.WARNING
    hints = Preparation(plan=READY.plan, problems=TROUBLED.problems[1:])
    assert state_text(RunState.ENDED, ENDED, hints) == "Completed"


def test_that_problems_of_the_session_say_nothing_of_a_run_that_goes_on():
    assert state_text(RunState.RUNNING, RunStatus(), TROUBLED) == "Training"


def test_that_the_end_is_shown_with_what_was_reached():
    reached = ENDED.model_copy(
        update={
            "metrics": ENDED.metrics.model_copy(update={"val_accuracy": 0.95}),
            "examples_per_second": 1000.0,
        }
    )

    assert status_text(reached) == "Completed · validation accuracy 95.0 %"
    best = {"best": BestEpoch(epoch=3, val_loss=0.1), "epoch": 5}
    longer = reached.model_copy(update={**best, "started_s": 100.0, "ended_s": 341.0})
    assert status_text(longer) == status_text(reached)
    average = "1,000 ex/s in training steps"
    assert card_text(longer) == f"Best epoch 3 of 5 · took 4:01 · {average}"
    saved = ModelSaved(time_s=1.0, path="model.keras", size_bytes=3 * 2**20)
    assert card_text(longer.after(saved)) == (
        f"Best epoch 3 of 5 · took 4:01 · {average} · model 3.0 MiB"
    )
    assert card_text(RunStatus().after(saved)) == ""
    kept = saved.model_copy(update={"epoch": 3, "is_best": True, "is_last": False})
    assert card_text(longer.after(kept)).startswith("Model of epoch 3 of 5, the best one · took")
    last = saved.model_copy(update={"epoch": 5})
    assert card_text(longer.after(last)).startswith(
        "Model of the last step, after epoch 5; best epoch 3 ·"
    )
    assert "nothing was validated" in card_text(
        longer.model_copy(update={"best": None}).after(last)
    )
    both = last.model_copy(update={"is_best": True})
    assert card_text(longer.after(both)).startswith("Model of epoch 5, the last and the best one ·")
    set_back = longer.model_copy(update={"ended_s": 50.0, "epoch": 1})
    assert card_text(set_back) == average
    lost = longer.model_copy(update={"outcome": Outcome.LOST})
    assert card_text(lost) == "Best epoch 3 of 5 · took 4:01"


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        (
            Metrics(val_accuracy=0.95, test_loss=0.2, test_accuracy=0.94),
            "validation accuracy 95.0 % · test accuracy 94.0 %",
        ),
        (
            Metrics(val_loss=4.0, test_loss=5.0, test_mean_absolute_error=1.0),
            "validation loss 4.000 · test off by 1.000 on average",
        ),
        (Metrics(loss=1.0, test_loss=5.0), "test loss 5.000"),
    ],
)
def test_that_the_end_is_shown_with_what_the_test_set_showed(metrics, words):
    tested = ENDED.model_copy(update={"metrics": metrics})

    assert status_text(tested) == f"Completed · {words}"


def test_that_a_suspended_run_says_that_its_devices_are_free():
    saved = CheckpointSaved(time_s=1.0, path="checkpoints/step", epoch=1, step=1234, seconds=0.1)
    suspended = ENDED.model_copy(update={"outcome": Outcome.SUSPENDED, "checkpoint": saved})
    assert status_text(suspended) == "Suspended at step 1,234; the devices are free"
    held = ReturnedMemory(device_key="GPU-1", freed_mib=10, still_held_mib=400)
    returned = MemoryReturned(time_s=2.0, seconds=5.0, devices=(held,))
    assert status_text(suspended.after(returned)) == "Suspended at step 1,234"


def test_that_a_run_whose_hours_have_ended_says_when_they_begin():
    later_s = time.time() + 3600.0
    hours = HoursEnded(time_s=1.0, hours="22:00-07:00", begin_s=later_s)
    suspended = ENDED.model_copy(update={"outcome": Outcome.SUSPENDED, "hours_ended": hours})
    clock = time.strftime("%H:%M", time.localtime(later_s))
    assert short_run_text(suspended) == f"Suspended, hours begin {clock}"
    # Where it waits in the queue it continues then by itself.
    assert status_text(suspended, f" until {clock}").startswith(f"Suspended until {clock};")
    past = suspended.model_copy(
        update={"hours_ended": hours.model_copy(update={"begin_s": later_s - 7200.0})}
    )
    assert short_run_text(past) == "Suspended"


def test_that_the_end_of_an_evaluation_or_prediction_is_shown_with_what_was_found():
    def found(metrics):
        event = EvaluationDone(time_s=0.0, examples=10, metrics=metrics)
        return ENDED.model_copy(update={"evaluation": event})

    assert status_text(found(Metrics(loss=0.1, accuracy=0.975))) == "Completed · accuracy 97.5 %"
    values = status_text(found(Metrics(loss=4.0, mean_absolute_error=1.5)))
    assert values == "Completed · off by 1.500 on average"
    predicted = ENDED.model_copy(update={"predictions": "predictions.npz", "examples": 1797})
    assert status_text(predicted) == "Completed · 1,797 predictions"
    # It takes no training steps whose speed could be shown.
    quick = predicted.model_copy(update={"examples_per_second": 1000.0})
    assert card_text(quick) == "1,000 ex/s in its batches"


def test_that_a_model_that_is_evaluated_is_not_said_to_train():
    evaluating = RunStatus(stage=RunStage.RUNNING, phase=Phase.EVALUATING)
    assert state_text(RunState.RUNNING, evaluating, READY) == "Evaluating"
    assert state_text(RunState.RUNNING, RunStatus(phase=Phase.VALIDATING), READY) == "Training"

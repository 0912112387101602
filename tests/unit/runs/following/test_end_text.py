"""What is said to be saved of a training that was stopped, and what is lost."""

import pytest

from gpupanel.domain.events import (
    CheckpointSaved,
    Event,
    ExamplesDone,
    ModelSaved,
    RequestAnswered,
    RunEnded,
    RunRestarted,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.outcome import Outcome, SavedWork
from gpupanel.domain.request import Request
from gpupanel.runs.following.end_text import end_text, loses_steps, short_end_text, unsaved_text
from gpupanel.runs.following.status import RunStatus


def step(number: int) -> StepsDone:
    return StepsDone(
        time_s=float(number),
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=64,
        loss=1.0,
        examples_per_second=1.0,
    )


def checkpoint(number: int) -> CheckpointSaved:
    return CheckpointSaved(
        time_s=1.0, path=f"checkpoints/{number}", epoch=1, step=number, seconds=1
    )


def resumed(number: int) -> tuple[Event, ...]:
    restart = RunRestarted(time_s=1.0, attempt=0)
    return restart, TrainingResumed(time_s=1.0, path="checkpoints/x", epoch=1, step=number)


STOP = RequestAnswered(time_s=1.0, request=Request.STOP)
END = RequestAnswered(time_s=1.0, request=Request.END)
MODEL = ModelSaved(time_s=1.0, path="model.keras")


def status_of(*events: Event) -> RunStatus:
    status = RunStatus()
    for event in events:
        status = status.after(event)
    return status


@pytest.mark.parametrize(
    ("events", "words", "short"),
    [
        ((step(1343), STOP, checkpoint(1343), MODEL), "Stopped: model saved", ""),
        ((STOP,), "Stopped before its first step", ""),
        ((step(10), checkpoint(10), END), "Stopped: checkpoint of step 10 saved", ""),
        (
            (step(1200), checkpoint(1200), step(1343), STOP),
            "Stopped: nothing saved since the checkpoint of step 1,200; 143 steps are lost",
            "stopped, not saved",
        ),
        (
            (step(1200), checkpoint(1200), step(1343), STOP, END),
            "Ended without saving; 143 steps since the last checkpoint are lost",
            "ended without saving",
        ),
        (
            (step(10), checkpoint(10), step(11), END),
            "Ended without saving; 1 step since the last checkpoint is lost",
            "ended without saving",
        ),
        ((step(1), END), "Ended without saving; its 1 step is lost", "ended without saving"),
        (
            (step(143), STOP),
            "Stopped: nothing saved; its 143 steps are lost",
            "stopped, not saved",
        ),
        # What an earlier start of the run saved does not count for a later one.
        (
            (step(10), checkpoint(10), MODEL, *resumed(10), step(30), END),
            "Ended without saving; 20 steps since the last checkpoint are lost",
            "ended without saving",
        ),
        (
            (step(10), checkpoint(10), MODEL, *resumed(10), END),
            "Stopped: checkpoint of step 10 saved",
            "",
        ),
        (
            (step(10), checkpoint(8), END, *resumed(8), step(9), STOP, checkpoint(9), MODEL),
            "Stopped: model saved",
            "",
        ),
    ],
)
def test_that_a_stopped_training_says_what_is_saved(
    events: tuple[Event, ...], words: str, short: str
) -> None:
    saved = status_of(*events).saved_work
    assert end_text(Outcome.STOPPED, saved) == words
    assert short_end_text(Outcome.STOPPED, saved) == short
    assert loses_steps(Outcome.STOPPED, saved) is bool(short)


def test_that_what_was_not_stopped_says_nothing_of_it() -> None:
    lost = SavedWork(unsaved_steps=7)
    for outcome in (None, Outcome.COMPLETED, Outcome.FAILED, Outcome.LOST):
        assert (end_text(outcome, lost), short_end_text(outcome, lost)) == ("", "")
        assert not loses_steps(outcome, lost)
    assert end_text(Outcome.STOPPED, None) == ""
    assert end_text(Outcome.SUSPENDED, SavedWork(checkpoint_step=3)) == ""
    assert (
        end_text(Outcome.SUSPENDED, SavedWork(checkpoint_step=3, unsaved_steps=2))
        == "Suspended; 2 steps since the last checkpoint are lost"
    )


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((), "It has made no step yet: nothing would be lost."),
        (
            (step(1200), checkpoint(1200), step(1343)),
            (
                "The 143 steps since the checkpoint of step 1,200 would be lost; it could be "
                "resumed from there."
            ),
        ),
        (
            (step(1),),
            "It has saved no checkpoint: its 1 step would be lost, and it could not be resumed.",
        ),
        (
            (step(9), checkpoint(9)),
            "All its steps are in the checkpoint of step 9: only the model would not be saved.",
        ),
        (
            (ExamplesDone(time_s=1.0, examples=5, examples_total=9, examples_per_second=1.0),),
            "Its results so far would be lost.",
        ),
    ],
)
def test_that_the_question_before_the_end_says_what_would_be_lost(
    events: tuple[Event, ...], words: str
) -> None:
    assert unsaved_text(status_of(*events).saved_work) == words


def test_that_an_end_of_an_older_version_is_read() -> None:
    old = '{"time_s": 1.0, "kind": "run_ended", "outcome": "stopped"}'
    assert RunEnded.model_validate_json(old).saved is None

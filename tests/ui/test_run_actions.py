"""What can be done with the run that is shown, and how a restart is shown."""

import pytest

from gpupanel.domain.events import (
    CheckpointSaved,
    ModelSaved,
    RunEnded,
    RunRestarted,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.run_actions import RunActions, restart_text, run_actions
from gpupanel.ui.run_state import RunState
from gpupanel.ui.run_texts import phase_text

KILLED = Problem(code="process_killed", message="Worker 1 was killed by signal 9.")
CHECKPOINT = CheckpointSaved(time_s=1, path="checkpoints/step-120", epoch=2, step=120, seconds=0.1)
MODEL = ModelSaved(time_s=2, path="model.keras")
RESUMED = TrainingResumed(time_s=4, path="checkpoints/step-120", epoch=3, step=120)
STEP = StepsDone(
    time_s=5, step=1, steps=1, epoch=1, step_in_epoch=1, examples=8, loss=1.0, examples_per_second=9
)


def after(*events: object) -> RunStatus:
    status = RunStatus()
    for event in events:
        status = status.after(event)
    return status


def ended(outcome: Outcome) -> RunEnded:
    return RunEnded(time_s=3, outcome=outcome)


@pytest.mark.parametrize("outcome", Outcome)
def test_that_a_run_that_was_cut_short_can_go_on_from_its_checkpoint(outcome):
    actions = run_actions(RunState.ENDED, after(CHECKPOINT, ended(outcome)))
    assert actions.offers_resume == (outcome is not Outcome.COMPLETED)
    assert actions.can_resume == actions.offers_resume
    assert not actions.offers_resume or "step 120" in actions.resume_tip


def test_that_nothing_is_offered_without_a_run_or_while_it_goes_on():
    assert run_actions(RunState.IDLE, None) == RunActions()
    going = run_actions(RunState.RUNNING, after(CHECKPOINT, MODEL))
    assert going == RunActions(has_model=True)  # of an earlier end: it can be exported


def test_that_without_a_checkpoint_there_is_nothing_to_go_on_from():
    assert not run_actions(RunState.ENDED, after(ended(Outcome.FAILED))).offers_resume


@pytest.mark.parametrize(
    ("outcome", "offered"),
    [(Outcome.LOST, True), (Outcome.STOPPED, True), (Outcome.FAILED, False)],
)
def test_that_a_run_that_never_made_a_step_may_begin(outcome, offered):
    actions = run_actions(RunState.ENDED, after(ended(outcome)))
    assert actions.offers_resume == offered
    assert not offered or "starts from the beginning" in actions.resume_tip
    assert not run_actions(RunState.ENDED, after(STEP, ended(outcome))).offers_resume


def test_that_no_run_is_resumed_while_another_goes_on():
    actions = run_actions(RunState.RUNNING, after(CHECKPOINT, ended(Outcome.LOST)))
    assert (actions.offers_resume, actions.can_resume) == (True, False)
    assert "Another run" in actions.resume_tip


@pytest.mark.parametrize(
    ("outcome", "offered"),
    [(Outcome.COMPLETED, True), (Outcome.STOPPED, True), (Outcome.FAILED, False)],
)
def test_that_what_a_run_has_learned_can_be_evaluated(outcome, offered):
    assert run_actions(RunState.ENDED, after(MODEL, ended(outcome))).offers_evaluate == offered
    assert not run_actions(RunState.ENDED, after(ended(outcome))).offers_evaluate


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((), ""),
        (
            (RunRestarted(time_s=3, attempt=1, problem=KILLED),),
            "Restarting: worker 1 was killed by signal 9.",
        ),
        (
            (RunRestarted(time_s=3, attempt=2, problem=KILLED), RESUMED),
            "Restarted from step 120 (attempt 2): worker 1 was killed by signal 9.",
        ),
        (
            (RunRestarted(time_s=3, attempt=1, problem=KILLED), STEP),
            "Started again from the beginning: worker 1 was killed by signal 9.",
        ),
        ((RunRestarted(time_s=3, attempt=0),), "Resuming…"),
        ((RunRestarted(time_s=3, attempt=0), RESUMED), "Resumed from step 120."),
    ],
)
def test_that_a_restart_is_shown_with_its_step_and_its_cause(events, words):
    assert restart_text(after(*events)) == words


def test_that_a_name_in_capitals_keeps_them():
    problem = Problem(code="x", message="NCCL gave up.")
    restarted = RunRestarted(time_s=3, attempt=1, problem=problem)
    assert restart_text(after(restarted)) == "Restarting: NCCL gave up."


def test_that_a_run_that_is_started_again_says_so_beside_the_button():
    assert phase_text(after(RunRestarted(time_s=3, attempt=1))) == "Restarting…"


def test_that_a_run_whose_data_has_changed_may_go_on_by_a_button_of_its_own():
    def refused(code: str) -> RunEnded:
        problem = Problem(code=code, message="The data is not what the run has learned from.")
        return RunEnded(time_s=3, outcome=Outcome.FAILED, problem=problem)

    changed = after(CHECKPOINT, refused("data_changed"))
    assert run_actions(RunState.ENDED, changed).offers_changed_data
    assert not run_actions(RunState.RUNNING, changed).offers_changed_data
    assert not run_actions(
        RunState.ENDED, after(CHECKPOINT, refused("no_space"))
    ).offers_changed_data
    assert not run_actions(RunState.ENDED, after(refused("data_changed"))).offers_changed_data

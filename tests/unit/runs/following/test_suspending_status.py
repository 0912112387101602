"""What a run's status makes of requests to suspend and to stop."""

import pytest

from gpupanel.domain.events import Phase, PhaseChanged, RequestAnswered, RunEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.request import Request
from gpupanel.runs.following.status import RunStage, RunStatus

TRAINING = RunStatus().after(PhaseChanged(time_s=1.0, phase=Phase.TRAINING))


def stage_after(*requests: Request) -> RunStage:
    status = TRAINING
    for request in requests:
        status = status.after(RequestAnswered(time_s=2.0, request=request))
    return status.stage


@pytest.mark.parametrize(
    ("requests", "stage"),
    [
        ((Request.CHECKPOINT,), RunStage.RUNNING),
        ((Request.SUSPEND,), RunStage.SUSPENDING),
        ((Request.STOP,), RunStage.STOPPING),
        ((Request.END,), RunStage.STOPPING),
        ((Request.SUSPEND, Request.STOP), RunStage.STOPPING),
        ((Request.STOP, Request.SUSPEND), RunStage.STOPPING),
    ],
)
def test_that_the_stage_follows_from_what_was_answered(
    requests: tuple[Request, ...], stage: RunStage
) -> None:
    assert stage_after(*requests) is stage


def test_that_an_answer_after_the_end_changes_nothing() -> None:
    ended = TRAINING.after(RunEnded(time_s=3.0, outcome=Outcome.SUSPENDED))
    assert ended.after(RequestAnswered(time_s=4.0, request=Request.SUSPEND)) == ended

"""How long a run lasted: whenever it ran counts, what passed until it was resumed does not."""

import pytest

from gpupanel.domain.events import (
    Event,
    ModelSaved,
    RunEnded,
    RunRestarted,
    RunStarted,
    StepsDone,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.following.status import RunStatus


def started(time_s: float) -> Event:
    return RunStarted(time_s=time_s, supervisor_pid=1)


def ended(time_s: float) -> Event:
    return RunEnded(time_s=time_s, outcome=Outcome.SUSPENDED)


def restarted(time_s: float) -> Event:
    return RunRestarted(time_s=time_s, attempt=1)


def steps(time_s: float) -> Event:
    return StepsDone(
        time_s=time_s,
        epoch=1,
        step=1,
        steps=1,
        step_in_epoch=1,
        loss=1.0,
        examples=64,
        examples_per_second=64.0,
        learning_rate=0.1,
    )


@pytest.mark.parametrize(
    ("events", "lasted_s"),
    [
        ([started(100), ended(160)], 60),
        ([started(100), ended(160), restarted(900), started(905), ended(915)], 70),
        # Killed: the last step is the last that is known of it.
        ([started(100), steps(130), restarted(900), started(905), ended(915)], 40),
        ([started(100), restarted(900), started(905), ended(915)], 10),
        # Restarted by its supervisor, which goes on.
        ([started(100), steps(130), restarted(140), ended(190)], 90),
        (
            [
                *(started(100), ended(160), restarted(900), started(905)),
                *(restarted(910), ended(915), restarted(1000), started(1000), ended(1005)),
            ],
            75,
        ),
        ([started(100), ended(160), restarted(900)], None),
        ([started(100), ended(160), restarted(900), started(905)], None),
        ([started(100), ended(40)], None),
        ([started(100), ended(40), restarted(50), started(55), ended(65)], 10),
        ([ModelSaved(time_s=5.0, path="model.keras")], None),
    ],
)
def test_that_every_time_that_it_ran_counts(events: list[Event], lasted_s: float | None) -> None:
    status = RunStatus()
    for event in events:
        status = status.after(event)
    assert status.lasted_s == lasted_s

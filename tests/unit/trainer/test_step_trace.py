"""Steps are traced while a training goes on, and its mathematics is that of one that is not."""

import json
from collections.abc import Mapping

import numpy as np
import pytest

from gpupanel.domain.events import TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.files.trace_files import trace_records
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    all_events,
    changed,
    profile,
    train_layouts,
    variables,
)

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
STEPS_AN_EPOCH = 23
ASKED: Mapping[str, object] = {
    "few steps": {"steps": 5},
    "an epoch and more": {"steps": 100},
    "another process": {"steps": 5, "process": 1},
    "nonsense": {"steps": "many"},
    "no steps": None,
}


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    root = tmp_path_factory.mktemp("traced")
    made = {}
    for number, (name, asked) in enumerate({**ASKED, "full disk": {"steps": 5}}.items()):
        layout = make_run(root / f"{number}", profile(changed(epochs=3), MIRRORED), (40, 24))
        if asked is not None:
            layout.requests.mkdir(exist_ok=True)
            (layout.requests / Request.TRACE).write_text(json.dumps(asked))
        made[name] = layout
    # In the place of its first trace stands something else; so do all that it could have.
    made["full disk"].tensorboard.write_text("no folder")
    train_layouts(list(made.values()), "--as-written")
    return made


def test_that_as_many_steps_are_traced_as_are_asked_for(layouts: dict[str, RunLayout]) -> None:
    (record,) = trace_records(layouts["few steps"]).values()
    assert record.problem is None
    assert 5 <= record.steps <= 10
    assert record.first_step > 0
    (written,) = layouts["few steps"].trace(1).glob("plugins/profile/*/*.xplane.pb")
    assert written.stat().st_size > 1000


def test_that_a_trace_ends_with_the_epoch(layouts: dict[str, RunLayout]) -> None:
    (record,) = trace_records(layouts["an epoch and more"]).values()
    # From the second epoch on, whose first step is the first of a whole epoch to come.
    assert record.first_step % STEPS_AN_EPOCH == 0
    assert record.steps == STEPS_AN_EPOCH


def test_that_the_request_is_withdrawn_by_who_answers_it(layouts: dict[str, RunLayout]) -> None:
    left = {name: (each.requests / Request.TRACE).exists() for name, each in layouts.items()}
    assert left == {
        "few steps": False,
        "an epoch and more": False,
        "another process": True,
        "nonsense": True,
        "no steps": False,
        "full disk": False,
    }
    assert not trace_records(layouts["another process"])
    assert not trace_records(layouts["nonsense"])


def test_that_tracing_changes_no_bit_of_the_weights(layouts: dict[str, RunLayout]) -> None:
    plain = variables(layouts["no steps"])
    for name, layout in layouts.items():
        found = variables(layout)
        assert found.keys() == plain.keys()
        for variable, wanted in plain.items():
            np.testing.assert_array_equal(found[variable], wanted, err_msg=name)


def test_that_a_trace_that_cannot_be_written_ends_no_training(
    layouts: dict[str, RunLayout],
) -> None:
    last = all_events(layouts["full disk"])[-1]
    assert isinstance(last, TrainingEnded)
    assert last.outcome is Outcome.COMPLETED
    assert not trace_records(layouts["full disk"])

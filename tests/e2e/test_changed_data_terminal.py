"""A run whose data is moved, and then changed, between suspend and resume."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.events import ProblemReported, RunRestarted, TrainingResumed
from gpupanel.domain.run_layout import RunLayout
from tests.e2e.test_suspend_terminal import events_of, until_it_steps
from tests.forked.terminal import answered, forked_trainers
from tests.forked.terminal import verb as gpupanel

PROFILE = """
schema_version = 1
name = "data"
[devices]
visible = ["cpu"]
[data]
source = "npz"
path = "{path}"
[model]
source = "mlp"
hidden = [8]
[training]
epochs = 100000
tensorboard = false
checkpoint_every_epochs = 0
"""


def suspend(layout: RunLayout) -> dict[str, Any]:
    assert answered(gpupanel("suspend", layout.root, "--json"))["asked"]
    watched = gpupanel("watch", layout.root, "--json")
    assert watched.returncode == 130
    return answered(watched)


# How a run starts and is suspended is seen with real processes beside this file.
@forked_trainers()
@pytest.mark.tensorflow
def test_that_moved_data_is_taken_and_changed_data_only_where_a_person_accepts_it(
    tmp_path: Path,
) -> None:
    here, there = tmp_path / "here.npz", tmp_path / "there.npz"
    random = np.random.default_rng(0)
    x, y = random.random((600, 4), np.float32), np.arange(600) % 3
    np.savez(here, x=x, y=y)
    profile, moved = tmp_path / "here.toml", tmp_path / "there.toml"
    profile.write_text(PROFILE.format(path=here))
    moved.write_text(PROFILE.format(path=there))

    started = gpupanel("run", profile, "--detach", "--json")
    layout = RunLayout(Path(answered(started)["run"]))
    until_it_steps(layout, 1)
    assert suspend(layout)["outcome"] == "suspended"

    # The same numbers, in another file at another place.
    here.unlink()
    np.savez_compressed(there, y=y.astype(np.uint8), x=x)
    assert gpupanel("resume", layout.root, "--with", moved, "--detach").returncode == 0
    until_it_steps(layout, 2)
    assert suspend(layout)["outcome"] == "suspended"

    np.savez(there, x=x, y=np.roll(y, 1))
    refused = gpupanel("resume", layout.root, "--json")
    assert refused.returncode == 1
    document = answered(refused)
    assert document["outcome"] == "failed"
    assert document["problem"]["code"] == "data_changed"
    assert f"({there}): the training labels differ." in document["problem"]["message"]
    assert document["problem"]["command"].endswith(f"{layout.root} --accept-changed-data")

    accepted = gpupanel("resume", layout.root, "--accept-changed-data", "--detach")
    assert accepted.returncode == 0, accepted.stderr
    until_it_steps(layout, 4)
    assert suspend(layout)["outcome"] == "suspended"
    events = events_of(layout)
    restarts = [event for event in events if isinstance(event, RunRestarted)]
    assert [each.accepts_changed_data for each in restarts] == [False, False, True]
    told = [event.problem for event in events if isinstance(event, ProblemReported)]
    assert [problem.code for problem in told if problem.code.startswith("data_")] == [
        "data_changed_accepted"
    ]
    # The refused start trained nothing.
    resumed = [event.step for event in events if isinstance(event, TrainingResumed)]
    assert len(resumed) == 2
    assert 0 < resumed[0] < resumed[1]

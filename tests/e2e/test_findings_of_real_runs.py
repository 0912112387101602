"""Why a real training is slow: each reason is provoked here, and found by its supervisor.

Four of them once each in ``make test``, with shorter windows; twenty times each, and twenty runs
that nothing holds up, as slow ones with those of the product.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from gpupanel.domain.events import Event, FindingReported, TimeReported, TrainerStarted
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.findings import context as finding_context
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.supervision import finding_watch
from tests.forked.terminal import forked_trainers, verb
from tests.patience import PATIENCE_S
from tests.unit.runs.supervision.test_host_load import quota_of

pytestmark = pytest.mark.tensorflow

SLOW_READER = """
import time
import numpy as np

class Rows:
    def __len__(self):
        return 4_000

    def __getitem__(self, index):
        time.sleep(0.0005)
        return np.full((64,), index % 7, np.float32)

def load():
    return Rows(), np.arange(4_000) % 7
"""
IN_MEMORY = """
import numpy as np

def load():
    random = np.random.default_rng(0)
    return random.normal(size=(20_000, 64)).astype(np.float32), random.integers(0, 7, 20_000)
"""
SLEEPING_REPLICA = """
import time
import keras
import tensorflow as tf

class SleepingOnSecond(keras.layers.Layer):
    def call(self, inputs):
        context = tf.distribute.get_replica_context()
        if context is None or tf.get_static_value(context.replica_id_in_sync_group) != 1:
            return inputs
        slept = tf.py_function(lambda: time.sleep(0.03), [], [])
        with tf.control_dependencies([slept]):
            return tf.identity(inputs)

def build_model(input_shape, outputs):
    return keras.Sequential(
        [keras.Input(input_shape), SleepingOnSecond(), keras.layers.Dense(outputs)]
    )
"""
PROFILE = """
schema_version = 1
name = "{name}"
[devices]
visible = ["cpu"]
cpu_replicas = {replicas}
[strategy]
kind = "{strategy}"
[data]
source = "python"
path = "data.py"
cache = "{cache}"
[model]
{model}
[training]
epochs = 100_000
global_batch_size = {batch}
checkpoint_every_epochs = 0
"""
NETWORK = 'source = "mlp"\nhidden = [512, 512]'


@contextmanager
def busy_neighbours(_pid: int) -> Iterator[None]:
    """Twice as many busy processes as there are processors."""
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


@contextmanager
def quota(pid: int) -> Iterator[None]:
    """A tenth of a processor for the trainer, as long as it is there: less than it gets of a busy
    machine."""
    with quota_of(0.1) as folder:
        (folder / "cgroup.procs").write_text(f"{pid}\n")
        try:
            yield
        finally:
            # A group that has processes cannot be removed: they go back where they were.
            (folder.parent / "cgroup.procs").write_text(f"{pid}\n")


def nothing(_pid: int) -> AbstractContextManager[None]:
    return nullcontext()


class Reason(NamedTuple):
    """How a training is made slow, and what is to be found."""

    code: str
    words: str
    data: str = IN_MEMORY
    model: str = NETWORK
    code_of_model: str = ""
    strategy: str = "one_device"
    replicas: int = 1
    cache: str = "memory"
    batch: int = 256
    during: Callable[[int], AbstractContextManager[None]] = nothing


REASONS = {
    "slow reader": Reason(
        "training_waits_for_data", "wait for examples in ", SLOW_READER, cache="none", batch=64
    ),
    "tiny batch": Reason(
        "batch_too_small", "a batch of 2", model='source = "mlp"\nhidden = [16]', batch=2
    ),
    "sleeping replica": Reason(
        "straggler",
        "Replica 1 \N{MIDDLE DOT} ",
        model='source = "python"\npath = "model.py"',
        code_of_model=SLEEPING_REPLICA,
        strategy="mirrored",
        replicas=2,
        batch=64,
    ),
    "gradient exchange": Reason(
        "exchange_bound",
        "Exchanging gradients over 2 replicas",
        model='source = "mlp"\nhidden = [512, 512]',
        strategy="multi_worker",
        replicas=2,
        batch=16,
    ),
    "busy neighbour": Reason("other_process_on_cpu", "most of it python", during=busy_neighbours),
    "quota": Reason("cpu_quota", "allows the run 0.1 processors", during=quota),
}


WHOLE_MACHINE = ("gradient exchange", "busy neighbour")
LIKE_OTHERS = ("tiny batch", "quota")
"""Found by the same way, from figures that tests/unit/planning/findings has."""


def launch(reason: Reason, folder: Path) -> RunLayout:
    folder.mkdir(exist_ok=True)
    (folder / "data.py").write_text(reason.data)
    (folder / "model.py").write_text(reason.code_of_model)
    profile = folder / "profile.toml"
    profile.write_text(
        PROFILE.format(
            name=reason.code,
            replicas=reason.replicas,
            strategy=reason.strategy,
            cache=reason.cache,
            model=reason.model,
            batch=reason.batch,
        )
    )
    answer = verb("run", profile, "--detach", "--trust", "--runs-dir", folder / "runs")
    assert answer.returncode == 0, answer.stderr
    return RunLayout(Path(answer.stdout.strip()))


def wait_for(
    follower: RunFollower, seen: list[Event], is_it: Callable[[Event], bool], patience_s: float
) -> Event:
    """The first event that it is."""
    end_s = time.monotonic() + patience_s
    while time.monotonic() < end_s:
        news = list(follower.poll().events)
        seen += news
        found = next((each for each in news if is_it(each)), None)
        if found is not None:
            return found
        time.sleep(0.05)
    kinds = [each for each in seen if isinstance(each, FindingReported)]
    pytest.fail(f"it did not come to that; found: {kinds}")


def provoke(reason: Reason, folder: Path) -> FindingReported:
    """Train with the reason until it is found."""
    seen: list[Event] = []
    with forked_trainers():
        layout = launch(reason, folder)
        follower = RunFollower(layout)
        try:
            wait_for(follower, seen, lambda each: isinstance(each, TimeReported), PATIENCE_S)
            pid = next(each.pid for each in seen if isinstance(each, TrainerStarted))
            with reason.during(pid):
                found = wait_for(
                    follower,
                    seen,
                    lambda each: (
                        isinstance(each, FindingReported) and each.problem.code == reason.code
                    ),
                    PATIENCE_S,
                )
        finally:
            ask(layout, Request.END)
    # Killed, its supervisor still says at the end what held it up.
    (summary,) = list_runs(layout.root.parent)
    assert reason.code in [each.problem.code for each in summary.findings]
    assert isinstance(found, FindingReported)
    assert reason.words in found.problem.message
    assert found.since_s <= found.time_s
    return found


@pytest.fixture
def short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Supervisors, which are threads here, ask every second and are content with two."""
    monkeypatch.setattr(finding_watch, "INTERVAL_S", 1.0)
    monkeypatch.setattr(finding_context, "SETTLED_S", 2.0)


@pytest.mark.parametrize(
    "name",
    [
        # Others keep both cores busy, also those of the tests beside.
        pytest.param(name, marks=pytest.mark.slow if name in WHOLE_MACHINE + LIKE_OTHERS else ())
        for name in REASONS
    ],
)
@pytest.mark.usefixtures("short_windows")
def test_that_a_reason_that_is_provoked_is_found(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Half a second of the usual periods, where a test has no time for five.
    monkeypatch.setattr("gpupanel.planning.findings.host_findings._LEAST_PERIODS", 5)
    provoke(REASONS[name], tmp_path / "run")


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("name", REASONS)
def test_that_a_reason_is_found_in_twenty_of_twenty_runs(name: str, tmp_path: Path) -> None:
    for repetition in range(20):
        provoke(REASONS[name], tmp_path / f"run {repetition}")


CLEAN = {
    "wide layers": Reason("clean", ""),
    "deep layers": Reason("clean", "", model='source = "mlp"\nhidden = [256, 256, 256, 256]'),
}
_CLEAN_S = 35.0
"""A whole window, and one observation more."""


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("name", CLEAN)
def test_that_nothing_is_found_in_ten_runs_that_nothing_holds_up(name: str, tmp_path: Path) -> None:
    disturbed = 0
    for repetition in range(10):
        seen: list[Event] = []
        with forked_trainers():
            layout = launch(CLEAN[name], tmp_path / f"run {repetition}")
            follower = RunFollower(layout)
            try:
                wait_for(follower, seen, lambda each: isinstance(each, TimeReported), PATIENCE_S)
                (pid,) = (each.pid for each in seen if isinstance(each, TrainerStarted))
                others = _others_fraction(pid)
                seen += follower.poll().events
            finally:
                ask(layout, Request.END)
        found = [each.problem for each in seen if isinstance(each, FindingReported)]
        if others > 0.15 and {each.code for each in found} == {"other_process_on_cpu"}:
            disturbed += 1  # which is right, and no run that nothing holds up
        else:
            assert found == []
    if disturbed:
        pytest.skip(f"others used this machine during {disturbed} of the runs; they were named")


def _others_fraction(pid: int) -> float:
    """What others than that process take of all processors, watched for as long as a run is."""
    trainer = psutil.Process(pid)
    own, all_ = sum(trainer.cpu_times()[:2]), _busy_s()
    time.sleep(_CLEAN_S)
    taken_s = _busy_s() - all_ - (sum(trainer.cpu_times()[:2]) - own)
    return taken_s / _CLEAN_S / (os.cpu_count() or 1)


def _busy_s() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)

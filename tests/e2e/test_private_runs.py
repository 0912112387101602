"""What a run leaves is its owner's alone, and nobody else reaches its processes."""

import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from gpupanel.devices.doctor.support_memory import remember_support, support_basis
from gpupanel.domain.data import DigitsData
from gpupanel.domain.events import RunEnded
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.model import MlpModel, PythonModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.detached import start_detached
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import create_run, start_supervisor
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.orders import add, pause
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.trust.checked_start import check_start
from gpupanel.runs.trust.trusted import trust, trusted_file
from gpupanel.runs.trust.user_code import code_of_profile
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_networks import (
    can_another_user_connect,
    descendants,
    plain_user,
    private_listeners,
    refusal,
)
from tests.forked.terminal import forked_trainers
from tests.patience import PATIENCE_S
from tests.unit.trainer.trained_runs import furthest

pytestmark = pytest.mark.tensorflow

_MODEL = """
import keras

def build_model(input_shape, outputs):
    return keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(outputs)])
"""


@pytest.fixture(autouse=True)
def _open_handed() -> Iterator[None]:
    """A umask that would let everybody write whatever this process and its children make."""
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(root: Path) -> list[str]:
    """Everything under a folder, and itself, that others than the owner may do something with."""
    return [
        f"{stat.filemode(path.lstat().st_mode)} {path}"
        for path in (root, *root.rglob("*"))
        if stat.S_IMODE(path.lstat().st_mode) & 0o077
    ]


def open_ports(pids: Iterable[int]) -> set[str]:
    """The addresses, with ports, on which processes listen in the network of this machine."""
    found = set()
    for pid in pids:
        try:
            connections = psutil.Process(pid).net_connections("inet")
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        for one in connections:
            bound_udp = one.type.name == "SOCK_DGRAM" and one.laddr and not one.raddr
            if one.status == psutil.CONN_LISTEN or bound_udp:
                found.add(f"{one.laddr.ip}:{one.laddr.port}")
    return found


@dataclass
class Heard:
    """What the processes of a run were seen to listen on.

    Attributes:
        inside: In a network of the run's own.
        outside: In the network of this machine.
        reached: Ports of the run to which another user of this machine got through.
    """

    inside: set[tuple[str, int]] = field(default_factory=set)
    outside: set[str] = field(default_factory=set)
    reached: set[int] = field(default_factory=set)

    def listen(self, pids: Sequence[int]) -> None:
        """Look at each process once, and try each port that is new."""
        self.outside |= open_ports(pids)
        new = private_listeners(pids) - self.inside
        self.inside |= new
        self.reached |= {port for _, port in new if can_another_user_connect(port)}


def watched_to_its_end(layout: RunLayout) -> tuple[RunEnded, Heard]:
    """How the run ended, and all that its processes were seen listening on."""
    follower, heard, events = RunFollower(layout), Heard(), []
    end_s = time.monotonic() + PATIENCE_S
    while not any(isinstance(event, RunEnded) for event in events):
        assert time.monotonic() < end_s, layout.trainer_log.read_text()[-4000:]
        heard.listen(descendants(os.getpid()))
        events += follower.poll().events
        time.sleep(0.1)
    (ended,) = (event for event in events if isinstance(event, RunEnded))
    return ended, heard


def start_as_plain_user(layout: RunLayout) -> None:
    """Start its supervisor with the rights of an ordinary user, whoever tests."""
    module = "gpupanel.runs.supervision.process"
    checked = check_start(layout)[1].model_dump_json()
    start_detached(
        (*plain_user(), sys.executable, "-P", "-m", module, str(layout.root), checked),
        layout.trainer_log,
        "supervisor",
    )


def profile_of(folder: Path, strategy: StrategySettings) -> Profile:
    (folder / "network.py").write_text(_MODEL)
    return Profile(
        devices=DeviceSettings(visible=("cpu",)),
        strategy=strategy,
        data=DigitsData(validation_fraction=0.2),
        model=PythonModel(path=str(folder / "network.py")),
        training=TrainingSettings(epochs=1, optimizer=Optimizer.SGD, learning_rate=0.1),
    )


def new_run(folder: Path, runs_dir: Path, strategy: StrategySettings) -> RunLayout:
    profile = profile_of(folder, strategy)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    trust(code_of_profile(profile))
    return create_run(profile, plan, runs_dir)


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy",
    [
        StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2),
        StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=2, parameter_servers=1),
    ],
    ids=["multi_worker", "parameter_server"],
)
def test_that_nobody_reaches_the_processes_of_a_run_and_its_files_are_private(
    tmp_path: Path, runs_dir: Path, strategy: StrategySettings
) -> None:
    layout = new_run(tmp_path, runs_dir, strategy)
    # Whoever gives away a run's directory could put a module there that hides a real one.
    (layout.root / "numpy.py").write_text("raise SystemExit('taken from the run')")
    (layout.root / "numpy.py").chmod(0o600)
    start_as_plain_user(layout)

    ended, heard = watched_to_its_end(layout)

    assert ended.outcome is Outcome.COMPLETED, ended.problem
    if refusal():
        assert heard.outside, "no process was seen listening"
        assert {each.rpartition(":")[0].removeprefix("::ffff:") for each in heard.outside} == {
            "127.0.0.1"
        }
    else:
        assert len(heard.inside) >= 2, "processes were not seen listening"
        assert {address for address, _ in heard.inside} == {"127.0.0.1"}
        assert (heard.outside, heard.reached) == (set(), set())
    ask(layout, Request.STOP)
    change_label(layout, name="a name", notes="notes")
    assert open_to_others(layout.root) == []
    made = {path.name for path in layout.root.iterdir()}
    assert made >= {"code", "checkpoints", "tensorboard", "model.keras", "events.jsonl", "run.lock"}
    assert open_to_others(runs_dir) == []
    if strategy.kind is StrategyKind.MULTI_WORKER:
        alone = new_run(tmp_path, runs_dir, StrategySettings())
        with forked_trainers():
            start_supervisor(alone, check_start(alone)[1])
        assert summarize_run(alone).outcome is Outcome.COMPLETED
        assert furthest(alone, layout) < 1e-5


def test_that_queue_trust_and_cache_are_private(
    tmp_path: Path, runs_dir: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = QueueFiles(queue_dir())
    pause(files)
    add(files, Profile(model=MlpModel()), runs_dir)
    trust(code_of_profile(profile_of(tmp_path, StrategySettings())))
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path / "cache"))
    remember_support(support_basis((), None), GpuSupport())

    for folder in (queue_dir(), trusted_file().parent, tmp_path / "cache"):
        assert any(folder.iterdir())
        assert open_to_others(folder) == []

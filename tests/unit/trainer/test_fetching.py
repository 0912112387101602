"""A run in a network of its own downloads first what it needs, and only that is outside."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData, KerasData
from gpupanel.domain.events import DownloadProgressed, RunEnded, TrainerStarted, TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.process_environment import NETWORK_VARIABLE
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.prepare import prepare
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision.supervisor import Supervisor
from gpupanel.trainer.downloads.keras_cache import run_needs_download
from tests.fakes.devices import CPU_ONLY
from tests.fakes.run_networks import is_in_own_network
from tests.unit.trainer.trained_runs import all_events

FETCHING_TRAINER = Path(__file__).with_name("fetching_trainer.py")
MNIST = KerasData(source="mnist", validation_fraction=0.2)


class _Server:
    """Serves one small data set to whoever can reach this machine, and counts."""

    def __init__(self, file: Path) -> None:
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                content = file.read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_arguments: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/mnist.npz"


@pytest.fixture
def keras_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    return tmp_path / "keras"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    file = tmp_path / "mnist.npz"
    generator = np.random.default_rng(1)
    np.savez(
        file,
        x_train=generator.integers(0, 256, (100, 28, 28), dtype=np.uint8),
        y_train=np.arange(100) % 10,
        x_test=generator.integers(0, 256, (20, 28, 28), dtype=np.uint8),
        y_test=np.arange(20) % 10,
    )
    server = _Server(file)
    monkeypatch.setenv("SERVED_MNIST", server.url)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01})
    with server.http:
        thread.start()
        yield server
        server.http.shutdown()
        thread.join()


def new_run(runs_dir: Path, profile: Profile) -> RunLayout:
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return create_run(profile, plan, runs_dir)


def run_of_two(runs_dir: Path) -> RunLayout:
    return new_run(
        runs_dir,
        Profile(
            devices=DeviceSettings(visible=("cpu",)),
            strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2),
            data=MNIST,
            training=TrainingSettings(epochs=1, max_restarts=0),
        ),
    )


def test_that_only_a_data_set_that_is_not_here_is_fetched(
    tmp_path: Path, runs_dir: Path, keras_home: Path
) -> None:
    layout = new_run(runs_dir, Profile(data=MNIST))
    assert run_needs_download(layout.root)
    (keras_home / "datasets").mkdir(parents=True)
    (keras_home / "datasets/mnist.npz").touch()
    assert not run_needs_download(layout.root)
    assert not run_needs_download(new_run(runs_dir, Profile(data=DigitsData())).root)


@pytest.mark.parametrize("content", [b"name = ", b"\xff", None], ids=["no TOML", "no text", "gone"])
def test_that_a_profile_that_cannot_be_read_is_left_to_those_who_report_it(
    tmp_path: Path, content: bytes | None, keras_home: Path
) -> None:
    layout = RunLayout(tmp_path)
    layout.profile.write_text(dump_profile(Profile(data=MNIST)))
    assert run_needs_download(layout.root)
    if content is None:
        layout.profile.unlink()
    else:
        layout.profile.write_bytes(content)
    assert not run_needs_download(layout.root)


def test_that_a_network_that_cannot_be_entered_is_reported(runs_dir: Path) -> None:
    layout = new_run(runs_dir, Profile())
    with layout.profile.open() as no_namespace:
        handed = f"{no_namespace.fileno()},{no_namespace.fileno()}"
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "gpupanel.trainer", layout.root],
            env={**os.environ, NETWORK_VARIABLE: handed},
            pass_fds=(no_namespace.fileno(),),
            check=False,
        )
    assert ended.returncode == 1
    last = all_events(layout)[-1]
    assert isinstance(last, TrainingEnded)
    assert last.problem is not None
    assert last.problem.code == "network_not_entered"
    assert "(Invalid argument)" in last.problem.message


def test_that_a_process_that_begins_again_after_a_download_keeps_what_it_was_given(
    tmp_path: Path,
) -> None:
    given = {"TF_CONFIG": '{"task": {"index": 1}}', "TF_GPU_ALLOCATOR": "cuda_malloc_async"}
    shown = tmp_path / "shown.json"
    script = f"""
import json, os, sys
from pathlib import Path
from gpupanel.trainer import __main__ as trainer, process
from gpupanel.trainer.downloads import keras_cache
keras_cache.run_needs_download = lambda root: True
process.fetch_for_run = lambda root: None
trainer.handed_over = object
trainer.start_heartbeat = lambda root: None
said = "import json, os; json.dump(dict(os.environ), open({str(shown)!r}, 'w'))"
trainer.python_module_command = lambda *_: (sys.executable, "-c", said)
trainer.main(Path("run"))
"""
    environment = {**os.environ, **given}
    subprocess.run([sys.executable, "-P", "-c", script], env=environment, check=True, timeout=120)
    kept = json.loads(shown.read_text())
    assert {name: kept.get(name) for name in given} == given


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_workers_download_once_and_train_in_a_network_of_their_own(
    runs_dir: Path, keras_home: Path, server: _Server
) -> None:
    layout = run_of_two(runs_dir)
    seen: dict[int, bool] = {}
    command = (sys.executable, "-P", str(FETCHING_TRAINER))
    supervisor = Supervisor(layout, command)
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    while thread.is_alive():
        if layout.events.exists():
            for event in all_events(layout):
                if isinstance(event, TrainerStarted):
                    seen[event.pid] = seen.get(event.pid, False) or is_in_own_network(event.pid)
        thread.join(0.1)

    events = all_events(layout)
    assert isinstance(events[-1], RunEnded)
    assert events[-1].outcome is Outcome.COMPLETED, events[-1].problem
    assert server.asked == ["/mnist.npz"]
    reported = [event for event in events if isinstance(event, DownloadProgressed)]
    assert reported[-1].bytes_done == reported[-1].bytes_total
    assert list(seen.values()) == [True, True]


@pytest.mark.tensorflow
def test_that_a_download_that_fails_is_reported_before_tensorflow_is_read(
    runs_dir: Path, keras_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVED_MNIST", "http://127.0.0.1:9/mnist.npz")
    layout = run_of_two(runs_dir)
    assert Supervisor(layout, (sys.executable, "-P", str(FETCHING_TRAINER))).run() is Outcome.FAILED
    end = all_events(layout)[-1]
    assert isinstance(end, RunEnded)
    assert end.problem is not None
    assert end.problem.code == "data_download_failed"
    assert "importing_tensorflow" not in layout.events.read_text()

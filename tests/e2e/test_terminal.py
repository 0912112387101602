"""The terminal from a profile to a trained model: the real command, the real TensorFlow."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from gpupanel.domain.events import DataReady, StepsDone, TrainerStarted
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.follower import RunFollower
from tests.forked import terminal as forked
from tests.forked.processes import run_forked
from tests.forked.terminal import answered
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.tensorflow

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "resources" / "profiles" / "digits.toml"
LONG_RUN = """
schema_version = 1
name = "a long run"
[devices]
visible = ["cpu"]
[data]
source = "digits"
[training]
epochs = 100000
checkpoint_every_epochs = 0
"""


def gpupanel(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gpupanel", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def codes(document: dict[str, Any]) -> set[str]:
    return {problem["code"] for problem in document["problems"]}


@pytest.fixture
def long_run(tmp_path: Path) -> Path:
    path = tmp_path / "long.toml"
    path.write_text(LONG_RUN)
    return path


def started_run(runs_dir: Path) -> RunLayout:
    """The one run in the folder, once it is there."""
    end_s = time.monotonic() + PATIENCE_S
    while not (found := list(runs_dir.glob("*"))):
        assert time.monotonic() < end_s, "no run was started"
        time.sleep(0.05)
    return RunLayout(found[0])


def wait_for_event(layout: RunLayout, kind: type[Any]) -> Any:
    follower, end_s = RunFollower(layout), time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        for event in follower.poll().events:
            if isinstance(event, kind):
                return event
        time.sleep(0.05)
    raise AssertionError(f"no {kind.__name__}: {layout.trainer_log.read_text()}")


def test_that_the_digits_train_on_two_replicas_to_095(runs_dir: Path) -> None:
    completed = gpupanel("run", DIGITS, "--json")
    assert completed.returncode == 0, completed.stderr
    document = answered(completed)
    assert document["outcome"] == "completed"
    assert document["metrics"]["val_accuracy"] >= 0.95
    assert set(document["metrics"]) >= {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert document["examples_per_second"] > 0
    layout = RunLayout(Path(document["run"]))
    assert layout.root.parent == runs_dir
    for path in (layout.profile, layout.plan, layout.events, layout.telemetry, layout.model):
        assert path.stat().st_size > 0, path
    assert list(layout.checkpoints.iterdir())
    assert list(layout.tensorboard.rglob("*tfevents*"))
    assert _accuracy_in_plain_keras(layout) >= 0.95
    listed = answered(forked.gpupanel("runs", "--json"))["runs"]
    assert [run["outcome"] for run in listed] == ["completed"]


def _accuracy_in_plain_keras(layout: RunLayout) -> float:
    script = (
        "import keras\n"
        "from sklearn.datasets import load_digits\n"
        f"model = keras.models.load_model({str(layout.model)!r})\n"
        "x, y = load_digits(return_X_y=True)\n"
        "found = model.predict(x.reshape(-1, 8, 8), verbose=0).argmax(axis=1)\n"
        "print((found == y).mean())\n"
    )
    completed = run_forked(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return float(completed.stdout.splitlines()[-1])


@pytest.mark.long
def test_that_the_exported_script_trains_the_same_without_gpupanel(tmp_path: Path) -> None:
    profile = tmp_path / "uneven.toml"
    text = DIGITS.read_text().replace('shares = "equal"', "shares = [48, 16]")
    profile.write_text(text.replace("epochs = 30", "epochs = 3"))
    script = tmp_path / "uneven.py"
    assert forked.gpupanel("export", profile, "-o", script).returncode == 0
    assert "import gpupanel" not in script.read_text()
    completed = run_forked(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    words = completed.stdout.splitlines()[-1].split()
    metrics = answered(forked.gpupanel("run", profile, "--json"))["metrics"]
    assert float(words[3]) == pytest.approx(metrics["loss"], rel=1e-4)
    assert float(words[-1]) == pytest.approx(metrics["val_accuracy"], abs=1e-6)
    assert (tmp_path / "model.keras").stat().st_size > 0


def test_that_what_the_test_set_showed_stands_at_the_end_of_a_run(
    tmp_path: Path, runs_dir: Path
) -> None:
    for folder, count in (("pictures", 6), ("test", 4)):
        for brightness, name in ((40, "cat"), (200, "dog")):
            (tmp_path / folder / name).mkdir(parents=True)
            for number in range(count):
                image = Image.new("RGB", (4, 4), (brightness + number,) * 3)
                image.save(tmp_path / folder / name / f"{number}.png")
    profile = tmp_path / "tested.toml"
    profile.write_text(
        '[devices]\nvisible = ["cpu"]\n[data]\nsource = "images"\npath = "pictures"\n'
        'test_path = "test"\nimage_size = [4, 4]\n[training]\nepochs = 2\nglobal_batch_size = 4\n'
    )
    printed = forked.gpupanel("run", profile)
    assert printed.returncode == 0, printed.stderr
    words = printed.stdout.split()
    (summary,) = answered(forked.gpupanel("runs", "--json"))["runs"]
    metrics = summary["metrics"]
    assert words[words.index("test_loss") + 1] == f"{metrics['test_loss']:.4f}"
    assert words[words.index("test_accuracy") + 1] == f"{metrics['test_accuracy']:.4f}"
    assert metrics["test_accuracy"] * 8 == pytest.approx(round(metrics["test_accuracy"] * 8))
    assert metrics["val_loss"] is None
    listed = forked.gpupanel("runs").stdout
    assert f"{metrics['test_loss']:.4f}" in listed
    (layout,) = map(RunLayout, runs_dir.iterdir())
    ready = next(
        event for event in RunFollower(layout).poll().events if isinstance(event, DataReady)
    )
    assert (ready.training_examples, ready.validation_examples, ready.test_examples) == (12, 0, 8)


def test_that_a_bad_profile_is_refused_with_all_five_mistakes(
    tmp_path: Path, runs_dir: Path
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(
        'bogus = 1\n[devices]\ncpu_replica = 2\n[strategy]\nkind = "mirored"\n'
        '[data]\nsource = "npz"\n[training]\nepochs = 0\n'
    )
    checked = forked.gpupanel("check", path, "--json")
    assert checked.returncode == 1
    assert len(answered(checked)["problems"]) == 5
    assert answered(checked)["plan"] is None
    refused = forked.gpupanel("run", path)
    assert refused.returncode == 2
    for field in ("bogus", "devices.cpu_replica", "strategy.kind", "data.path", "training.epochs"):
        assert field in refused.stderr
    assert not runs_dir.exists()


def test_that_check_says_what_would_happen() -> None:
    completed = forked.gpupanel("check", DIGITS, "--json")
    assert completed.returncode == 0
    document = answered(completed)
    assert document["ok"]
    assert [replica["share"] for replica in document["plan"]["replicas"]] == [32, 32]


def test_that_check_reports_a_data_file_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[devices]\nvisible = ["cpu"]\n[data]\nsource = "npz"\npath = "gone.npz"\n')
    completed = forked.gpupanel("check", path, "--json")
    assert completed.returncode == 1
    assert codes(answered(completed)) == {"data_file_missing"}


def test_that_a_run_whose_data_is_missing_fails_with_the_same_sentence(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[devices]\nvisible = ["cpu"]\n[data]\nsource = "npz"\npath = "gone.npz"\n')
    completed = forked.gpupanel("run", path, "--json")
    assert completed.returncode == 1
    document = answered(completed)
    assert document["outcome"] == "failed"
    assert document["problem"]["code"] == "data_file_missing"
    assert "gone.npz" in completed.stderr or "gone.npz" in document["problem"]["message"]


@contextmanager
def terminal_for(profile: Path, on_interrupt: Any) -> Iterator[subprocess.Popen[str]]:
    """A terminal in which a profile is run; whatever becomes of the test, it ends with it.

    Args:
        profile: What it runs.
        on_interrupt: What it does at its start about SIGINT. A process hands on that it ignores
            one, and ``make test &`` in a script has all of them ignore it.
    """
    terminal = subprocess.Popen(
        [sys.executable, "-m", "gpupanel", "run", str(profile), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, on_interrupt),
    )
    try:
        yield terminal
    finally:
        terminal.kill()
        terminal.communicate()


@pytest.mark.long
def test_that_ctrl_c_stops_the_run_and_saves(long_run: Path, runs_dir: Path) -> None:
    with terminal_for(long_run, signal.default_int_handler) as terminal:
        layout = started_run(runs_dir)
        wait_for_event(layout, StepsDone)
        terminal.send_signal(signal.SIGINT)
        out, err = terminal.communicate(timeout=PATIENCE_S)
    assert terminal.returncode == 130, err
    assert json.loads(out)["outcome"] == "stopped"
    assert layout.model.exists()


@pytest.mark.slow  # tests/ui/test_app.py tries a window that was started so
def test_that_ctrl_c_is_not_for_a_terminal_that_was_started_in_the_background(
    long_run: Path, runs_dir: Path
) -> None:
    with terminal_for(long_run, signal.SIG_IGN) as terminal:
        layout = started_run(runs_dir)
        wait_for_event(layout, StepsDone)
        terminal.send_signal(signal.SIGINT)
        time.sleep(1.0)
        assert not list(layout.requests.iterdir())
        assert forked.gpupanel("stop", layout.name).returncode == 0
        out, err = terminal.communicate(timeout=PATIENCE_S)
    assert terminal.returncode == 130, err
    assert json.loads(out)["outcome"] == "stopped"
    assert layout.model.exists()


@pytest.mark.slow  # tests/unit/cli/test_run_watcher.py says the same of what the terminal does
def test_that_ctrl_c_twice_stops_the_run_and_saves_all_the_same(
    long_run: Path, runs_dir: Path
) -> None:
    with terminal_for(long_run, signal.default_int_handler) as terminal:
        layout = started_run(runs_dir)
        wait_for_event(layout, StepsDone)
        for _ in range(2):
            terminal.send_signal(signal.SIGINT)
            time.sleep(0.15)
        out, err = terminal.communicate(timeout=PATIENCE_S)
    assert terminal.returncode == 130, err
    answer = json.loads(out)
    assert answer["outcome"] == "stopped"
    assert (answer["saved"]["model"], answer["saved"]["unsaved_steps"]) == (True, 0)
    assert layout.model.exists()


def test_that_a_run_goes_on_when_what_started_it_is_killed_and_stops_when_asked(
    long_run: Path, runs_dir: Path
) -> None:
    terminal = subprocess.Popen(
        [sys.executable, "-m", "gpupanel", "run", str(long_run)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    layout = started_run(runs_dir)
    wait_for_event(layout, StepsDone)
    terminal.kill()
    terminal.wait()
    killed_s = time.time()
    follower, end_s = RunFollower(layout), time.monotonic() + PATIENCE_S
    while not any(
        isinstance(event, StepsDone) and event.time_s > killed_s + 0.5
        for event in follower.poll().events
    ):
        assert time.monotonic() < end_s, "no step after the kill"
        time.sleep(0.05)
    assert answered(forked.gpupanel("runs", "--json"))["runs"][0]["is_running"]
    assert answered(gpupanel("stop", layout.name, "--json"))["asked"]
    watched = forked.gpupanel("watch", layout.name, "--json")
    assert watched.returncode == 130
    assert answered(watched)["outcome"] == "stopped"
    assert layout.model.exists()
    assert not answered(forked.gpupanel("stop", layout.name, "--json"))["asked"]


def test_that_a_detached_run_goes_on_alone_and_its_killed_trainer_is_reported_in_a_sentence(
    long_run: Path,
) -> None:
    started = gpupanel("run", long_run, "--detach", "--json")
    assert started.returncode == 0
    layout = RunLayout(Path(answered(started)["run"]))
    wait_for_event(layout, StepsDone)
    assert answered(forked.gpupanel("runs", "--json"))["runs"][0]["is_running"]
    psutil.Process(wait_for_event(layout, TrainerStarted).pid).kill()
    watched = forked.gpupanel("watch", layout.name)
    assert watched.returncode == 1
    assert "The trainer was killed by SIGKILL" in watched.stderr
    assert "Traceback" not in watched.stderr


def test_that_a_stop_during_start_up_ends_the_run_in_seconds(long_run: Path) -> None:
    layout = RunLayout(Path(answered(gpupanel("run", long_run, "--detach", "--json"))["run"]))
    wait_for_event(layout, TrainerStarted)
    forked.gpupanel("stop", layout.name)
    begun_s = time.monotonic()
    watched = forked.gpupanel("watch", layout.name, "--json")
    assert time.monotonic() - begun_s < 10.0
    assert answered(watched)["outcome"] == "stopped"
    assert watched.returncode == 130


def test_that_a_run_that_is_not_there_is_reported() -> None:
    completed = forked.gpupanel("watch", "nothing")
    assert completed.returncode == 1
    assert "There is no run nothing." in completed.stderr


def test_that_devices_always_lists_the_cpu() -> None:
    document = answered(forked.gpupanel("devices", "--json"))
    assert set(document) == {"driver", "devices", "unresponsive"}
    cpu = document["devices"][-1]
    assert (cpu["key"], cpu["kind"], cpu["state"]) == ("cpu", "cpu", "ok")
    assert cpu["memory_total_mib"] > 0
    assert {
        "memory_used_mib",
        "gpu_utilization_percent",
        "temperature_c",
        "power_w",
        "processes",
        "name",
    } <= set(cpu)


def test_that_without_a_display_it_says_so(tmp_path: Path) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    completed = subprocess.run(
        [sys.executable, "-m", "gpupanel"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 1
    assert "display" in completed.stderr
    assert "Traceback" not in completed.stderr

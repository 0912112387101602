"""Python code that a profile names: nothing but a run that somebody trusts carries it out."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from gpupanel.domain.data import DigitsData, PythonData
from gpupanel.domain.events import RunEnded, RunStarted, encode_event
from gpupanel.domain.model import MlpModel, PythonModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from gpupanel.runs.launcher import create_run, launch, resume
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.processes.trainer_process import start_trainer
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.queue.orders import add
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.supervision import local_gang
from gpupanel.runs.trust.trusted import CodeNotTrustedError, trust, trusted_file
from gpupanel.runs.trust.user_code import code_of_profile
from gpupanel.ui.run_state import RunState
from tests.fakes.devices import CPU_ONLY
from tests.forked import terminal

_DATA = """
from pathlib import Path
Path({marker!r}).touch()
import numpy

def load():
    numbers = numpy.arange(64.0).reshape(32, 2)
    return numbers, (numbers[:, 0] > 30).astype(int)
"""
_MODEL = """
from pathlib import Path
Path({marker!r}).touch()

def build_model(input_shape, outputs):
    layers = []
    return layers[outputs]
"""


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """The file that the code makes as soon as anything carries it out."""
    return tmp_path / "carried out"


@pytest.fixture
def profile_file(tmp_path: Path, marker: Path) -> Path:
    (tmp_path / "data.py").write_text(_DATA.format(marker=str(marker)))
    (tmp_path / "model.py").write_text(_MODEL.format(marker=str(marker)))
    path = tmp_path / "profile.toml"
    write_profile(
        path,
        Profile(
            devices=DeviceSettings(visible=("cpu",)),
            data=PythonData(path=str(tmp_path / "data.py")),
            model=PythonModel(path=str(tmp_path / "model.py")),
            training=TrainingSettings(epochs=1, tensorboard=False),
        ),
    )
    return path


def gpupanel(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return terminal.gpupanel(*arguments, CUDA_VISIBLE_DEVICES="-1")


def problems(done: subprocess.CompletedProcess[str]) -> list[tuple[str, str, str]]:
    told = json.loads(done.stdout)["problems"]
    return sorted((each["code"], each["severity"], each["field"]) for each in told)


def test_that_checking_warns_and_neither_it_nor_planning_nor_a_look_carries_code_out(
    profile_file: Path, marker: Path
) -> None:
    checked = gpupanel("check", profile_file, "--json")
    assert checked.returncode == 0
    assert problems(checked) == [
        ("code_not_trusted", "warning", "data.path"),
        ("code_not_trusted", "warning", "model.path"),
    ]
    assert "--trust" in checked.stdout

    profile = read_profile(profile_file)
    seen = preview_data(preview_request(profile))
    assert (seen.needs_start, seen.problems) == (True, ())
    assert prepare(profile, CPU_ONLY, Known(preview=seen)).plan is not None
    exported = gpupanel(
        "export", profile_file, "-o", profile_file.with_name("exported.py"), "--json"
    )
    assert problems(exported) == [
        ("code_not_trusted", "error", "data.path"),
        ("code_not_trusted", "error", "model.path"),
    ]
    assert not marker.exists()


def test_that_starting_resuming_and_queueing_refuse_code_that_nobody_trusted(
    profile_file: Path, marker: Path, runs_dir: Path
) -> None:
    profile = read_profile(profile_file)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    with pytest.raises(CodeNotTrustedError):
        launch(profile, plan, runs_dir)
    with pytest.raises(CodeNotTrustedError):
        add(QueueFiles(queue_dir()), profile, runs_dir)
    refused = gpupanel("run", profile_file, "--json")
    assert refused.returncode == 1
    assert [code for code, _, _ in problems(refused)] == ["code_not_trusted"] * 2
    assert not runs_dir.exists() or not list(runs_dir.iterdir())

    trust(code_of_profile(profile))
    layout = create_run(profile, plan, runs_dir)
    (layout.checkpoints / "step-000000001").mkdir(parents=True)
    told = (
        RunStarted(time_s=1.0, supervisor_pid=1),
        RunEnded(time_s=2.0, outcome=Outcome.STOPPED, exit_code=0),
    )
    layout.events.write_text("".join(f"{encode_event(event)}\n" for event in told))
    trusted_file().unlink()  # as on the machine of whoever is given the run's directory
    with pytest.raises(ProblemError) as caught:
        resume(layout)
    assert {problem.code for problem in caught.value.problems} == {"code_not_trusted"}
    assert not marker.exists()


def test_that_code_that_is_trusted_runs_and_its_error_is_reported_with_file_and_line(
    profile_file: Path, marker: Path, runs_dir: Path
) -> None:
    done = gpupanel("run", profile_file, "--trust", "--json", "--runs-dir", runs_dir)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["outcome"]) == (1, "failed")
    model = profile_file.with_name("model.py")
    assert answer["problem"]["code"] == "user_code_failed"
    assert answer["problem"]["message"] == (
        f"{model} failed in line 7, in build_model: IndexError: list index out of range"
    )
    assert "return layers[outputs]" in answer["problem"]["detail"]
    assert marker.exists()
    layout = RunLayout(Path(answer["run"]))
    assert layout.model_code.read_text() == model.read_text()
    assert layout.data_code.exists()


def test_that_a_run_of_bundled_data_executes_nothing_that_is_swapped_in_before_its_trainer_starts(
    profile_file: Path, marker: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = read_profile(profile_file)
    write_profile(
        profile_file, foreign.model_copy(update={"data": DigitsData(), "model": MlpModel()})
    )

    def swap_and_start(layout: RunLayout, *arguments: Any) -> Any:
        layout.code.mkdir()
        for place, name in ((layout.data_code, "data.py"), (layout.model_code, "model.py")):
            place.write_bytes(profile_file.with_name(name).read_bytes())
        layout.profile.write_text(dump_profile(foreign))
        return start_trainer(layout, *arguments)

    monkeypatch.setattr(local_gang, "start_trainer", swap_and_start)
    done = gpupanel("run", profile_file, "--json", "--runs-dir", runs_dir)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["outcome"]) == (1, "failed")
    assert answer["problem"]["code"] == "run_file_changed"
    assert answer["problem"]["message"].startswith("profile.toml in the run's folder was changed")
    assert not marker.exists()


def test_that_code_that_builds_another_model_each_time_ends_before_an_epoch(
    profile_file: Path, tmp_path: Path, runs_dir: Path
) -> None:
    (tmp_path / "model.py").write_text(
        "import keras, os\n\n"
        "def build_model(input_shape, outputs):\n"
        "    factor = 1.0 + int.from_bytes(os.urandom(2), 'big')\n"
        "    layers = [keras.layers.Rescaling(factor), keras.layers.Dense(outputs)]\n"
        "    return keras.Sequential([keras.Input(input_shape), *layers])\n"
    )
    done = gpupanel("run", profile_file, "--trust", "--json")
    assert json.loads(done.stdout)["outcome"] == "failed"
    (events,) = [RunLayout(each).events.read_text() for each in runs_dir.glob("*")]
    assert '"user_code_model_misfit"' in events
    assert '"epoch_done"' not in events


def test_that_the_window_carries_nothing_out_before_a_person_agrees(
    qtbot, window, person, profile_file, marker
):
    window.open_target(profile_file)
    qtbot.waitUntil(
        lambda: window.session.prepare_now().plan is not None and window.session.buttons.start,
        timeout=10_000,
    )
    qtbot.waitUntil(lambda: "executed only by a run" in _preview_sentence(window), timeout=20_000)
    with qtbot.waitSignal(window.control.doubted, timeout=10_000):
        window.control.start()
    qtbot.waitUntil(lambda: window.session.run_state is RunState.IDLE, timeout=5_000)

    assert [[code.key for code in asked] for asked in person.codes] == [["model.path", "data.path"]]
    assert not marker.exists()


def _preview_sentence(window) -> str:
    return window.session_page.data.findChild(QLabel, "preview_state").text()

"""`gpupanel fit-batch PROFILE`: which batches fit, for people and for scripts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import fit_batch as fit_batch_module
from gpupanel.domain.batch_fit import BatchFit, BatchProgress, BatchSpeed, DeviceBatch
from gpupanel.domain.batch_search import BatchTrial, SearchEnd
from gpupanel.domain.model import saved_model
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.readiness import Machine
from tests.fakes.devices import CPU_ONLY

TRIALS = (
    BatchTrial(examples=64, fits=True, step_seconds=0.1, examples_per_second=640, peak_mib=100.4),
    BatchTrial(examples=256, fits=False),
    BatchTrial(examples=128, fits=True, step_seconds=0.2, examples_per_second=600, peak_mib=200),
)
DEVICE = DeviceBatch(
    device="cpu",
    replicas=2,
    room_mib=1024,
    trials=TRIALS,
    largest=128,
    fastest=64,
    peak_mib=200.0,
    estimated_mib=250.0,
    ratio=0.8,
    seconds=12.3,
    stopped=SearchEnd.TIME,
)
FOUND = BatchFit(
    devices=(DEVICE,),
    largest_batch=256,
    shares=(128, 128),
    fastest_batch=128,
    speeds=(
        BatchSpeed(global_batch_size=128, examples_per_second=1280),
        BatchSpeed(global_batch_size=256, examples_per_second=1200),
    ),
)


def asked(tmp_path: Path, profile: Profile, *options: str) -> tuple[int, str]:
    path = tmp_path / "p.toml"
    write_profile(path, profile)
    answer = CliRunner().invoke(app, ["fit-batch", str(path), *options], env={"COLUMNS": "200"})
    return answer.exit_code, answer.output


@pytest.fixture
def profile(monkeypatch: pytest.MonkeyPatch) -> Profile:
    monkeypatch.setattr(fit_batch_module, "read_machine", lambda: Machine(CPU_ONLY))
    return Profile(devices=DeviceSettings(visible=("cpu",)))


def test_that_what_fits_is_a_table_and_one_json_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    seconds = []

    def find(_: Profile, __: Machine, given: float, *, on_progress: object) -> BatchFit:
        seconds.append(given)
        for examples in (0, 64):
            on_progress(BatchProgress(device="cpu", examples=examples, largest=examples))  # type: ignore[operator]
        return FOUND

    monkeypatch.setattr(fit_batch_module, "find_batches", find)
    status, text = asked(tmp_path, profile)
    assert status == 0
    lines = [line.split() for line in text.splitlines()]
    assert ["64", "yes", "640", "100"] in lines
    assert ["128", "yes", "600", "200"] in lines
    assert any(line[:2] == ["256", "no"] for line in lines)
    assert ["256", "1,200"] in lines
    words = " ".join(text.split())  # a terminal wraps
    assert "more may fit" in words
    assert words.endswith(
        "A global batch of at least 256 fits. The fastest one that was tried is 128, with "
        "1,280 ex/s."
    )
    status, text = asked(tmp_path, profile, "--json", "--seconds", "5")
    assert (status, BatchFit.model_validate(json.loads(text))) == (0, FOUND)
    assert seconds == [60.0, 5.0]
    document = json.loads(text)
    assert {"devices", "largest_batch", "fastest_batch", "shares", "problems"} <= set(document)
    assert {"device", "largest", "fastest", "ratio", "trials"} <= set(document["devices"][0])


def test_that_finding_none_is_an_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    problem = Problem(code="a", message="No data.")
    for answer, words in (
        (BatchFit(), "No batch could be tried"),
        (BatchFit(largest_batch=0), "Not even one"),
        (BatchFit(problems=(problem,)), "No data"),
        (BatchFit(needs_start=True), "Python code"),
    ):
        monkeypatch.setattr(fit_batch_module, "find_batches", lambda *_, found=answer, **__: found)
        status, text = asked(tmp_path, profile)
        assert status == 1
        assert words in text


def test_that_ctrl_c_is_an_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    def interrupt(*_: object, **__: object) -> BatchFit:
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_batch_module, "find_batches", interrupt)
    assert asked(tmp_path, profile)[0] == 130


def test_that_a_model_that_is_not_trained_is_refused(tmp_path: Path) -> None:
    evaluating = Profile(task="evaluate", model=saved_model("m.keras"))
    status, text = asked(tmp_path, evaluating, "--json")
    assert status == 2
    assert "fit_batch_without_training" in text


@pytest.mark.parametrize("seconds", ["0", "nan", "1e9"])
def test_that_a_time_out_of_bounds_is_refused(tmp_path: Path, seconds: str) -> None:
    assert asked(tmp_path, Profile(), "--seconds", seconds)[0] == 2

"""``run --allocated`` and ``run --run-name``, as the job of a batch system calls them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from gpupanel.cli import continued_run
from gpupanel.cli.app import app
from gpupanel.cli.verbs import run as run_verb
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.runs.directory.profile_file import read_run_profile, write_profile
from tests.fakes.run_directory import WrittenRun
from tests.nvml.standin import Standin

pytestmark = pytest.mark.timeout(60)

ELSEWHERE = Profile(
    name="from a workstation",
    devices=DeviceSettings(visible=("GPU-of-the-workstation",)),
    memory={"GPU-of-the-workstation": LimitedMemory(limit_mib=2048)},
    strategy=StrategySettings(kind=StrategyKind.MIRRORED),
)
ON_CPU = Profile(devices=DeviceSettings(visible=("cpu",)))


class LaunchedError(ProblemError):
    """Stands for what would go on."""

    def __init__(self, profile: Profile, plan: LaunchPlan, name: str | None) -> None:
        super().__init__(Problem(code="launched", message="Launched."))
        self.profile, self.plan, self.name = profile, plan, name


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[LaunchedError]:
    kept: list[LaunchedError] = []

    def launch(
        profile: Profile, plan: LaunchPlan, _: Path, name: str | None, *, outside_hours: bool
    ) -> RunLayout:
        assert not outside_hours
        kept.append(LaunchedError(profile, plan, name))
        raise kept[-1]

    monkeypatch.setattr(run_verb, "launch", launch)
    return kept


def run(profile: Profile, folder: Path, *options: str) -> Result:
    path = folder / "p.toml"
    write_profile(path, profile)
    return CliRunner().invoke(app, ["run", str(path), *options, "--json"])


def problem_of(result: Result) -> dict[str, Any]:
    problem = json.loads(result.stdout)["problems"][0]
    assert isinstance(problem, dict)
    return problem


def test_that_the_run_is_planned_on_the_gpu_that_the_job_was_given(
    nvml_in_process: Standin,
    launched: list[LaunchedError],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    run(ELSEWHERE, tmp_path, "--allocated", "--run-name", "job-7")
    (started,) = launched
    (device,) = started.plan.devices
    assert started.profile.devices.visible == (device.key,)
    assert started.profile.memory == {device.key: LimitedMemory(limit_mib=2048)}
    assert started.plan.environment["CUDA_VISIBLE_DEVICES"] == device.key
    assert device.logical_limits_mib == (2048,)
    assert started.name == "job-7"
    # Without, the profile means its own GPU, which is not here.
    refused = run(ELSEWHERE, tmp_path)
    assert (refused.exit_code, problem_of(refused)["code"]) == (2, "device_not_found")


def test_that_a_job_without_a_gpu_ends_with_what_to_ask_for(
    launched: list[LaunchedError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    refused = run(ELSEWHERE, tmp_path, "--allocated")
    assert (refused.exit_code, problem_of(refused)["code"]) == (2, "gpus_not_allocated")
    assert not launched


def test_that_a_name_that_no_run_can_have_is_refused(
    launched: list[LaunchedError], tmp_path: Path
) -> None:
    refused = run(ON_CPU, tmp_path, "--run-name", "../job")
    assert (refused.exit_code, problem_of(refused)["code"]) == (1, "run_name_unusable")
    assert not launched


@pytest.fixture
def suspended(runs_dir: Path) -> RunLayout:
    written = WrittenRun(runs_dir, ON_CPU)
    written.end(Outcome.SUSPENDED)
    return written.layout


@pytest.fixture
def resumed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Profile, LaunchPlan] | None]:
    kept: list[tuple[Profile, LaunchPlan] | None] = []

    def resume(
        _: RunLayout, changed: tuple[Profile, LaunchPlan] | None, *, outside_hours: bool
    ) -> None:
        assert not outside_hours
        kept.append(changed)

    monkeypatch.setattr(continued_run, "resume", resume)
    return kept


def test_that_a_run_of_that_name_is_continued_as_it_was(
    suspended: RunLayout,
    resumed: list[tuple[Profile, LaunchPlan] | None],
    launched: list[LaunchedError],
    tmp_path: Path,
) -> None:
    other = ON_CPU.model_copy(update={"name": "whatever the file says by now"})
    run(other, tmp_path, "--run-name", suspended.root.name)
    assert (resumed, launched) == ([None], [])


def test_that_it_is_continued_on_the_gpu_that_the_job_has_this_time(
    nvml_in_process: Standin,
    runs_dir: Path,
    resumed: list[tuple[Profile, LaunchPlan] | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    written = WrittenRun(runs_dir, Profile(name="on every GPU there is"))
    written.end(Outcome.SUSPENDED)
    run(ELSEWHERE, tmp_path, "--allocated", "--run-name", written.layout.root.name)
    (changed,) = resumed
    assert changed is not None
    (device,) = changed[1].devices
    assert changed[0].devices.visible == (device.key,)
    assert changed[0].training == read_run_profile(written.layout).training


def test_that_a_run_that_has_come_to_its_end_is_not_started_again(
    runs_dir: Path,
    resumed: list[tuple[Profile, LaunchPlan] | None],
    launched: list[LaunchedError],
    tmp_path: Path,
) -> None:
    written = WrittenRun(runs_dir, ON_CPU)
    written.end(Outcome.COMPLETED)
    again = run(ON_CPU, tmp_path, "--allocated", "--run-name", written.layout.root.name)
    assert (again.exit_code, json.loads(again.stdout)["outcome"]) == (0, "completed")
    assert (resumed, launched) == ([], [])


def test_that_a_run_whose_profile_cannot_be_read_is_said(
    suspended: RunLayout, resumed: list[tuple[Profile, LaunchPlan] | None], tmp_path: Path
) -> None:
    suspended.profile.write_text("no profile")
    refused = run(ON_CPU, tmp_path, "--run-name", suspended.root.name)
    assert (refused.exit_code, problem_of(refused)["code"]) == (1, "profile_not_toml")
    assert not resumed

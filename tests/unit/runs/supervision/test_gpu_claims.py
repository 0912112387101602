"""The claims of a run: which GPUs, until about when, and what becomes of them."""

import json
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.gpu_claims import FOLDER_VARIABLE
from gpupanel.planning.prepare import prepare
from gpupanel.runs.launcher import create_run
from gpupanel.runs.supervision import gpu_claims
from gpupanel.runs.supervision.gpu_claims import INTERVAL_S, GpuClaims
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.trainer import ENOUGH
from tests.patience import wait_until

FAKE_TRAINER = Path(__file__).parents[3] / "fakes" / "trainer.py"


class Clock:
    """One for both: the time of day, and a clock that only grows."""

    def __init__(self) -> None:
        self.now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "claims"
    made.mkdir()
    made.chmod(0o1777)
    return made


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def claims(folder: Path, clock: Clock) -> GpuClaims:
    return GpuClaims(folder, clock, clock)


def plan_on(*keys: str) -> LaunchPlan:
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    profile = Profile(devices=DeviceSettings(visible=keys), strategy=mirrored)
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    return plan


BOTH = plan_on(RTX_4090.key, RTX_3060.key)


def written(folder: Path) -> dict[str, dict[str, Any]]:
    found = (json.loads(file.read_bytes()) for file in folder.iterdir())
    return {each["gpu"]: each for each in found}


def test_that_each_gpu_of_a_plan_is_held_and_then_let_go(folder: Path, claims: GpuClaims) -> None:
    claims.hold(BOTH)
    assert set(written(folder)) == {RTX_4090.key, RTX_3060.key}
    claims.release()
    assert written(folder) == {}
    claims.release()


def test_that_a_run_on_the_processor_holds_nothing(folder: Path, claims: GpuClaims) -> None:
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    claims.hold(plan)
    claims.expect_end(5.0)
    assert written(folder) == {}


def test_that_a_run_that_goes_on_with_fewer_gpus_lets_the_others_go(
    folder: Path, claims: GpuClaims, clock: Clock
) -> None:
    claims.hold(BOTH)
    clock.now_s += 60.0
    claims.hold(plan_on(RTX_3060.key))
    assert set(written(folder)) == {RTX_3060.key}
    assert written(folder)[RTX_3060.key]["since_s"] == 1_000_000.0
    claims.release()


def test_that_the_end_is_said_now_and_then(folder: Path, claims: GpuClaims, clock: Clock) -> None:
    claims.hold(BOTH)
    assert "until_s" not in written(folder)[RTX_4090.key]
    clock.now_s += INTERVAL_S
    claims.expect_end(600.0)
    until_s = clock.now_s + 600.0
    assert written(folder)[RTX_4090.key]["until_s"] == until_s
    clock.now_s += INTERVAL_S / 2.0
    claims.expect_end(900.0)
    assert written(folder)[RTX_4090.key]["until_s"] == until_s
    clock.now_s += INTERVAL_S / 2.0
    claims.expect_end(None)
    assert "until_s" not in written(folder)[RTX_4090.key]
    claims.release()


def test_that_an_end_beyond_all_calendars_is_not_said(
    folder: Path, claims: GpuClaims, clock: Clock
) -> None:
    """The first steps of a run that is forever may take a while."""
    claims.hold(BOTH)
    clock.now_s += INTERVAL_S
    claims.expect_end(1e300)
    assert set(written(folder)) == {RTX_4090.key, RTX_3060.key}
    assert "until_s" not in written(folder)[RTX_4090.key]
    claims.release()


def test_that_a_folder_that_is_made_during_the_run_is_found(
    folder: Path, claims: GpuClaims, clock: Clock
) -> None:
    folder.rmdir()
    claims.hold(BOTH)
    folder.mkdir()
    folder.chmod(0o1777)
    clock.now_s += INTERVAL_S
    claims.expect_end(None)
    assert set(written(folder)) == {RTX_4090.key, RTX_3060.key}
    claims.release()


def test_that_a_folder_that_is_made_anew_gets_the_claims_again(
    folder: Path, claims: GpuClaims, clock: Clock
) -> None:
    claims.hold(BOTH)
    shutil.rmtree(folder)
    folder.mkdir()
    folder.chmod(0o1777)
    clock.now_s += INTERVAL_S
    claims.expect_end(60.0)
    assert set(written(folder)) == {RTX_4090.key, RTX_3060.key}
    claims.release()


def test_that_a_folder_that_cannot_serve_is_in_the_log_once_and_ends_no_run(
    folder: Path, claims: GpuClaims, clock: Clock, capfd: pytest.CaptureFixture[str]
) -> None:
    folder.chmod(0o777)
    claims.hold(BOTH)
    clock.now_s += INTERVAL_S
    claims.expect_end(60.0)
    claims.release()
    said = "".join(capfd.readouterr())
    assert said.count("other users are not told of its GPUs") == 1
    assert "not sticky" in said


def test_that_no_descriptor_is_left(folder: Path, claims: GpuClaims) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    claims.hold(BOTH)
    claims.hold(plan_on(RTX_3060.key))
    claims.release()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert list(folder.iterdir()) == []


def test_that_a_run_says_until_about_when_by_the_speed_of_its_steps(
    folder: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three epochs of a thousand steps, fifty a second: a minute."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    monkeypatch.setattr(gpu_claims, "INTERVAL_S", 0.1)
    layout = create_run(Profile(training=TrainingSettings(epochs=3)), BOTH, runs_dir)
    command = (sys.executable, "-P", str(FAKE_TRAINER), "train_to_an_end")
    outcomes: list[Outcome] = []
    begun_s = time.time()
    run = threading.Thread(target=lambda: outcomes.append(Supervisor(layout, command).run()))
    run.start()
    try:
        wait_until(lambda: any("until_s" in each for each in written(folder).values()))
        found = written(folder)
        assert set(found) == {RTX_4090.key, RTX_3060.key}
        assert begun_s + 50.0 < found[RTX_4090.key]["until_s"] < time.time() + 600.0
        assert begun_s <= found[RTX_4090.key]["since_s"] <= time.time()
    finally:
        (layout.root / ENOUGH).touch()
        run.join(timeout=60.0)
    assert outcomes == [Outcome.COMPLETED]
    assert list(folder.iterdir()) == []

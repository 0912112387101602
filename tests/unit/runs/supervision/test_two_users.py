"""Two users on one machine, as two uids: each sees the other's claim, and nothing else."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpupanel.files.gpu_claims import FOLDER_VARIABLE
from tests.fakes.trainer import ENOUGH
from tests.nvml.standin import RTX_3060, RTX_4090, TWO_UNEQUAL_GPUS, Standin
from tests.patience import wait_until

REPOSITORY = Path(__file__).parents[4]
ADA, BOB = 61_001, 61_002
"""Of no account: what they may do is what anybody may."""


@dataclass
class Training:
    """A run of a user."""

    process: subprocess.Popen[str]
    run: Path
    claim: Path


@dataclass(frozen=True)
class Lab:
    """A machine with two GPUs, a folder of claims, and a home for each user."""

    root: Path
    nvml: dict[str, str]

    @property
    def claims(self) -> Path:
        return self.root / "claims"

    def start(self, user: int, *arguments: str) -> "subprocess.Popen[str]":
        home = self.root / str(user)
        if not home.exists():
            home.mkdir(mode=0o700)
            os.chown(home, user, user)
        folders = {
            f"GPUPANEL_{name}_DIR": str(home / name.lower())
            for name in ("RUNS", "STATE", "CACHE", "CONFIG")
        }
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home),
            FOLDER_VARIABLE: str(self.claims),
            "PYTHONDONTWRITEBYTECODE": "1",
            **folders,
            **self.nvml,
        }
        return subprocess.Popen(
            (sys.executable, *arguments),
            user=user,
            group=user,
            extra_groups=(),
            cwd=REPOSITORY,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def answer(self, user: int, *arguments: str) -> str:
        with self.start(user, *arguments) as process:
            answer, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        return answer

    def devices(self, user: int) -> dict[str, Any]:
        answer = json.loads(self.answer(user, "-m", "gpupanel", "devices", "--json"))
        return {each["key"]: each for each in answer["devices"]}

    def claims_seen_by(self, user: int) -> dict[str, list[dict[str, Any]]]:
        return {key: each["claims"] for key, each in self.devices(user).items() if each["claims"]}

    def train(self, user: int, gpu: str) -> Training:
        before = set(self.claims.iterdir())
        process = self.start(user, "-m", "tests.fakes.lab_user", "train", gpu)
        assert process.stdout is not None
        run = Path(process.stdout.readline().strip())
        assert run.is_absolute(), process.communicate()[1]
        wait_until(lambda: (run / "events.jsonl").exists())
        wait_until(lambda: b"steps_done" in (run / "events.jsonl").read_bytes())
        (claim,) = set(self.claims.iterdir()) - before
        return Training(process, run, claim)


def why_not(lab: Lab) -> str:
    """Why another user cannot start gpupanel here; empty: they can."""
    code = "import gpupanel, sys, os; os.listdir(sys.argv[1])"
    try:
        started = lab.start(ADA, "-c", code, str(lab.root))
    except PermissionError as error:  # a Python below a home that is closed to others
        return str(error)
    _, said = started.communicate(timeout=60)
    return said if started.returncode else ""


@pytest.fixture
def lab(nvml_library: Path) -> Iterator[Lab]:
    if os.geteuid() != 0:
        pytest.skip("only root can be two users")
    root = Path(tempfile.mkdtemp(prefix="lab-"))
    root.chmod(0o755)
    claims = root / "claims"
    claims.mkdir()
    claims.chmod(0o1777)
    library = Path(shutil.copy(nvml_library, root))
    state = root / "nvml-state.txt"
    standin = Standin(library, state, TWO_UNEQUAL_GPUS)
    for file in (library, state):
        file.chmod(0o755)
    lab = Lab(root, standin.environment)
    if said := why_not(lab):
        shutil.rmtree(root)
        pytest.skip(f"other users cannot read this folder or its Python: {said[-200:]}")
    yield lab
    shutil.rmtree(root)


@pytest.fixture
def trainings(lab: Lab) -> Iterator[tuple[Training, Training]]:
    """Ada trains on one GPU, Bob on the other."""
    both = lab.train(ADA, RTX_4090.uuid), lab.train(BOB, RTX_3060.uuid)
    yield both
    for training in both:
        if training.process.poll() is None:
            (training.run / ENOUGH).touch()
        with suppress(subprocess.TimeoutExpired):
            training.process.communicate(timeout=30)
        training.process.kill()
        training.process.communicate()


def test_that_each_user_sees_the_claim_of_the_other_and_nothing_else(
    lab: Lab, trainings: tuple[Training, Training]
) -> None:
    ada, bob = trainings
    assert list(lab.claims_seen_by(ADA)) == [RTX_3060.uuid]
    (seen,) = lab.claims_seen_by(BOB)[RTX_4090.uuid]
    assert seen["user"] == str(ADA)
    assert seen["since_s"] == pytest.approx(ada.claim.stat().st_mtime, abs=60.0)
    assert lab.claims_seen_by(BOB).keys() == {RTX_4090.uuid}
    for training in (ada, bob):
        said = training.claim.read_text()
        assert training.run.name not in said
        assert str(lab.root) not in said
    table = lab.answer(BOB, "-m", "gpupanel", "devices")
    assert f"user {ADA}, since " in table
    assert f"user {BOB}, since " not in table


def test_that_nobody_ends_reads_or_changes_the_run_of_another_or_their_claim(
    lab: Lab, trainings: tuple[Training, Training]
) -> None:
    ada, _ = trainings
    arguments = (str(ada.run), str(ada.claim), str(ada.process.pid))
    worked = json.loads(lab.answer(BOB, "-m", "tests.fakes.lab_user", "attack", *arguments))
    assert worked == ["read the claim"]
    assert ada.process.poll() is None
    assert ada.claim.exists()
    assert lab.claims_seen_by(BOB).keys() == {RTX_4090.uuid}
    # What Bob has left in the folder is no claim of Ada's: he sees his own no more than before.
    assert lab.claims_seen_by(ADA).keys() == {RTX_3060.uuid}
    (ada.run / ENOUGH).touch()
    assert ada.process.wait(timeout=30) == 0


def test_that_a_claim_goes_with_its_run(lab: Lab, trainings: tuple[Training, Training]) -> None:
    ada, _ = trainings
    (ada.run / ENOUGH).touch()
    assert ada.process.wait(timeout=30) == 0
    assert not ada.claim.exists()
    assert lab.claims_seen_by(BOB) == {}


def test_that_a_run_whose_supervisor_is_killed_holds_nothing_at_once(
    lab: Lab, trainings: tuple[Training, Training]
) -> None:
    ada, _ = trainings
    os.kill(ada.process.pid, signal.SIGKILL)
    ada.process.wait(timeout=30)
    assert ada.claim.exists()
    assert lab.claims_seen_by(BOB) == {}
    (ada.run / ENOUGH).touch()


def test_that_without_the_folder_everything_is_as_it_was(lab: Lab) -> None:
    lab.claims.rmdir()
    process = lab.start(ADA, "-m", "tests.fakes.lab_user", "train", RTX_4090.uuid)
    assert process.stdout is not None
    run = Path(process.stdout.readline().strip())
    wait_until(lambda: (run / "events.jsonl").exists())
    assert lab.claims_seen_by(BOB) == {}
    (run / ENOUGH).touch()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said == ""
    assert not lab.claims.exists()

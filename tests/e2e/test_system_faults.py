"""Runs on file systems, and by a clock, that fail as real ones do: each fault has its own name."""

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.curves import CurveReader
from gpupanel.runs.history.summaries import summarize_run
from tests.forked.processes import child_processes

SOURCE = Path(__file__).parents[1] / "fakes" / "system_faults.c"
PROFILE = Path(__file__).parents[2] / "resources" / "profiles" / "digits.toml"

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or sys.platform != "linux", reason="gcc on Linux builds the faults"
)


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("faults") / "system_faults.so"
    command = ("gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl")
    subprocess.run(command, check=True)
    return library


@pytest.fixture
def folder(runs_dir: Path) -> Iterator[Path]:
    runs_dir.mkdir(exist_ok=True)
    yield runs_dir
    assert child_processes() == []


def started(
    verb: tuple[str, ...], faults: Path, folder: Path, **fault: int | str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", *verb],
        env=environment(faults, folder, **fault),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def environment(faults: Path, folder: Path, **fault: int | str) -> dict[str, str]:
    named = {f"SYSTEM_FAULTS_{name.upper()}": str(value) for name, value in fault.items()}
    return {
        **os.environ,
        "LD_PRELOAD": str(faults),
        "SYSTEM_FAULTS_UNDER": str(folder),
        "COLUMNS": "400",
        **named,
    }


def started_until_its_fault(
    profile: Path, begins: Path, faults: Path, folder: Path, **fault: int
) -> subprocess.Popen[str]:
    """A run whose fault has begun with its first checkpoint, and lasts while that file is there."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "gpupanel", "run", str(profile)],
        env=environment(faults, folder, **fault, **{"while": str(begins)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until_s = time.monotonic() + 120.0
    while not list(folder.glob("*/checkpoints/*")) and time.monotonic() < until_s:
        time.sleep(0.1)
    begins.touch()
    return process


def test_that_a_run_on_a_file_system_without_locks_is_refused_at_once_by_name(
    faults: Path, folder: Path
) -> None:
    begun_s = time.monotonic()
    done = started(("run", str(PROFILE)), faults, folder, locks=errno.ENOSYS)
    assert time.monotonic() - begun_s < 60.0
    assert done.returncode == 1
    assert f"The file system that holds {folder} has no locks (flock)" in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_that_every_way_to_have_no_locks_is_refused_and_found_by_the_doctor(
    number: int, faults: Path, folder: Path
) -> None:
    done = started(("run", str(PROFILE)), faults, folder, locks=number)
    assert "has no locks (flock)" in done.stderr
    checked = started(("check", str(PROFILE)), faults, folder, locks=number)
    assert checked.returncode == 1
    assert f"The file system that holds {folder} has no locks (flock)" in checked.stdout
    said = started(("doctor",), faults, folder, locks=number)
    assert f"The file system that holds {folder} has no locks (flock)" in said.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"writes": errno.EDQUOT}, "quota is used up"),
        ({"writes": errno.EIO}, "input/output error"),
        ({"writes": errno.EROFS}, "mounted read-only"),
        ({"writes": errno.EFBIG}, "larger than the largest"),
        ({"creates": errno.ENOSPC}, "There is no space left"),
        ({"creates": errno.EDQUOT}, "quota is used up"),
    ],
)
def test_that_a_fault_at_the_start_has_its_own_name(
    fault: dict[str, int], words: str, faults: Path, folder: Path
) -> None:
    done = started(("run", str(PROFILE)), faults, folder, **fault)
    assert done.returncode == 1
    assert words in done.stderr
    checked = started(("check", str(PROFILE)), faults, folder, **fault)
    assert checked.returncode == 1
    assert words in checked.stdout
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EFBIG, "larger than the largest"),
        (errno.EROFS, "mounted read-only"),
        (errno.EDQUOT, "quota is used up"),
    ],
)
def test_that_a_fault_in_the_middle_has_its_own_name(
    number: int, words: str, faults: Path, folder: Path, tmp_path: Path
) -> None:
    profile, begins = tmp_path / "long.toml", tmp_path / "begins"
    profile.write_text(
        "schema_version = 1\n[training]\nepochs = 200\ncheckpoint_every_epochs = 1\n"
    )
    process = started_until_its_fault(profile, begins, faults, folder, writes=number)
    time.sleep(3.0)
    begins.unlink()  # a disk that never takes a word again could say nothing
    said, _ = process.communicate(timeout=120)
    assert words in said
    assert "supervisor was killed" not in said


@pytest.mark.slow
def test_that_a_clock_that_is_set_forward_in_the_middle_is_left_out_and_said(
    faults: Path, folder: Path, tmp_path: Path
) -> None:
    profile, begins = tmp_path / "long.toml", tmp_path / "begins"
    profile.write_text("schema_version = 1\n[training]\nepochs = 200\n")
    process = started_until_its_fault(profile, begins, faults, folder, clock=8 * 3600)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "The machine slept for 8:00:00" in said
    (run,) = folder.iterdir()
    summary = summarize_run(RunLayout(run))
    assert summary.lasted_s is not None
    assert summary.lasted_s < 200.0
    curves = CurveReader(RunLayout(run))
    while curves.read():
        pass
    loss = curves.points()["loss"]
    assert 0.0 < loss.times_s[-1] < 200.0

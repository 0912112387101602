"""What is written is what the name of the file ends in."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.file_endings import Written, written_as
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.tools.export.export_format import ExportFormat

LISTED = ".py (script), .ipynb (notebook), .html (report), .sbatch (slurm), .keras (keras), .tflite"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    written = tmp_path / "p.toml"
    write_profile(written, Profile(devices=DeviceSettings(visible=("cpu",))))
    return written


@pytest.mark.parametrize("name", ["x.pdf", "x.PDF", "x", "x.pyc", "x.h5", "x.v1.5", ".py"])
def test_that_an_unknown_ending_is_refused_with_those_that_are_known(
    profile: Path, tmp_path: Path, name: str
) -> None:
    done = CliRunner().invoke(app, ["export", str(profile), "-o", str(tmp_path / name), "--json"])
    (problem,) = json.loads(done.stdout)["problems"]
    assert (done.exit_code, problem["code"]) == (1, "file_ending_unknown")
    assert LISTED in problem["hint"]
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("name", "asked", "written"),
    [
        ("x.py", None, Written.SCRIPT),
        ("x.IPYNB", None, Written.NOTEBOOK),
        ("x.htm", None, Written.REPORT),
        ("x.keras", None, Written.KERAS),
        ("x", Written.SCRIPT, Written.SCRIPT),
        ("job.sh", Written.SLURM, Written.SLURM),
        ("model v1.5", Written.SAVEDMODEL, Written.SAVEDMODEL),
    ],
)
def test_that_an_ending_says_what_is_written_unless_a_person_does(
    tmp_path: Path, name: str, asked: Written | None, written: Written
) -> None:
    assert written_as(tmp_path / name, asked) is written


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("x.pdf", Written.REPORT),
        ("x.keras", Written.TFLITE),
        ("x.h5", Written.KERAS),
        ("x.html", Written.SCRIPT),
    ],
)
def test_that_a_file_is_not_called_what_it_is_not(
    tmp_path: Path, name: str, asked: Written
) -> None:
    with pytest.raises(ProblemError, match=f"but a file that holds {asked.value} ends in"):
        written_as(tmp_path / name, asked)


def test_that_the_window_and_the_terminal_have_the_same_endings(tmp_path: Path) -> None:
    for each in ExportFormat:
        assert written_as(tmp_path / f"x{each.suffix}", None).value == each.value


@pytest.mark.parametrize("verb", [("check", "--fixed"), ("bench", "--apply")])
@pytest.mark.parametrize("name", ["x.py", "x.pdf", "x"])
def test_that_a_profile_is_written_as_a_profile_only(
    profile: Path, tmp_path: Path, verb: tuple[str, str], name: str
) -> None:
    arguments = [verb[0], str(profile), verb[1], str(tmp_path / name), "--json"]
    done = CliRunner().invoke(app, arguments)
    (problem,) = json.loads(done.stdout)["problems"]
    assert (done.exit_code in (1, 2), problem["code"]) == (True, "file_ending_unknown")
    assert "ends in .toml" in problem["message"]
    assert not (tmp_path / name).exists()

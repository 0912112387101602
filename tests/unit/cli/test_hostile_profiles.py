"""Profiles that nobody would write: each verb ends in a problem, at once."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.runs.directory.profile_file import read_profile, write_profile
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, Plant, as_it_stands
from tests.fakes.run_directory import WrittenRun

pytestmark = pytest.mark.timeout(60)

CPU = '[devices]\nvisible = ["cpu"]\n'


def of_data(path: str, source: str = "npz") -> bytes:
    return f'{CPU}[data]\nsource = "{source}"\npath = "{path}"\n'.encode()


TEXTS = {
    "nested": b"a=" + b"[" * 500,
    "inline tables": b"a=" + b"{a=" * 500,
    "digits": b"a=" + b"9" * 5_000,
    "digits of a key": b"[training]\nseed=" + b"9" * 400,
    "hexadecimal": b"[training]\nseed=0x" + b"f" * 5_000,
    "parts": b".".join([b"a"] * 200_000) + b"=1",
    "nobody": of_data("~nobody-of-that-name/x.npz"),
    "nobody's code": of_data("~nobody-of-that-name/x.py", "python"),
    "NUL": of_data("\\u0000.npz"),
    "NUL in code": of_data("\\u0000.py", "python"),
}
VERBS = {
    "check": ["check"],
    "run": ["run"],
    "export": ["export", "-o", "script.py"],
    "queue add": ["queue", "add"],
    "resume": ["resume", "RUN", "--with"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "profiles"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user of a container: without a home and without a name."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", _nobody)
    monkeypatch.setattr("pwd.getpwnam", _nobody)


def _nobody(_name: object) -> object:
    raise KeyError


def asked(*words: str) -> tuple[int, dict[str, Any]]:
    told = CliRunner().invoke(app, [*words, "--json"])
    if told.exception is not None and not isinstance(told.exception, SystemExit):
        raise told.exception
    return told.exit_code, json.loads(told.stdout)


def refused(verb: str, profile: Path, runs_dir: Path) -> list[str]:
    """The codes of the problems with which a verb refuses a profile, leaving nothing behind."""
    words = [profile.name if word == "PROFILE" else word for word in VERBS[verb]]
    if verb == "resume":
        words[1] = WrittenRun(runs_dir).layout.name
    before = sorted(runs_dir.iterdir()) if runs_dir.exists() else []
    status, document = asked(*words, str(profile))
    assert status in (1, 2)
    assert (sorted(runs_dir.iterdir()) if runs_dir.exists() else []) == before
    assert not Path("script.py").exists()
    return [problem["code"] for problem in document["problems"] if problem["severity"] == "error"]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("text", TEXTS)
def test_that_every_verb_refuses_it(folder: Path, runs_dir: Path, text: str, verb: str) -> None:
    path = folder / "profile.toml"
    path.write_bytes(TEXTS[text])
    codes = refused(verb, path, runs_dir)
    expected = {"nobody": "home_unknown", "NUL": "path_unusable"}
    assert codes == [expected.get(text.split("'")[0].split(" in")[0], "profile_not_toml")]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values())
def test_that_no_verb_waits_for_what_is_no_file(
    folder: Path, runs_dir: Path, plant: Plant, verb: str
) -> None:
    path = folder / "profile.toml"
    plant(path, folder / "readme")
    codes = refused(verb, path, runs_dir)
    assert codes in (["not_a_regular_file"], ["file_missing"], ["disk_error"])


@pytest.mark.parametrize("verb", ["check", "queue add"])
@pytest.mark.usefixtures("no_home")
def test_that_a_home_of_nobody_is_reported(folder: Path, runs_dir: Path, verb: str) -> None:
    path = folder / "profile.toml"
    path.write_bytes(of_data("~/x.npz"))
    assert refused(verb, path, runs_dir) == ["home_unknown"]


@pytest.mark.parametrize("verb", VERBS)
def test_that_data_beside_a_profile_in_a_folder_that_is_no_utf8_is_reported(
    folder: Path, runs_dir: Path, verb: str
) -> None:
    odd = folder / os.fsdecode(b"\xff")
    odd.mkdir()
    path = odd / "profile.toml"
    path.write_bytes(of_data("x.npz"))
    assert refused(verb, path, runs_dir) == ["path_unusable"]
    path.write_text(CPU)
    assert read_profile(path).devices.visible == ("cpu",)


def test_that_a_folder_of_runs_that_is_no_utf8_is_reported(folder: Path, tmp_path: Path) -> None:
    (folder / "profile.toml").write_text(CPU)
    odd = tmp_path / os.fsdecode(b"runs\xff")
    status, document = asked("run", "profile.toml", "--runs-dir", str(odd))
    assert (status, document["problems"][0]["code"]) == (1, "path_unusable")
    assert not odd.exists()


@pytest.mark.parametrize("variable", ["GPUPANEL_RUNS_DIR", "GPUPANEL_STATE_DIR"])
def test_that_a_variable_with_a_home_of_nobody_is_reported(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "~nobody-of-that-name/x")
    verbs = {"GPUPANEL_RUNS_DIR": (["runs"], ["stop", "x"]), "GPUPANEL_STATE_DIR": (["queue"],)}
    for words in verbs[variable]:
        status, document = asked(*words)
        assert (status, document["problems"][0]["code"]) == (1, "home_unknown")


def test_that_a_run_that_cannot_be_filled_leaves_no_folder(
    folder: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    (folder / "profile.toml").write_text(CPU)
    monkeypatch.setattr(os, "fsync", full)
    status, document = asked("run", "profile.toml")
    assert (status, document["problems"][0]["code"]) == (1, "no_space")
    assert list(runs_dir.iterdir()) == []


def _npz(folder: Path) -> Path:
    return folder / "x.npz"


def _image(folder: Path) -> Path:
    for name in ("cat", "dog"):
        (folder / "images" / name).mkdir(parents=True)
    (folder / "images" / "cat" / "a.png").write_bytes(b"")
    return folder / "images" / "dog" / "b.png"


def _code(folder: Path) -> Path:
    return folder / "data.py"


DATA: dict[str, tuple[Callable[[Path], Path], bytes]] = {
    "npz": (_npz, of_data("x.npz")),
    "images": (_image, of_data("images", "images")),
    "python": (_code, of_data("data.py", "python")),
}


PLANTED = [(source, plant) for source in DATA for plant in ("fifo", "unix_socket", "endless")]
FEW_PLANTED = [("npz", "fifo"), ("images", "endless"), ("python", "unix_socket")]
"""Each source and each kind of file once; the others are for ``make test-slow``."""


@pytest.mark.parametrize(
    ("source", "plant"),
    [
        pytest.param(*each, marks=() if each in FEW_PLANTED else pytest.mark.slow)
        for each in PLANTED
    ],
)
def test_that_a_preview_waits_for_no_fifo_and_no_device(
    folder: Path, source: str, plant: str
) -> None:
    place, profile = DATA[source]
    IN_PLACE_OF_A_FILE[plant](place(folder), folder / "none")
    (folder / "profile.toml").write_bytes(profile)
    status, document = asked("check", "profile.toml")
    assert status == 1
    codes = [problem["code"] for problem in document["problems"]]
    assert set(codes) & {"data_file_unreadable", "data_image_unreadable", "code_unreadable"}


def test_that_what_is_written_for_a_person_replaces_no_link_unless_to_a_profile(
    folder: Path,
) -> None:
    dotfiles = folder / "dotfiles.toml"
    write_profile(dotfiles, Profile(name="before"))
    (folder / "mine.toml").symlink_to(dotfiles)
    write_profile(folder / "mine.toml", Profile(name="after"))
    assert (folder / "mine.toml").is_symlink()
    assert parse_profile(dotfiles.read_text()).name == "after"
    (folder / "bashrc").write_text("alias ls=ls\n")
    (folder / "trap.toml").symlink_to(folder / "bashrc")
    (folder / "good.toml").write_text(CPU)
    status, document = asked("check", "good.toml", "--fixed", "trap.toml")
    assert (status, document["problems"][0]["code"]) == (1, "not_a_regular_file")
    assert (folder / "bashrc").read_text() == "alias ls=ls\n"


@pytest.mark.parametrize("plant", ["link", "fifo", "unix_socket", "endless"])
def test_that_a_script_replaces_no_link_and_no_device(folder: Path, plant: str) -> None:
    (folder / "good.toml").write_text(CPU)
    (folder / "kept").write_text("kept")
    output = folder / "script.py"
    IN_PLACE_OF_A_FILE[plant](output, folder / "kept")
    before = as_it_stands(output)
    status, document = asked("export", "good.toml", "-o", str(output))
    assert (status, document["problems"][0]["code"]) == (1, "not_a_regular_file")
    assert as_it_stands(output) == before
    assert (folder / "kept").read_text() == "kept"


def test_that_what_stands_in_a_problem_cannot_end_a_line() -> None:
    problem = Problem(code="x", message="a\nb\x1b[31m\u202e", hint="\r", detail="a\n\x07b")
    assert problem.message == r"a\nb\x1b[31m\u202e"
    assert (problem.hint, problem.detail) == (r"\r", "a\n\\x07b")

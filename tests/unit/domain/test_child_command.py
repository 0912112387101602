"""A child imports nothing of the folder it works in."""

import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.domain.child_command import (
    bundled_command,
    child_environment,
    python_module_command,
    searched_folders,
)

KERAS = "KERAS_BACKEND"
"""Every child gets the one that gpupanel trains with."""

HERE = "/home/somebody/downloads"


def test_that_a_module_is_run_by_this_python_without_the_working_directory() -> None:
    assert python_module_command("gpupanel.trainer", "a run") == (
        sys.executable,
        "-P",
        "-m",
        "gpupanel.trainer",
        "a run",
    )


def test_that_additions_stand_beside_the_own_variables_or_in_their_place() -> None:
    always = {"KERAS_BACKEND": "tensorflow"}
    assert child_environment({"A": "1", "B": "2"}, {"B": "3"}) == {"A": "1", "B": "3", **always}
    assert child_environment({"A": "1"}) == {"A": "1", **always}


def test_that_a_child_has_what_is_added_though_the_shells_own_is_left_out() -> None:
    assert "TF_CONFIG" not in child_environment({"TF_CONFIG": "{}"})
    assert child_environment({"TF_CONFIG": "{}"}, {"TF_CONFIG": "{1}"})["TF_CONFIG"] == "{1}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/opt/lib", "/opt/lib"),
        (":/opt/lib", "/opt/lib"),
        ("/opt/lib:", "/opt/lib"),
        (".:/opt/lib::lib:/srv", "/opt/lib:/srv"),
        ("./lib", None),
        (":", None),
        ("", None),
    ],
)
def test_that_only_absolute_folders_of_modules_programs_and_libraries_are_handed_on(
    text: str, kept: str | None
) -> None:
    for name in ("PYTHONPATH", "PATH", "LD_LIBRARY_PATH"):
        assert child_environment({name: text}).get(name) == kept


def test_that_a_folder_is_the_same_to_a_child_as_to_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"GPUPANEL_CACHE_DIR": "cache", "KERAS_HOME": "~/keras", "TMPDIR": "/tmp", "X": "x"}
    made = {**given, "GPUPANEL_CACHE_DIR": str(tmp_path / "cache")}
    found = child_environment({**given, "TFDS_DATA_DIR": ""})
    assert {name: found[name] for name in found if name != KERAS} == {**made, "TFDS_DATA_DIR": ""}


def test_that_the_loaders_other_separator_leads_to_no_working_directory_either() -> None:
    given = {"LD_LIBRARY_PATH": "/opt/lib;;lib;/srv"}
    assert child_environment(given)["LD_LIBRARY_PATH"] == "/opt/lib:/srv"


@pytest.mark.parametrize(
    ("python_path", "search_path", "searched"),
    [
        # `python -m gpupanel`, and the command, whose own folder stands first.
        (None, [HERE, "/usr/lib"], ["/usr/lib"]),
        (None, ["/usr/bin", "/usr/lib"], ["/usr/bin", "/usr/lib"]),
        # The folder of an installation that one happens to be in is kept.
        (None, ["/usr/bin", "/usr/lib", HERE], ["/usr/bin", "/usr/lib", HERE]),
        ("", ["/usr/bin", "/usr/lib", HERE], ["/usr/bin", "/usr/lib", HERE]),
        # What Python makes of relative entries.
        (":/opt", ["/usr/bin", HERE, "/opt", "/usr/lib"], ["/usr/bin", "/opt", "/usr/lib"]),
        ("./lib", ["/usr/bin", f"{HERE}/lib", "/usr/lib"], ["/usr/bin", "/usr/lib"]),
        (".", ["", "/usr/lib"], ["/usr/lib"]),
        # Who names it in full means it.
        (HERE, [HERE, "/usr/lib"], [HERE, "/usr/lib"]),
        (f".:{HERE}/", ["/usr/bin", HERE, "/usr/lib"], ["/usr/bin", HERE, "/usr/lib"]),
    ],
)
def test_that_the_working_directory_is_not_searched_unless_named(
    python_path: str | None, search_path: list[str], searched: list[str]
) -> None:
    environment = {} if python_path is None else {"PYTHONPATH": python_path}

    assert searched_folders(search_path, environment, HERE) == searched


@pytest.mark.parametrize("python_path", ["", ":", ".", "modules"])
def test_that_a_real_child_takes_its_modules_from_python(tmp_path: Path, python_path: str) -> None:
    (tmp_path / "modules").mkdir()
    for folder in (tmp_path, tmp_path / "modules"):
        (folder / "base64.py").write_text("open('run', 'w')")
    command = python_module_command("base64", "-e")

    child = subprocess.run(
        command,
        cwd=tmp_path,
        env=child_environment({"PYTHONPATH": python_path}),
        input=b"Aladdin",
        capture_output=True,
        check=True,
    )

    assert child.stdout == b"QWxhZGRpbg==\n"
    assert not (tmp_path / "run").exists()


def test_that_only_a_bundle_has_a_command_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bundled_command() is None
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/usr/lib/gpupanel/gpupanel")
    assert bundled_command() == "/usr/lib/gpupanel/gpupanel"

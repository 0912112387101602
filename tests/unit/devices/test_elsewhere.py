"""What comes from elsewhere into an environment, and how gpupanel is started without it."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gpupanel.devices import elsewhere as module
from gpupanel.devices.doctor.spoiled_import import packages_of_elsewhere, what_spoils_import
from gpupanel.devices.elsewhere import elsewhere, libraries_before_ours, packages_before_ours
from gpupanel.devices.start_refusal import spoiled_by
from gpupanel.domain.problem import Problem
from gpupanel.runs.error_problems import problems_of
from gpupanel.runs.questions.data_preview import preview_data

ROOT = Path(__file__).parents[3]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder of modules with a pydantic of another age and nothing else."""
    package = tmp_path / "other env" / "pydantic"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('VERSION = "1.10.2"\n', encoding="utf-8")
    return package.parent


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which nothing is, and a shell that says nothing."""
    for name in ("PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "XLA_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("TF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setattr(module.site, "ENABLE_USER_SITE", False)
    return tmp_path


def names() -> list[str]:
    return [each.name for each in elsewhere()]


def test_that_a_shell_that_says_nothing_brings_nothing() -> None:
    assert elsewhere() == ()
    assert packages_of_elsewhere() == ()


def test_that_the_folders_of_modules_are_left_out_but_for_gpupanels_own(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(other)]))

    (found,) = elsewhere()

    assert found.folders == (str(other),)
    assert found.variables == {"PYTHONPATH": str(ROOT)}
    assert found.command == f"env PYTHONPATH={ROOT} gpupanel"

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert elsewhere() == ()


def test_that_a_package_that_stands_before_ours_is_said_with_the_command(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(other))
    monkeypatch.setattr(sys, "path", [str(other), *sys.path])

    (problem,) = packages_of_elsewhere()

    assert problem.code == "packages_of_elsewhere"
    assert f"own pydantic is used, but what lies in {other}" in problem.message
    assert problem.command == "env -u PYTHONPATH gpupanel"
    # Behind ours it changes nothing.
    assert packages_before_ours(search_path=[*sys.path[1:], str(other)]) == ()


def test_that_a_folder_of_modules_of_ones_own_is_no_package_of_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_model.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    assert packages_of_elsewhere() == ()


def test_that_packages_of_the_home_are_left_out_where_python_uses_them(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.site, "getusersitepackages", lambda: str(other))
    monkeypatch.setattr(module.site, "ENABLE_USER_SITE", True)
    monkeypatch.setattr(sys, "path", [str(other), *sys.path])

    (found,) = elsewhere()
    assert found.variables == {"PYTHONNOUSERSITE": "1"}
    ((_, packages),) = packages_before_ours()
    assert packages == ("pydantic",)

    monkeypatch.setenv("PYTHONNOUSERSITE", "1")
    assert elsewhere() == ()


def test_that_files_variables_and_libraries_are_tried_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "keras.json").write_text('{"floatx": "bfloat16"}')
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/a:/opt/b")
    monkeypatch.setenv("LD_PRELOAD", "/opt/c/libx.so")
    monkeypatch.setenv("XLA_FLAGS", "--no_such_flag")
    monkeypatch.setenv("TF_CONFIG", "{}")  # nothing of ours has it

    assert names() == [
        str(tmp_path / "keras" / "keras.json"),
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "XLA_FLAGS",
    ]
    assert [each.folders for each in elsewhere()[1:3]] == [("/opt/c",), ("/opt/a", "/opt/b")]


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ('{"floatx": "float16", "epsilon": 1e-7, "image_data_format": "channels_first"}', False),
        ("no JSON", False),  # Keras passes over it
        ("[" * 100_000, False),
        ("[]", True),
        ('{"floatx": "half"}', True),
        ('{"epsilon": 1}', True),
        ('{"image_data_format": "tf"}', True),
    ],
)
def test_that_a_keras_file_is_named_that_keras_refuses(
    text: str, is_refused: bool, tmp_path: Path
) -> None:
    file = tmp_path / "keras" / "keras.json"
    file.parent.mkdir()
    file.write_text(text)

    problems = packages_of_elsewhere()

    assert [each.code for each in problems] == ["keras_file_refused"] * is_refused
    aside = f"mv {file} {file}.old && gpupanel"
    assert all(each.command == aside for each in problems)


def test_that_a_limit_of_the_shell_is_tried_without_where_it_can_be_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "address_space_limit", lambda: 2 * 2**30)
    monkeypatch.setattr(module.resource, "getrlimit", lambda _: (2 * 2**30, -1))
    (found,) = elsewhere()
    assert "2.0 GiB of address space (ulimit -v)" in found.name
    assert found.command == "ulimit -Sv unlimited && gpupanel"

    monkeypatch.setattr(module.resource, "getrlimit", lambda _: (2 * 2**30, 2 * 2**30))
    (found,) = elsewhere()
    assert found.command == ""
    problem = what_spoils_import("MemoryError", works=lambda _: False)
    assert problem is not None
    assert "under the limit of 2.0 GiB" in problem.message
    assert what_spoils_import("No module named 'tensorflow'", works=lambda _: False) is None


def test_that_what_spoils_an_import_is_found_by_trying_without(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(other))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/cuda")
    tried: list[list[str]] = []

    def works(without) -> bool:
        tried.append([each.name for each in without])
        return any(each.name == "LD_LIBRARY_PATH" for each in without)

    failure = "ImportError: /opt/cuda/libstdc++.so.6: version `GLIBCXX_3.4.32' not found"
    problem = what_spoils_import(failure, works=works)

    assert problem is not None
    assert problem.code == "environment_spoils_import"
    assert "because of LD_LIBRARY_PATH: ImportError" in problem.message
    assert "From there comes libstdc++.so.6." in problem.hint
    assert problem.command == "env -u LD_LIBRARY_PATH gpupanel"
    # As it is, first: what does not fail again was no fault of the environment.
    assert tried == [[], ["LD_LIBRARY_PATH"]]


def test_that_several_that_spoil_it_together_are_all_named(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(other))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/cuda")

    problem = what_spoils_import("", works=lambda without: len(without) == 2)

    assert problem is not None
    assert "because of PYTHONPATH and LD_LIBRARY_PATH: it gives no reason" in problem.message
    assert problem.command == "env -u PYTHONPATH -u LD_LIBRARY_PATH gpupanel"


def test_that_a_failure_that_does_not_come_again_is_no_fault_of_the_environment(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(other))
    assert what_spoils_import("killed", works=lambda _: True) is None
    assert what_spoils_import("killed", works=lambda _: False) is None


@pytest.mark.parametrize(
    ("verb", "package", "source"),
    [
        ((), "pydantic", 'VERSION = "1.10.2"'),
        (("runs",), "pydantic", "raise RuntimeError"),
        (("check", "x.toml"), "typer", "x = 1"),
    ],
)
def test_that_a_package_of_another_environment_is_a_sentence_at_the_start(
    verb: tuple[str, ...], package: str, source: str, tmp_path: Path
) -> None:
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", *verb],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert "Traceback" not in done.stderr + done.stdout
    assert "gpupanel cannot start because of PYTHONPATH" in done.stderr
    assert package in done.stderr
    assert f"Start it without: env PYTHONPATH={ROOT} gpupanel" in done.stderr


def test_that_a_package_that_a_verb_needs_is_a_sentence_too(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(other))
    monkeypatch.setattr(sys, "path", [str(other), *sys.path])

    (problem,) = problems_of(AttributeError("module 'pydantic' has no attribute 'BaseModel'"))

    assert problem.code == "environment_spoils_gpupanel"
    assert "because of PYTHONPATH, which brings pydantic" in problem.message
    assert problem.detail == ""
    (unexpected,) = problems_of(ValueError("7"))
    assert unexpected.code == "unexpected_error"


def test_that_ones_own_modules_are_not_blamed_for_their_errors(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(other))
    (found,) = elsewhere()

    assert found.blamed_in(f'File "{other}/my_data.py", line 7') == ()
    assert found.blamed_in(f'File "{other}/pydantic/__init__.py", line 7') == ("pydantic",)
    assert found.blamed_in(f"{other}/libx.so.6: undefined symbol") == ("libx.so.6",)


def test_that_a_death_of_a_child_names_what_its_last_words_name(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(other))
    question = replace(preview_data, process="the process", death_hint="Repair it.")
    dies = f"import sys; sys.exit('File \"{other}/%s/x.py\"')"

    def death(package: str) -> Problem:
        command = (sys.executable, "-S", "-c", dies % package)
        problem = replace(question, command=command).answered(None)
        assert isinstance(problem, Problem)
        return problem

    spoiled = death("pydantic")
    assert spoiled.code == "preview_died"
    assert spoiled.message == "The process ended with exit status 1: PYTHONPATH brings pydantic."
    assert spoiled.command == "env -u PYTHONPATH gpupanel"
    assert death("my_own").hint == "Repair it."


def test_that_libraries_count_where_something_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libQt6Core.so.6").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))

    assert [held for _, held in libraries_before_ours()] == [("libQt6Core.so.6",)]
    assert packages_of_elsewhere() == ()
    spoiled = spoiled_by(ImportError("undefined symbol: qt_version"), os.environ)
    assert spoiled is not None
    assert (spoiled[0].name, spoiled[1]) == ("LD_LIBRARY_PATH", ("libQt6Core.so.6",))
    assert spoiled_by(ValueError("x"), os.environ) is None


def test_that_a_folder_that_may_not_be_searched_holds_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    environment = {"PYTHONPATH": str(tmp_path), "LD_LIBRARY_PATH": str(tmp_path)}
    with monkeypatch.context() as patched:
        for name in ("is_dir", "is_file", "exists"):
            patched.setattr(Path, name, refuse)
        assert packages_before_ours(environment, [str(tmp_path), *sys.path]) == ()
        assert libraries_before_ours(environment) == ()

"""Environments that are not ours, enacted: packages, limits and files that keep TensorFlow away."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PROFILE = 'schema_version = 1\nname = "tiny"\n[training]\nepochs = 1\n'
NUMPY = "raise ImportError('numpy.core.multiarray failed to import')"
BROKEN = {
    "tensorflow": ("tensorflow/__init__.py", "raise AssertionError"),
    "google": ("google/protobuf/__init__.py", '__version__ = "3.20.3"'),
    "numpy": ("numpy/__init__.py", NUMPY),
    "keras": ("keras/__init__.py", "import os; os._exit(1)"),
}


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "p.toml").write_text(PROFILE)
    folders = {f"GPUPANEL_{name}_DIR": str(tmp_path / name) for name in ("RUNS", "CACHE", "STATE")}
    return {**os.environ, **folders, "PYTHONPATH": str(ROOT), "COLUMNS": "400"}


def terminal(
    shell: dict[str, str], *words: str, limit: int | None = None
) -> "subprocess.CompletedProcess[str]":
    def limited() -> None:
        if limit is not None:
            most = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))

    return subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", *words],
        env=shell,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        preexec_fn=limited,
    )


@pytest.mark.parametrize("package", BROKEN)
def test_that_check_and_run_refuse_a_package_of_elsewhere_that_spoils_the_import_by_name(
    package: str, tmp_path: Path, shell: dict[str, str]
) -> None:
    name, source = BROKEN[package]
    file = tmp_path / "other" / name
    file.parent.mkdir(parents=True)
    for folder in file.relative_to(tmp_path / "other").parents[:-1]:
        (tmp_path / "other" / folder / "__init__.py").touch()
    file.write_text(source)
    shell["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "other"), str(ROOT)])

    checked = terminal(shell, "check", str(tmp_path / "p.toml"))
    assert checked.returncode == 1
    assert "TensorFlow cannot be imported because of PYTHONPATH: " in checked.stdout
    assert "[environment_spoils_import]" in checked.stdout
    assert f"env PYTHONPATH={ROOT} gpupanel" in checked.stdout
    assert "Ready" not in checked.stdout

    ran = terminal(shell, "run", str(tmp_path / "p.toml"))
    assert ran.returncode != 0
    assert "TensorFlow cannot be imported because of PYTHONPATH: " in ran.stderr
    assert "Without it the import works." in ran.stderr
    assert f"$ env PYTHONPATH={ROOT} gpupanel" in ran.stderr


def test_that_doctor_check_and_run_name_a_keras_file_that_keras_refuses(
    tmp_path: Path, shell: dict[str, str]
) -> None:
    file = tmp_path / "keras" / "keras.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"image_data_format": "tf", "floatx": "half"}))
    shell["KERAS_HOME"] = str(file.parent)

    for words in (("doctor",), ("check", str(tmp_path / "p.toml"))):
        told = terminal(shell, *words)
        assert f"mv {file} {file}.old && gpupanel" in told.stdout + told.stderr, words
    ran = terminal(shell, "run", str(tmp_path / "p.toml"))
    assert f"because of {file}" in ran.stderr


def test_that_a_limit_of_the_shell_is_named(tmp_path: Path, shell: dict[str, str]) -> None:
    ran = terminal(shell, "run", str(tmp_path / "p.toml"), limit=1_000 * 2**20)
    assert ran.returncode != 0
    assert "address space (ulimit -v)" in ran.stderr
    assert "Traceback (most recent call last)" not in ran.stderr.split("\n")[0]


def test_that_a_run_is_what_was_chosen_whatever_the_shell_says(
    tmp_path: Path, shell: dict[str, str]
) -> None:
    odd = {
        "TF_CONFIG": "{",
        "TF_XLA_FLAGS": "--no_such_flag",
        "TF_ENABLED_DEVICE_TYPES": "none",
        "TF_USE_LEGACY_KERAS": "1",
        "KERAS_BACKEND": "torch",
        "KERAS_MAX_EPOCHS": "x",
        "PYTHONWARNINGS": "error",
        "PYTHONOPTIMIZE": "2",
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "cpp",
    }
    plain = terminal(shell, "run", str(tmp_path / "p.toml"), "--json")
    ran = terminal({**shell, **odd}, "run", str(tmp_path / "p.toml"), "--json")
    assert (plain.returncode, ran.returncode) == (0, 0), ran.stderr
    assert json.loads(ran.stdout)["metrics"] == json.loads(plain.stdout)["metrics"]


def test_that_a_log_that_tensorflow_fills_is_bounded(tmp_path: Path, shell: dict[str, str]) -> None:
    profile = tmp_path / "long.toml"
    profile.write_text(PROFILE.replace("epochs = 1", "epochs = 30"))
    ran = terminal({**shell, "TF_CPP_MAX_VLOG_LEVEL": "3"}, "run", str(profile))
    assert ran.returncode == 0, ran.stderr
    (log,) = (tmp_path / "RUNS").glob("*/trainer.log")
    assert log.stat().st_size < 40 * 2**20
    assert b"bytes of this log are left out here]" in log.read_bytes()


@pytest.mark.parametrize("package", ["numpy", "PySide6", "pyqtgraph"])
def test_that_the_window_says_which_package_of_elsewhere_keeps_it_from_opening(
    package: str, tmp_path: Path, shell: dict[str, str]
) -> None:
    (tmp_path / "other" / package).mkdir(parents=True)
    (tmp_path / "other" / package / "__init__.py").write_text('__version__ = "1"')
    shell["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "other"), str(ROOT)])
    shell["QT_QPA_PLATFORM"] = "offscreen"

    ended = terminal(shell)

    assert ended.returncode == 1
    assert f"because of PYTHONPATH, which brings {package}: " in ended.stderr
    assert "Traceback" not in ended.stderr

"""The child that looks at TensorFlow: what becomes of it, and the real one."""

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from gpupanel.devices.probes.tensorflow_probe import PROBE_COMMAND, ask_tensorflow
from gpupanel.domain.tensorflow_facts import TensorFlowFacts


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_that_an_answer_is_taken_and_the_log_kept_apart() -> None:
    facts = TensorFlowFacts(version="2.21.0", is_cuda_build=True)
    code = f"import sys\nprint('noise', file=sys.stderr)\nprint({facts.model_dump_json()!r})"

    answer = ask_tensorflow(_python(code))

    assert answer.facts == facts
    assert answer.problem is None
    assert answer.log == "noise"


def test_that_only_the_end_of_a_long_log_is_kept() -> None:
    code = "import sys\nfor n in range(5000): print(n, 'x' * 100, file=sys.stderr)\nsys.exit(3)"

    answer = ask_tensorflow(_python(code))

    assert answer.problem is not None
    assert answer.problem.code == "tensorflow_probe_failed"
    assert "3" in answer.problem.message
    assert answer.log.splitlines()[-1].startswith("4999 ")
    assert len(answer.log.splitlines()) < 100


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (signal.SIGILL, "AVX"),
        (signal.SIGSEGV, "--force-reinstall"),
        (signal.SIGKILL, "memory"),
    ],
)
def test_that_a_crash_is_reported_with_its_signal_and_what_to_do(
    number: signal.Signals, word: str
) -> None:
    # No core file is left behind.
    code = (
        "import os, resource\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        f"os.kill(os.getpid(), {int(number)})"
    )

    answer = ask_tensorflow(_python(code))

    assert answer.facts is None
    assert answer.problem is not None
    assert answer.problem.code == "tensorflow_crashed"
    assert number.name in answer.problem.message
    assert word in answer.problem.hint + answer.problem.command


def test_that_a_child_that_takes_too_long_is_killed_with_its_own_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(pid_file)!r}).write_text(str(child.pid))\n"
        "time.sleep(60)"
    )

    answer = ask_tensorflow(_python(code), time_limit_s=2.0)

    assert answer.problem is not None
    assert answer.problem.code == "tensorflow_import_timed_out"
    _wait_until_gone(int(pid_file.read_text()))


def _wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return
        except psutil.NoSuchProcess:
            return
        time.sleep(0.02)
    pytest.fail("the child's own child is still there")


def test_that_a_child_that_cannot_be_started_is_a_problem(tmp_path: Path) -> None:
    answer = ask_tensorflow((str(tmp_path / "nothing"),))

    assert answer.problem is not None
    assert answer.problem.code == "tensorflow_probe_not_started"


def test_that_a_tensorflow_that_cannot_be_imported_answers_with_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tensorflow.py").write_text("raise ImportError('libwrong.so: wrong ELF class')")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{Path.cwd()}")

    answer = ask_tensorflow(PROBE_COMMAND, time_limit_s=60.0)

    assert answer.facts is not None
    assert answer.facts.version is None
    assert answer.facts.import_error.splitlines()[-1] == (
        "ImportError: libwrong.so: wrong ELF class"
    )


@pytest.mark.tensorflow
def test_that_the_real_tensorflow_reports_its_build_and_libraries() -> None:
    answer = ask_tensorflow()

    assert answer.problem is None
    facts = answer.facts
    assert facts is not None
    assert facts.version is not None
    assert facts.import_error == ""
    if facts.is_cuda_build:
        assert facts.cuda_version is not None
        assert facts.compute_capabilities
        assert facts.libraries[0].soname == "libcuda.so.1"
        assert all(library.was_found != bool(library.error) for library in facts.libraries)

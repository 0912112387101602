"""A forked process is to its program, and to whoever starts it, what a new one is."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from gpupanel.domain.process_environment import SUPERVISOR_PID_VARIABLE
from tests.forked import processes
from tests.forked.processes import ForkedProcess, ForkServer, end_fork_servers, run_forked
from tests.patience import PATIENCE_S

_DESCRIBE = """
import json, os, random, signal, sys, threading
import __main__
print(json.dumps({
    "argv": sys.argv,
    "path": sys.path,
    "directory": os.getcwd(),
    "environment": dict(os.environ),
    "name": __name__,
    "is main": __main__.__dict__ is globals(),
    "file": globals().get("__file__"),
    "interrupt": str(signal.getsignal(signal.SIGINT)),
    "group": os.getpgrp(),
    "threads": len(threading.enumerate()),
    "descriptors": sorted(os.listdir("/proc/self/fd")),
    "given": sys.stdin.read(),
}))
"""
_ENDINGS = {
    "nothing": ("pass", 0),
    "a status": ("import sys; sys.exit(3)", 3),
    "at once": ("import os; os._exit(4)", 4),
    "a sentence": ("raise SystemExit('no')", 1),
    "a large status": ("raise SystemExit(2**9 + 5)", 5),
    "none": ("raise SystemExit(None)", 0),
    "an error": ("1 / 0", 1),
    "a signal": ("import os, signal; os.kill(os.getpid(), signal.SIGABRT)", -signal.SIGABRT),
    # A shell's background job ignores it, and so would this one.
    "an interruption": (
        (
            "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "os.kill(os.getpid(), signal.SIGINT)"
        ),
        -signal.SIGINT,
    ),
}
_WAITED_FOR = """
import atexit, sys, threading, time
def late():
    time.sleep(0.2)
    print("thread")
atexit.register(print, "at exit")
threading.Thread(target=late).start()
threading.Thread(target=time.sleep, args=(600.0,), daemon=True).start()
print("main")
"""
_FOREVER = "import time; print('begun', flush=True); time.sleep(600)"


@pytest.fixture(scope="module", autouse=True)
def small_server() -> Iterator[None]:
    """One that has imported nothing, in the place of the one that has TensorFlow."""
    end_fork_servers()
    processes._servers[frozenset()] = ForkServer(modules=())
    yield
    end_fork_servers()


def commands(folder: Path) -> dict[str, list[str]]:
    """A program in each way in which Python runs one."""
    (folder / "scripts").mkdir()
    for path in (folder / "scripts" / "described.py", folder / "described.py"):
        path.write_text(_DESCRIBE)
    script = str(folder / "scripts" / "described.py")
    (folder / "linked.py").symlink_to(script)
    return {
        "script": [sys.executable, script],
        "script, -P": [sys.executable, "-P", script],
        "relative link": [sys.executable, "linked.py"],
        "module": [sys.executable, "-m", "described"],
        "code": [sys.executable, "-c", _DESCRIBE],
        "code, -P": [sys.executable, "-P", "-c", _DESCRIBE],
    }


def test_that_a_program_finds_what_it_finds_in_a_new_process(tmp_path: Path) -> None:
    environment = {**os.environ, "ONLY_HERE": "1", "XLA_FLAGS": ""}
    del environment["GPUPANEL_RUNS_DIR"]
    for name, command in commands(tmp_path).items():
        found: list[dict[str, Any]] = []
        for start in (subprocess.run, run_forked):
            done = start(
                [*command, "one", "--two"],
                cwd=tmp_path,
                env=environment,
                input="three",
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            found.append(json.loads(done.stdout))
        new, forked = found
        assert forked == new, name
        assert forked["given"] == "three"


def test_that_xla_compiles_quickly_in_a_forked_process_that_is_given_no_flags_of_its_own() -> None:
    command = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]

    def found(**flags: str) -> dict[str, str]:
        environment = {**os.environ, **flags}
        done = run_forked(command, env=environment, capture_output=True, text=True, check=True)
        variables: dict[str, str] = json.loads(done.stdout)
        return variables

    assert found() == {"XLA_FLAGS": processes.QUICKLY_COMPILED, **os.environ}
    assert found(XLA_FLAGS="")["XLA_FLAGS"] == ""


@pytest.mark.parametrize("name", _ENDINGS)
def test_that_every_ending_is_reported_as_of_a_new_process(name: str) -> None:
    code, status = _ENDINGS[name]
    command = [sys.executable, "-c", code]

    done = [
        start(command, capture_output=True, check=False) for start in (subprocess.run, run_forked)
    ]

    assert [one.returncode for one in done] == [status, status]
    if done[0].stderr:
        last = [one.stderr.splitlines()[-1] for one in done]
        assert last[0] == last[1]


def test_that_threads_exit_handlers_and_output_are_waited_for() -> None:
    for code, expected in (
        (_WAITED_FOR, b"main\nthread\nat exit\n"),
        (f"{_WAITED_FOR}\nsys.stdout.close()\nprint = lambda *_: None", b"main\n"),
    ):
        for start in (subprocess.run, run_forked):
            command = [sys.executable, "-c", code]
            assert start(command, capture_output=True, check=False).stdout == expected, start


def test_that_output_that_nobody_takes_is_reported() -> None:
    command = [sys.executable, "-c", "import sys; print(1); sys.exit(3)"]
    # It is written when the program ends, unless each line is at once.
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHONUNBUFFERED"}
    for start in (subprocess.run, run_forked):
        with Path("/dev/full").open("wb") as full:
            done = start(command, stdout=full, stderr=subprocess.PIPE, env=environment, check=False)
        assert done.returncode == 120
        assert b"No space left on device" in done.stderr


def test_that_a_status_that_is_no_success_is_raised_where_that_is_asked() -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run_forked(
            [sys.executable, "-c", "print(1); exit(2)"], capture_output=True, text=True, check=True
        )
    assert (caught.value.returncode, caught.value.stdout) == (2, "1\n")


def test_that_output_reaches_files_and_pipes(tmp_path: Path) -> None:
    both = [sys.executable, "-c", "import sys; print(1); print(2, file=sys.stderr)"]
    reading, writing = os.pipe()
    with (tmp_path / "log").open("wb") as log, os.fdopen(reading, "rb") as pipe:
        assert ForkedProcess(both, stdout=log, stderr=subprocess.STDOUT).wait(PATIENCE_S) == 0
        process = ForkedProcess(both, stdout=writing, stderr=subprocess.DEVNULL)
        os.close(writing)
        assert pipe.read() == b"1\n"  # to its end: nobody else holds the pipe
        assert process.wait(PATIENCE_S) == 0
    assert sorted((tmp_path / "log").read_text()) == ["\n", "\n", "1", "2"]


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[ForkedProcess]:
    """A process that has begun and does not end."""
    with (tmp_path / "begun").open("wb") as output:
        process = ForkedProcess([sys.executable, "-c", _FOREVER], stdout=output)
    wait_for(tmp_path / "begun")
    yield process
    process.kill()
    process.wait()


def wait_for(path: Path) -> None:
    """Until something stands in a file."""
    end = time.monotonic() + PATIENCE_S
    while not path.exists() or not path.read_text().endswith("\n"):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_that_a_process_is_waited_for_and_ended(endless: ForkedProcess) -> None:
    assert endless.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        endless.wait(0.05)

    endless.terminate()

    assert endless.wait(PATIENCE_S) == endless.poll() == endless.returncode == -signal.SIGTERM
    assert not psutil.pid_exists(endless.pid)
    endless.kill()  # nobody is there any more, and nobody else is hit


def test_that_a_run_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    code = f"import os, pathlib; pathlib.Path('pid').write_text(str(os.getpid())); {_FOREVER}"
    with pytest.raises(subprocess.TimeoutExpired), (tmp_path / "log").open("wb") as log:
        run_forked([sys.executable, "-c", code], stdout=log, cwd=tmp_path, timeout=0.5)
    if (tmp_path / "pid").exists():
        assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_that_a_process_is_seen_below_this_one(endless: ForkedProcess) -> None:
    # So that a test that leaves one behind fails.
    below = {each.pid for each in psutil.Process().children(recursive=True)}

    assert below == processes.fork_server_pids() | {endless.pid}


def test_that_a_trainer_takes_the_server_for_its_supervisor() -> None:
    code = "import os; print(os.getppid() == int(os.environ['GPUPANEL_SUPERVISOR_PID']))"
    environment = {**os.environ, SUPERVISOR_PID_VARIABLE: str(os.getpid())}

    done = run_forked([sys.executable, "-c", code], env=environment, capture_output=True, text=True)

    assert done.stdout == "True\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PYTHONPATH", "/tmp"),
        ("HOME", "/tmp"),
        ("PYTHONHASHSEED", "1"),
        ("TF_CPP_MIN_LOG_LEVEL", "0"),
    ],
)
def test_that_what_is_read_when_a_library_is_loaded_is_refused(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        run_forked([sys.executable, "-c", "pass"], env={**os.environ, name: value})


def test_that_it_gets_its_own_group_mask_and_descriptors_as_a_new_process_does(
    tmp_path: Path,
) -> None:
    code = """
import json, os
print(json.dumps([
    os.getpgrp() == os.getpid(),
    os.umask(0),
    [os.readlink(f"/proc/self/fd/{number}") for number in GIVEN],
]))
"""
    found = []
    with (tmp_path / "one").open("wb") as one, (tmp_path / "two").open("wb") as two:
        given = [two.fileno(), one.fileno()]
        for start in (subprocess.Popen[bytes], ForkedProcess):
            with (tmp_path / "said").open("w+b") as said:
                process = start(
                    [sys.executable, "-c", code.replace("GIVEN", str(given))],
                    stdout=said,
                    process_group=0,
                    umask=0o027,
                    pass_fds=given,
                )
                assert process.wait(PATIENCE_S) == 0
                said.seek(0)
                found.append(json.load(said))

    assert found == [[True, 0o027, [str(tmp_path / "two"), str(tmp_path / "one")]]] * 2


def test_that_a_forked_process_has_the_mask_of_the_one_that_starts_it() -> None:
    before = os.umask(0o057)
    try:
        done = run_forked(
            [sys.executable, "-c", "import os; print(os.umask(0))"], capture_output=True, text=True
        )
    finally:
        os.umask(before)
    assert done.stdout == f"{0o057}\n"


def test_that_what_is_to_be_printed_unbuffered_is_there_at_once(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        process = ForkedProcess(
            [sys.executable, "-c", f"print('begun'); {_FOREVER.split('; ')[0]}; time.sleep(600)"],
            stdout=log,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        wait_for(tmp_path / "log")
        process.kill()
        process.wait()


def test_that_no_random_numbers_are_drawn_twice() -> None:
    code = "import json, random, numpy; print(json.dumps([random.random(), numpy.random.random()]))"
    with ForkServer(modules=("numpy",)) as server:
        drawn = set()
        for _ in range(2):
            reading, writing = os.pipe()
            with os.fdopen(reading) as pipe:
                process = ForkedProcess([sys.executable, "-c", code], stdout=writing, server=server)
                os.close(writing)
                drawn |= set(json.load(pipe))
                assert process.wait(PATIENCE_S) == 0

    assert len(drawn) == 4


_DIES = """
import os, signal, sys
from pathlib import Path
from tests.forked.processes import ForkedProcess, ForkServer
server = ForkServer(modules=())
process = ForkedProcess([sys.executable, "-c", "import time; time.sleep(600)"], server=server)
print(server.pid, process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_that_nothing_outlives_a_test_process_that_is_killed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _DIES], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL

    end = time.monotonic() + PATIENCE_S
    for pid in map(int, done.stdout.split()):
        while psutil.pid_exists(pid):
            assert time.monotonic() < end
            time.sleep(0.01)


def test_that_a_server_that_died_is_reported() -> None:
    with ForkServer(modules=()) as server:
        process = ForkedProcess(
            [sys.executable, "-c", _FOREVER], stdout=subprocess.DEVNULL, server=server
        )
        psutil.Process(server.pid).kill()

        with pytest.raises(ChildProcessError, match="has ended"):
            process.wait(PATIENCE_S)
        with pytest.raises(ChildProcessError, match="has ended"):
            ForkedProcess([sys.executable, "-c", "pass"], server=server)
        psutil.Process(process.pid).kill()


def test_that_a_module_that_cannot_be_imported_is_reported(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with ForkServer(modules=("not_there",)) as server, pytest.raises(ChildProcessError):
        ForkedProcess([sys.executable, "-c", "pass"], server=server)
    assert "No module named 'not_there'" in capfd.readouterr().err

"""TensorBoard serves runs on loopback, one process each, and none outlives who asked for it."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Timer
from urllib.parse import urlsplit

import psutil
import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs import tensorboard
from gpupanel.runs.tensorboard import MOST_AT_ONCE, TENSORBOARD_COMMAND, TensorBoards
from gpupanel.runs.tensorboard_process import loaded_plugins
from tests.forked.processes import child_processes
from tests.patience import PATIENCE_S

SERVING = "import sys; print('http://127.0.0.1:1234/', flush=True); sys.stdin.read()"
NOT_WANTED = Event()


def command(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def run_with_files(folder: Path, name: str = "run") -> RunLayout:
    layout = RunLayout(folder / name)
    (layout.tensorboard / "train").mkdir(parents=True)
    (layout.tensorboard / "train" / "events.out.tfevents.1.v2").write_bytes(b"")
    return layout


def refusal(boards: TensorBoards, layout: RunLayout) -> str:
    with pytest.raises(ProblemError) as refused:
        boards.address_of(layout, NOT_WANTED)
    (problem,) = refused.value.problems
    return problem.code


@pytest.fixture
def boards() -> Iterator[TensorBoards]:
    boards = TensorBoards(command(SERVING))
    yield boards
    boards.close()
    assert not child_processes()


def test_that_each_run_has_one_that_ends_with_all_others(
    boards: TensorBoards, tmp_path: Path
) -> None:
    layout = run_with_files(tmp_path)
    assert boards.address_of(layout, NOT_WANTED) == "http://127.0.0.1:1234/"
    (first,) = child_processes()
    assert boards.address_of(layout, NOT_WANTED) == "http://127.0.0.1:1234/"
    assert child_processes() == [first]
    first.kill()
    psutil.wait_procs([first], PATIENCE_S)
    boards.address_of(layout, NOT_WANTED)
    (again,) = child_processes()
    assert again != first
    boards.address_of(run_with_files(tmp_path, "other"), NOT_WANTED)
    assert len(child_processes()) == 2


def test_that_the_oldest_ends_where_there_are_too_many(
    boards: TensorBoards, tmp_path: Path
) -> None:
    for number in range(MOST_AT_ONCE + 2):
        boards.address_of(run_with_files(tmp_path, str(number)), NOT_WANTED)
        if not number:
            (first,) = child_processes()
    assert len(child_processes()) == MOST_AT_ONCE
    assert first not in child_processes()


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import sys; sys.exit('no grpc here')", "tensorboard_not_started"),
        ("print('http://127.0.0.1:1234/x'); input()", "tensorboard_not_started"),
        ("print('http://10.0.0.1:80/', flush=True); input()", "tensorboard_not_started"),
        ("print(300 * 'x', flush=True); input()", "tensorboard_not_started"),
        ("import time; time.sleep(60)", "tensorboard_too_slow"),
        ("import os; os.write(1, b'http'); input()", "tensorboard_too_slow"),
    ],
)
def test_that_why_it_does_not_serve_is_a_sentence(tmp_path: Path, code: str, problem: str) -> None:
    boards = TensorBoards(command(code), start_limit_s=0.5 if "slow" in problem else PATIENCE_S)
    layout = run_with_files(tmp_path)
    with pytest.raises(ProblemError) as refused:
        boards.address_of(layout, NOT_WANTED)
    (found,) = refused.value.problems
    assert found.code == problem
    assert ("no grpc here" in found.detail) == ("grpc" in code)
    assert not child_processes()


def test_that_a_program_that_cannot_be_started_is_a_sentence(tmp_path: Path) -> None:
    boards = TensorBoards((str(tmp_path / "none"),))
    assert refusal(boards, run_with_files(tmp_path)) == "tensorboard_not_started"


def test_that_one_that_is_not_wanted_any_more_ends_while_it_starts(tmp_path: Path) -> None:
    boards, cancelled = TensorBoards(command("import time; time.sleep(60)")), Event()
    timer = Timer(0.3, cancelled.set)
    timer.start()
    assert boards.address_of(run_with_files(tmp_path), cancelled) == ""
    timer.join()
    assert not child_processes()


def test_that_what_is_missing_is_said_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorboard, "find_spec", lambda _: None)
    with pytest.raises(ProblemError) as refused:
        TensorBoards().address_of(run_with_files(tmp_path), NOT_WANTED)
    (problem,) = refused.value.problems
    assert problem.code == "tensorboard_not_installed"
    assert problem.command is not None
    assert "install" in problem.command
    assert "tensorboard" in problem.command


def test_that_a_run_without_files_has_nothing_to_show(boards: TensorBoards, tmp_path: Path) -> None:
    layout = RunLayout(tmp_path / "run")
    assert refusal(boards, layout) == "tensorboard_without_files"
    (layout.tensorboard / "train").mkdir(parents=True)
    assert refusal(boards, layout) == "tensorboard_without_files"


@pytest.mark.parametrize("what", ["folder", "inner", "file", "fifo", "many"])
def test_that_nothing_in_the_folder_leads_elsewhere(
    boards: TensorBoards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    elsewhere = run_with_files(tmp_path, "elsewhere").tensorboard
    layout = run_with_files(tmp_path)
    if what == "folder":
        layout = RunLayout(tmp_path / "linked")
        layout.root.mkdir()
        layout.tensorboard.symlink_to(elsewhere)
    elif what == "inner":
        (layout.tensorboard / "validation").symlink_to(elsewhere)
    elif what == "file":
        (layout.tensorboard / "events").symlink_to(elsewhere / "train" / "events")
    elif what == "fifo":
        os.mkfifo(layout.tensorboard / "events.out.tfevents.2")
    else:
        monkeypatch.setattr(tensorboard, "_MOST_FILES", 1)
    assert refusal(boards, layout) == "run_folder_unsafe"


PARENT = """
import sys, time
from pathlib import Path
from threading import Event
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tensorboard import TensorBoards
boards = TensorBoards((sys.executable, "-c", sys.argv[2]))
boards.address_of(RunLayout(Path(sys.argv[1])), Event())
(server,) = boards._servers.values()
print(server.process.pid, flush=True)
time.sleep(60)
"""


def test_that_it_ends_with_a_window_that_is_killed(tmp_path: Path) -> None:
    layout = run_with_files(tmp_path)
    parent = subprocess.Popen(
        [sys.executable, "-P", "-c", PARENT, str(layout.root), SERVING],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    try:
        server = psutil.Process(int(parent.stdout.readline()))
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        parent.stdout.close()
    _, alive = psutil.wait_procs([server], PATIENCE_S)
    assert not alive


def asked(address: str, path: str) -> tuple[int, bytes]:
    found = urlsplit(address)
    connection = http.client.HTTPConnection(found.hostname or "", found.port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_that_one_whose_folder_leads_elsewhere_by_now_ends(
    boards: TensorBoards, tmp_path: Path
) -> None:
    layout = run_with_files(tmp_path)
    boards.address_of(layout, NOT_WANTED)
    link = layout.tensorboard / "other"
    link.symlink_to(tmp_path)
    assert refusal(boards, layout) == "run_folder_unsafe"
    assert not child_processes()
    link.unlink()
    assert boards.address_of(layout, NOT_WANTED)


def test_that_no_plugin_is_loaded_that_reads_files_that_a_folder_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Loader:
        """As TensorBoard has it for some of its own: without a name."""

    scalars = type("ScalarsPlugin", (), {"plugin_name": "scalars"})
    projector = type("ProjectorPlugin", (), {"plugin_name": "projector"})
    package = types.ModuleType("tensorboard")
    loader = Loader()
    package.default = types.SimpleNamespace(  # type: ignore[attr-defined]
        get_plugins=lambda: [loader, scalars, projector]
    )
    monkeypatch.setitem(sys.modules, "tensorboard", package)
    assert loaded_plugins() == [loader, scalars]


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorboard") is None, reason="TensorBoard is not installed")
def test_that_the_real_one_serves_no_file_that_a_folder_names(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the person")
    layout = run_with_files(tmp_path)
    config = layout.tensorboard / "train" / "projector_config.pbtxt"
    config.write_text(f'embeddings {{ tensor_name: "e" metadata_path: "{secret}" }}')
    boards = TensorBoards()
    try:
        address = boards.address_of(layout, NOT_WANTED)
        status, content = asked(address, "/data/plugin/projector/metadata?run=train&name=e")
        assert (status, b"of the person" in content) == (404, False)
    finally:
        boards.close()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorboard") is None, reason="TensorBoard is not installed")
def test_that_the_real_one_serves_the_run_on_this_machine_only(tmp_path: Path) -> None:
    layout = run_with_files(tmp_path)
    boards = TensorBoards()
    begin_s = time.monotonic()
    address = boards.address_of(layout, NOT_WANTED)
    took_s = time.monotonic() - begin_s
    try:
        print(f"TensorBoard served after {took_s:.1f} s")
        status, content = asked(address, "/data/environment")
        assert status == 200
        assert json.loads(content)["data_location"] == str(layout.tensorboard)
        served = child_processes()
        listening = [
            each.laddr.ip
            for process in served
            for each in process.net_connections("tcp")
            if each.status == psutil.CONN_LISTEN
        ]
        assert listening
        assert set(listening) <= {"127.0.0.1", "::1"}
    finally:
        boards.close()
    _, alive = psutil.wait_procs(served, PATIENCE_S)
    assert not alive


@pytest.mark.slow
@pytest.mark.skipif(find_spec("tensorboard") is None, reason="TensorBoard is not installed")
def test_that_the_real_one_ends_with_its_input(tmp_path: Path) -> None:
    layout = run_with_files(tmp_path)
    process = subprocess.Popen(
        (*TENSORBOARD_COMMAND, str(layout.tensorboard)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"http://127.0.0.1:")
    all_of_it = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    process.stdin.close()
    assert process.wait(PATIENCE_S) == 0
    process.stdout.close()
    _, alive = psutil.wait_procs(all_of_it, PATIENCE_S)
    assert not alive

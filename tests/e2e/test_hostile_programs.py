"""Programs that fill, flood and hide: each ends in a true sentence, and nothing is left running."""

import json
import random
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.events import RunRestarted, ScriptStarted, StepsDone
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.processes.run_processes import processes_of
from tests.fakes.own_programs import Programs, events_of, text_in, until
from tests.fakes.small_disks import disk_for_a_run  # noqa: F401 - a fixture

FOLDER = Path(__file__).with_name("programs_of_people")
SEVERAL = (
    "autoencoder.py",
    "callbacks_of_all_kinds.py",
    "generator.py",
    "several_inputs_and_outputs.py",
    "tf_data.py",
)
MIB = 2**20


@pytest.fixture
def programs(tmp_path: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    del runs_dir
    monkeypatch.setenv("GPUPANEL_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "work"
    folder.mkdir()
    return Programs(folder)


_FILLS = """
import os, sys, time
from gpupanel.api import report
report(step=1, loss=0.5)
with open(os.path.join(report.checkpoint_folder, "large"), "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(2**20))
    except OSError:
        for step in range(40):
            report(step=2 + step, loss=0.25)
            time.sleep(0.05)
        if sys.argv[1:]:
            raise
os.remove(file.name)
report(step=99, loss=0.125)
print("has made room", flush=True)
"""


@pytest.mark.long
def test_that_a_program_that_fills_the_disk_of_its_run_ends_in_a_sentence(
    programs: Programs,
    disk_for_a_run: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GPUPANEL_RUNS_DIR", str(disk_for_a_run / "runs"))
    ran = programs.run(_FILLS, "gives up")
    assert ran.document["outcome"] == "failed"
    # Its last words, if there is room for them, or what the run itself could not write.
    said = ran.document["problem"]["message"]
    assert "No space left on device" in said or "disk is full" in said
    assert not processes_of(ran.layout)


@pytest.mark.long
def test_that_a_program_that_makes_room_again_completes(
    programs: Programs,
    disk_for_a_run: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GPUPANEL_RUNS_DIR", str(disk_for_a_run / "runs"))
    ran = programs.run(_FILLS)
    assert ran.document["outcome"] == "completed", ran.document
    assert ran.log == "has made room\n"
    assert max(event.step for event in ran.of(StepsDone)) == 99


@pytest.mark.long
def test_that_a_program_that_prints_a_gigabyte_keeps_its_first_and_its_last_words(
    programs: Programs,
) -> None:
    text = """
    import sys
    print("the first words", flush=True)
    block = (b"x" * 1023 + b"\\n") * 1024
    for _ in range(1024):
        sys.stdout.buffer.write(block)
    print("the last words")
    """
    ran = programs.run(text)
    assert ran.document["outcome"] == "completed"
    log = ran.layout.trainer_log.read_bytes()
    assert len(log) < 18 * MIB
    assert log.startswith(b"the first words\n")
    assert log.endswith(b"the last words\n")
    assert b"bytes of this log are left out here" in log


@pytest.mark.long
def test_that_control_characters_of_a_program_reach_no_terminal(programs: Programs) -> None:
    programs.write(
        'print("\\x1b]0;owned\\x07 \\x1b[2J red \\x9b31m", flush=True); raise SystemExit(3)'
    )
    python = ("--python", sys.executable)
    done = programs.gpupanel("run", programs.folder / "train.py", *python)
    assert done.returncode == 1
    assert "red" in done.stdout + done.stderr
    assert not {"\x1b", "\x07", "\x9b"} & set(done.stdout + done.stderr)


@pytest.mark.slow
def test_that_a_program_that_ignores_every_signal_and_hides_its_children_is_ended(
    programs: Programs,
) -> None:
    text = """
    import os, signal, subprocess, sys, time
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    hidden = [sys.executable, "-c", "import time; hidden_child = time.sleep(900)"]
    subprocess.Popen(hidden, start_new_session=True, env={})
    print("deaf", flush=True)
    time.sleep(900)
    """
    layout = programs.start(text)
    until(lambda: "deaf" in text_in(layout.trainer_log))
    ask(layout, Request.STOP)
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "stopped"
    assert "no_end" in ran.reported
    assert not processes_of(layout)
    assert not [
        each
        for each in psutil.process_iter(["cmdline"])
        if "hidden_child" in " ".join(each.info["cmdline"] or ())
    ]


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", SEVERAL)
def test_that_a_program_that_dies_at_random_moments_prints_the_same(
    programs: Programs, name: str
) -> None:
    shutil.copytree(FOLDER, programs.folder, dirs_exist_ok=True)
    profile = programs.folder / "mine.toml"
    profile.write_text(
        f'[script]\npath = "{name}"\npython = "{sys.executable}"\nmax_restarts = 5\n'
    )
    done = programs.gpupanel("run", profile, "--trust", "--json", "--detach")
    layout = RunLayout(Path(json.loads(done.stdout)["run"]))
    moments = random.Random(name)
    starts = 1
    # The first death is one at the beginning; once suspended, each continues from what was kept.
    die(layout, starts, moments.uniform(0.0, 2.0))
    starts += 1
    until(lambda: len(starts_of(layout)) == starts)
    ask(layout, Request.SUSPEND)
    if programs.wait(layout).document["outcome"] == "suspended":
        programs.gpupanel("resume", layout.root, "--detach")
        for _ in range(3):
            starts += 1
            die(layout, starts, moments.uniform(0.0, 6.0))
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "completed", ran.log
    assert ran.of(RunRestarted)
    assert not processes_of(layout)
    programs.folder = programs.folder.with_name("in a terminal")
    shutil.copytree(FOLDER, programs.folder)
    alone = programs.in_a_terminal(programs.folder / name)
    assert last_results(ran.log) == last_results(alone.stdout)


def die(layout: RunLayout, start: int, after_s: float) -> None:
    """Have the program killed so long after that start of it, unless it is done by then."""
    until(lambda: len(starts_of(layout)) >= start or ended(layout))
    time.sleep(after_s)
    if not ended(layout):
        with suppress(psutil.NoSuchProcess):
            psutil.Process(starts_of(layout)[-1].pid).kill()


def starts_of(layout: RunLayout) -> list[ScriptStarted]:
    if not layout.events.exists():
        return []
    return [event for event in events_of(layout) if isinstance(event, ScriptStarted)]


def ended(layout: RunLayout) -> bool:
    return '"kind":"run_ended"' in text_in(layout.events).rpartition("script_started")[2]


def last_results(text: str) -> list[str]:
    """What it says it came to; a start that died later may have said some of it before."""
    lines = [line for line in text.splitlines() if line.startswith("RESULT")]
    return list(dict.fromkeys(lines))


@pytest.mark.long
def test_that_what_a_program_starts_and_leaves_and_what_ends_does_not_pile_up(
    programs: Programs,
) -> None:
    text = """
    import os, time
    for _ in range(300):
        child = os.fork()
        if child == 0:
            if os.fork() == 0:
                os._exit(0)
            os._exit(0)
        os.waitpid(child, 0)
    time.sleep(0.5)
    watcher = open(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read().split()
    print("children of the watcher:", len(watcher), flush=True)
    """
    ran = programs.run(text)
    assert ran.document["outcome"] == "completed"
    assert int(ran.log.rpartition(":")[2]) < 20

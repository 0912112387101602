"""Programs of a person's own under the panel: they begin, speak and end as in a terminal."""

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.events import (
    EpochDone,
    FiguresReported,
    RunRestarted,
    ScriptStarted,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.request import Request
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.processes.run_processes import processes_of
from gpupanel.runs.queue.waking import scheduler_lives
from gpupanel.script_process import reporting
from tests.fakes.own_programs import Programs, Ran, text_in, until

_SAYS_WHERE_IT_IS = """
import hooks, os, pickle, reports, sys
class Mine: pass
print(sys.argv, __name__, __file__, os.getcwd(), sys.path[0], hooks.NAME, reports.NAME)
print(sys.modules["__main__"].__file__, pickle.loads(pickle.dumps(Mine())).__class__)
print(sorted(set(globals()) - {"__annotations__", "__cached__"}))
print([(name, os.environ.get(name)) for name in ("KERAS_BACKEND", "TF_CONFIG", "PYTHONPATH")])
"""


@pytest.fixture
def programs(tmp_path: Path, runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    del runs_dir
    monkeypatch.setenv("GPUPANEL_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "work"
    folder.mkdir()
    return Programs(folder)


def test_that_a_program_finds_itself_as_in_a_terminal(programs: Programs) -> None:
    for name in ("hooks", "reports"):
        programs.write(f"NAME = 'the {name} of the person'", f"{name}.py")
    programs.variables |= {
        "KERAS_BACKEND": "jax",
        "TF_CONFIG": '{"cluster": {}}',
        "PYTHONPATH": "lib",
    }
    ran = programs.run(_SAYS_WHERE_IT_IS, "--epochs", "5", "a b", "--")
    alone = programs.in_a_terminal(programs.folder / "train.py", "--epochs", "5", "a b", "--")
    said, wanted = ran.log.splitlines(), alone.stdout.splitlines()
    assert ran.status == 0
    assert said[:3] == wanted[:3]
    # Relative entries are meant from the folder of the terminal, wherever the program works.
    assert said[3] == wanted[3].replace("'lib'", f"'{programs.folder / 'lib'}'")
    (started,) = ran.of(ScriptStarted)
    assert started.program == "train.py"
    assert ran.document["outcome"] == "completed"
    assert ran.document["saved"] is None


def test_that_a_program_that_fails_is_named_with_its_line(programs: Programs) -> None:
    text = """
    def learn(rate):
        raise ValueError(f"rate {rate}\\n  is too large")

    learn(7)
    """
    ran = programs.run(text)
    alone = programs.in_a_terminal(programs.folder / "train.py")
    assert ran.status == 1
    problem = ran.document["problem"]
    assert problem["code"] == "script_failed"
    assert problem["message"] == (
        "train.py ended with exit status 1: ValueError: rate 7 (line 3 of train.py)."
    )
    # The traceback is the terminal's, to the letter; the panel's own sentence stands below it.
    assert ran.log.startswith(alone.stderr)


def test_that_figures_of_an_own_loop_become_curves(programs: Programs) -> None:
    text = """
    import time
    from gpupanel.api import report
    for epoch in range(1, 4):
        for step in range(5):
            report(step=step, epoch=epoch, loss=1.0 / (5 * epoch + step), rate=0.1 * epoch)
            time.sleep(0.06)
        report(epoch=epoch, loss=0.5, val_loss=float(epoch))
    report(step=0, loss=float("nan"), iou=97.5)
    """
    ran = programs.run(text)
    steps = [event.step for event in ran.of(StepsDone)]
    assert steps == sorted(steps)
    assert len(set(steps)) > 10
    assert [event.metrics.val_loss for event in ran.of(EpochDone)] == [1.0, 2.0, 3.0]
    named = {name for event in ran.of(FiguresReported) for name in event.figures}
    assert named == {"rate", "iou"}
    assert ran.reported == ["figure_not_finite"]
    assert ran.document["metrics"]["val_loss"] == 3.0
    assert ran.document["best_epoch"] == 1


def test_that_the_file_of_reports_works_alone_and_says_nothing_without_the_panel(
    programs: Programs,
) -> None:
    copy = programs.write(Path(reporting.__file__).read_text(), "reporting.py")
    text = """
    import sys
    from reporting import report
    report(step=1, loss=0.5)
    print(report.should_stop(), report.checkpoint_folder, "gpupanel" in sys.modules)
    """
    ran = programs.run(text)
    assert [event.loss for event in ran.of(StepsDone)] == [0.5]
    assert ran.log.strip() == f"False {ran.layout.script_files} False"
    alone = programs.in_a_terminal(programs.folder / "train.py")
    assert alone.stdout.strip() == "False None False"
    assert {path.name for path in copy.parent.iterdir()} <= {
        *("__pycache__", "reporting.py", "train.py"),
    }


def test_that_a_profile_says_what_is_run_and_refuses_what_means_nothing_beside_it() -> None:
    profile = parse_profile('[script]\npath = "train.py"\narguments = ["--epochs", "5"]')
    assert profile.task == "script"
    assert profile.epochs_to_train == 0


@pytest.mark.long
def test_that_a_stopped_program_is_interrupted_as_by_ctrl_c(programs: Programs) -> None:
    text = """
    import time
    try:
        print("goes on", flush=True)
        time.sleep(600)
    except KeyboardInterrupt:
        print("saves", flush=True)
    """
    # A shell that starts it in the background has SIGINT ignored, which children inherit.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        layout = programs.start(text)
    finally:
        signal.signal(signal.SIGINT, before)
    until(lambda: "goes on" in text_in(layout.trainer_log))
    ask(layout, Request.STOP)
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "stopped"
    assert "saves" in ran.log


@pytest.mark.long
def test_that_a_program_that_saves_is_suspended_and_continues(programs: Programs) -> None:
    text = """
    import os, time
    from gpupanel.api import report
    kept = os.path.join(report.checkpoint_folder, "step")
    first = int(open(kept).read()) if os.path.exists(kept) else 0
    for step in range(first, 60):
        report(step=step, loss=float(step))
        time.sleep(0.06)
        if report.should_stop():
            open(kept, "w").write(str(step + 1))
            break
    """
    layout = programs.start(text)
    until(lambda: "steps_done" in text_in(layout.events))
    ask(layout, Request.SUSPEND)
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "suspended"
    programs.gpupanel("resume", layout.root, "--detach")
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "completed"
    steps = [event.step for event in ran.of(StepsDone)]
    assert steps == sorted(steps)
    assert steps[-1] == 59


@pytest.mark.long
def test_that_one_that_does_not_look_whether_it_should_suspend_continues_and_says_so(
    programs: Programs,
) -> None:
    layout = programs.start("import time, os\nwhile not os.path.exists('enough'): time.sleep(0.05)")
    until(lambda: "script_started" in text_in(layout.events))
    ask(layout, Request.SUSPEND)
    until(lambda: "script_does_not_suspend" in text_in(layout.events))
    (programs.folder / "enough").touch()
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "completed"
    assert ran.reported == ["script_does_not_suspend"]


@pytest.mark.long
def test_that_a_killed_program_is_lost_and_started_again_where_that_is_wished(
    programs: Programs,
) -> None:
    path = programs.write(
        """
        import os, signal
        first = not os.path.exists("begun")
        open("begun", "w").close()
        if first:
            os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    ran = programs.run_file(path)
    assert ran.document["outcome"] == "lost"
    assert ran.document["problem"]["message"].startswith("train.py was killed by SIGKILL")
    (programs.folder / "begun").unlink()
    profile = programs.folder / "again.toml"
    profile.write_text(
        f'[script]\npath = "train.py"\npython = "{sys.executable}"\nmax_restarts = 1\n'
    )
    done = programs.gpupanel("run", profile, "--trust", "--json")
    assert json.loads(done.stdout)["outcome"] == "completed"


@pytest.mark.long
def test_that_nothing_of_a_program_is_left_running(programs: Programs) -> None:
    text = """
    import os, subprocess, sys
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    # In a session of its own, with nothing of the run in its environment.
    child = subprocess.Popen(sleeper, start_new_session=True, env={})
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, sleeper, {})
        os._exit(0)
    os.wait()
    print(child.pid, flush=True)
    """
    ran = programs.run(text)
    assert ran.document["outcome"] == "completed"
    assert ran.reported == ["script_left_processes"]
    assert not processes_of(ran.layout)
    sleepers = [
        each
        for each in psutil.process_iter(["cmdline"])
        if "import time; time.sleep(600)" in (each.info["cmdline"] or ())
    ]
    assert not sleepers


@pytest.mark.long
def test_that_a_program_that_prints_an_error_and_exits_0_is_doubted(programs: Programs) -> None:
    text = """
    import traceback
    try:
        {}["weights"]
    except KeyError:
        traceback.print_exc()
    """
    ran = programs.run(text)
    assert ran.document["outcome"] == "completed"
    (problem,) = ran.reported
    assert problem == "script_error_printed"


@pytest.mark.long
def test_that_a_shell_script_runs_on_the_chosen_devices(programs: Programs) -> None:
    text = """\
    #!/bin/sh
    echo "$# of $1 sees $CUDA_VISIBLE_DEVICES from $PWD"
    exit 7
    """
    ran = programs.run(text, "a b", name="train.sh")
    assert ran.log.startswith(f"1 of a b sees -1 from {programs.folder}")
    assert ran.document["problem"]["message"].startswith("train.sh ended with exit status 7, and")


@pytest.mark.long
def test_that_reports_that_are_none_harm_nobody(programs: Programs) -> None:
    text = """
    import json, os
    from gpupanel.api import report
    def figures(**values):
        return json.dumps({"kind": "figures", "time_s": 0, **values}).encode()
    lines = (
        *(b"no report", b"\\xff\\xfe", b"[" * 60_000, b"{}", b"null"),
        figures(time_s=1e300, figures={"a": 1e308}),
        figures(step=-5, figures={"\\x1b[31m": 1}),
        figures(step=1e400, figures={"loss": "x"}),
        figures(figures={f"f{i}": i for i in range(5000)}),
        json.dumps({"kind": "fit", "time_s": 0, "epochs": 1e30, "steps": -1}).encode(),
        b'{"kind": "figures", "time_s": 0, "figures": {"loss": NaN, "b": -Infinity}}',
        b"x" * 10_000_000,
    )
    with open(os.path.join(os.environ["GPUPANEL_RUN"], "reports.jsonl"), "ab") as file:
        file.writelines(line + b"\\n" for line in lines)
    report(step=3, loss=0.25)
    """
    ran = programs.run(text)
    assert ran.document["outcome"] == "completed", ran.document
    assert [event.loss for event in ran.of(StepsDone)] == [0.25]
    assert ran.document["unread_lines"] == 0
    assert not ran.layout.script_reports.exists()


@pytest.mark.long
def test_that_a_program_that_was_changed_meanwhile_is_not_run(programs: Programs) -> None:
    layout = programs.start("import time; time.sleep(600)")
    until(lambda: "script_started" in text_in(layout.events))
    ask(layout, Request.STOP)
    programs.wait(layout)
    programs.write("print('something else')")
    done = programs.gpupanel("resume", layout.root, "--json")
    assert json.loads(done.stdout)["problem"]["code"] == "script_changed"


@pytest.mark.long
def test_that_a_program_of_a_profile_is_run_only_when_it_is_trusted(programs: Programs) -> None:
    programs.write("print('runs')")
    profile = programs.folder / "mine.toml"
    profile.write_text(f'[script]\npath = "train.py"\npython = "{sys.executable}"\n')
    refused = json.loads(programs.gpupanel("run", profile, "--json").stdout)
    assert [each["code"] for each in refused["problems"]] == ["code_not_trusted"] * 2
    assert programs.gpupanel("run", profile, "--trust").returncode == 0
    assert programs.gpupanel("run", profile).returncode == 0
    # Another command for the same file is not what was trusted.
    profile.write_text(profile.read_text() + 'environment = { LD_PRELOAD = "evil.so" }\n')
    refused = json.loads(programs.gpupanel("run", profile, "--json").stdout)
    assert [each["field"] for each in refused["problems"]] == ["script"]


_FITS = """
import keras
import numpy as np
keras.utils.set_random_seed(7)
x = np.random.default_rng(0).normal(size=(512, 16)).astype("float32")
model = keras.Sequential([
    keras.Input((16,)), keras.layers.Dense(32, "relu"), keras.layers.BatchNormalization(),
    keras.layers.Dropout(0.3), keras.layers.Dense(4),
])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(1e-2), loss, metrics=["accuracy"])
class Slow(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        import time
        time.sleep(0.3)
history = model.fit(
    x, x[:, :4].argmax(1), epochs=10, batch_size=64, validation_split=0.1, verbose=0,
    callbacks=[
        keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, min_delta=0.05),
        keras.callbacks.EarlyStopping(patience=50, restore_best_weights=True),
        keras.callbacks.CSVLogger("log.csv"),
        Slow(),
    ],
)
print("SAID", history.epoch, history.history, model.evaluate(x, x[:, :4].argmax(1), verbose=0))
"""


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_a_suspended_fit_continues_with_the_losses_of_one_that_was_not(
    programs: Programs,
) -> None:
    layout = programs.start(_FITS)
    for epoch in (2, 5):
        until(lambda epoch=epoch: f'"epoch_done","epoch":{epoch},' in text_in(layout.events))
        ask(layout, Request.SUSPEND)
        assert programs.wait(layout).document["outcome"] == "suspended"
        assert "SAID" not in text_in(layout.trainer_log)
        programs.gpupanel("resume", layout.root, "--detach")
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "completed", ran.log
    written = (programs.folder / "log.csv").read_text()
    alone = programs.in_a_terminal(programs.folder / "train.py")
    (wanted,) = (line for line in alone.stdout.splitlines() if line.startswith("SAID"))
    assert wanted in ran.log.splitlines()
    assert written == (programs.folder / "log.csv").read_text()
    first, second = (event.epoch for event in ran.of(TrainingResumed))
    assert 2 < first < second
    # Nothing is left that another start would take for its own.
    assert not list(ran.layout.script_files.glob("fit*"))


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_a_killed_fit_is_started_again_and_comes_to_the_same(programs: Programs) -> None:
    text = _FITS.replace(
        "        import time\n",
        "        import os, signal, time\n"
        "        if epoch == 6 and not os.path.exists('killed'):\n"
        "            open('killed', 'w').close()\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n",
    )
    programs.write(text)
    programs.variables["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    profile = programs.folder / "mine.toml"
    profile.write_text(
        f'[script]\npath = "train.py"\npython = "{sys.executable}"\nmax_restarts = 1\n'
    )
    done = programs.gpupanel("run", profile, "--trust", "--json")
    ran = Ran(done.returncode, json.loads(done.stdout))
    assert ran.document["outcome"] == "completed", ran.log
    assert len(ran.of(RunRestarted)) == 1
    alone = programs.in_a_terminal(programs.folder / "train.py")
    (wanted,) = (line for line in alone.stdout.splitlines() if line.startswith("SAID"))
    assert wanted in ran.log.splitlines()


@pytest.mark.long
def test_that_a_sweep_tries_values_in_the_arguments(programs: Programs) -> None:
    programs.write(
        """
        import sys
        from gpupanel.api import report
        rate = float(sys.argv[1].partition("=")[2])
        for epoch in (1, 2):
            report(epoch=epoch, loss=rate / epoch, val_loss=(rate - 0.2) ** 2)
        """
    )
    profile = programs.folder / "tried.toml"
    profile.write_text(
        f'[script]\npath = "train.py"\npython = "{sys.executable}"\n'
        'arguments = ["--rate={rate}"]\n'
        '[sweep]\nmethod = "grid"\nprune = false\n[sweep.values]\nrate = [0.1, 0.2, 0.4]\n'
    )
    started = json.loads(programs.gpupanel("sweep", profile, "--trust", "--json").stdout)
    status = started

    def has_ended() -> bool:
        nonlocal status
        status = json.loads(programs.gpupanel("sweep", started["sweep"], "--json").stdout)
        return bool(status["state"] != "in progress") and not scheduler_lives(queue_dir())

    until(has_ended)
    assert [trial["state"] for trial in status["trials"]] == ["completed"] * 3, status
    assert [trial["value"] for trial in status["trials"]] == pytest.approx([0.01, 0.0, 0.04])
    assert status["best"] == 2


@pytest.mark.long
def test_that_a_program_that_removes_its_run_ends_what_follows_it(programs: Programs) -> None:
    text = "import os, shutil; shutil.rmtree(os.environ['GPUPANEL_RUN'])"
    done = programs.gpupanel("run", programs.write(text), "--python", sys.executable, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["problems"]


@pytest.mark.long
def test_that_arguments_that_no_profile_holds_are_refused_before_the_start(
    programs: Programs,
) -> None:
    path = programs.write("print('runs')")
    done = programs.gpupanel("run", path, "--json", "--", "y" * 30_000)
    assert done.returncode == 2
    (problem,) = json.loads(done.stdout)["problems"]
    assert (problem["code"], problem["field"]) == ("profile_beyond_bounds", "script.arguments.0")


@pytest.mark.long
def test_that_what_cannot_be_started_is_refused_before_the_start(
    programs: Programs, runs_dir: Path
) -> None:
    programs.write("print('runs')")
    programs.write("{}", "notebook.ipynb")
    programs.write("no program", "notes.txt").chmod(0o644)
    programs.write("echo begins with no line that says who runs it", "bare.sh")
    (programs.folder / "binary").write_bytes(b"#!\0\0")
    (programs.folder / "binary").chmod(0o755)
    for words, code in (
        (["notebook.ipynb"], "script_is_notebook"),
        (["notes.txt"], "script_not_started"),
        (["bare.sh"], "script_not_started"),
        (["binary"], "code_unreadable"),
        (["nowhere.py"], "code_missing"),
        (["train.py", "--python", "nowhere/python"], "script_not_started"),
        (["train.py", "--epochs", "5"], "arguments_not_understood"),
    ):
        done = programs.gpupanel("run", *words, "--json")
        assert done.returncode == 2, words
        assert code in [each["code"] for each in json.loads(done.stdout)["problems"]], words
    assert not runs_dir.exists()


@pytest.mark.long
def test_that_a_program_dies_with_the_process_that_watches_it(programs: Programs) -> None:
    text = """
    import os, sys
    open("pid", "w").write(f"{os.getpid()} {os.getppid()}")
    if os.getpgid(0) != os.getpid():
        os.setsid()
    sleeps = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
    os.execve(sys.executable, [sys.executable, "-c", sleeps], {})
    """
    layout = programs.start(text)
    pids = programs.folder / "pid"
    until(lambda: len(text_in(pids).split()) == 2)
    program, parent = map(int, text_in(pids).split())
    os.kill(parent, signal.SIGKILL)
    assert programs.wait(layout).document["outcome"] == "lost"
    # Whoever inherits it may take its exit status later.
    with suppress(psutil.NoSuchProcess):
        assert psutil.Process(program).status() == psutil.STATUS_ZOMBIE


@pytest.mark.long
def test_that_a_program_that_fails_while_it_is_suspended_has_failed(programs: Programs) -> None:
    text = """
    import time
    from gpupanel.api import report
    open(report.checkpoint_folder + "/kept", "w").close()
    while not report.should_stop():
        time.sleep(0.05)
    time.sleep(0.5)
    raise OSError("no space left")
    """
    layout = programs.start(text)
    until(lambda: (layout.script_files / "kept").exists())
    ask(layout, Request.SUSPEND)
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "failed"
    assert "no space left" in ran.document["problem"]["message"]


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_a_fit_whose_state_cannot_be_kept_or_read_trains_all_the_same(
    programs: Programs,
) -> None:
    blocked = "import os\nopen(os.environ['GPUPANEL_RUN'] + '/program', 'w').close()\n"
    layout = programs.start(blocked + _FITS)
    until(lambda: '"epoch_done","epoch":1,' in text_in(layout.events))
    ask(layout, Request.SUSPEND)
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "completed", ran.log
    assert ran.reported == ["script_not_kept"]

    layout = programs.start(_FITS)
    until(lambda: '"epoch_done","epoch":1,' in text_in(layout.events))
    ask(layout, Request.SUSPEND)
    assert programs.wait(layout).document["outcome"] == "suspended"
    kept = layout.script_files / "fit.npz"
    kept.write_bytes(kept.read_bytes()[:-200])
    programs.gpupanel("resume", layout.root, "--detach")
    ran = programs.wait(layout)
    assert ran.document["outcome"] == "completed", ran.log
    assert ran.reported == ["script_kept_unreadable"]
    said = [line for line in ran.log.splitlines() if line.startswith("SAID")]
    alone = programs.in_a_terminal(programs.folder / "train.py")
    assert said == [line for line in alone.stdout.splitlines() if line.startswith("SAID")]

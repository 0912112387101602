"""Run folders of strangers: they write nothing outside, and keep nobody waiting."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.events import RunEnded, RunStarted
from gpupanel.domain.model import SavedModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.detached import start_detached
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.history.deleting import delete_run
from gpupanel.runs.history.label import change_label, read_label
from gpupanel.runs.history.summaries import RunLister, list_runs, summarize_run
from gpupanel.runs.launcher import resume
from gpupanel.runs.queue.running_runs import RunningRuns
from gpupanel.runs.resumable import resume_problem
from gpupanel.runs.supervision import process
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes import hostile_files
from tests.fakes.hostile_files import (
    IN_PLACE_OF_A_FILE,
    IN_PLACE_OF_A_FOLDER,
    Plant,
    put_in_place,
)
from tests.fakes.run_directory import WrittenRun

pytestmark = pytest.mark.timeout(60)

KEYS = "ssh-ed25519 of the person's\n"
FILES = (
    "events.jsonl",
    "telemetry.jsonl",
    "trainer.log",
    "profile.toml",
    "plan.json",
    "label.toml",
    "run.lock",
    "resume.lock",
    "reserve",
    "amendment.json",
)
FOLDERS = ("requests", "heartbeats", "checkpoints", "tensorboard", "code")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    path = home / "authorized_keys"
    path.write_text(KEYS)
    # What a link in the place of a folder could reach: names that a run removes and writes.
    (home / "stop").write_text("kept")
    (home / ".step-000000001.partial").mkdir()
    return path


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    """A run that was stopped and has a checkpoint: it can be resumed."""
    run = WrittenRun(runs_dir)
    run.write(
        RunStarted(time_s=1.0, supervisor_pid=1),
        RunEnded(time_s=2.0, outcome=Outcome.STOPPED, exit_code=0),
    )
    (run.layout.checkpoints / "step-000000023").mkdir(parents=True)
    return run.layout


def asked(*words: str) -> tuple[int, dict[str, Any]]:
    """The verb's exit status and document; what it raises is no answer."""
    told = CliRunner().invoke(app, [*words, "--json"])
    if told.exception is not None and not isinstance(told.exception, SystemExit):
        raise told.exception
    return told.exit_code, strict_json(told.stdout)


def strict_json(text: str) -> dict[str, Any]:
    def refuse(constant: str) -> object:
        raise AssertionError(f"{constant} is no JSON")

    document = json.loads(text, parse_constant=refuse)
    assert isinstance(document, dict)
    return document


def assert_untouched(victim: Path) -> None:
    assert victim.read_text() == KEYS
    names = sorted(path.name for path in victim.parent.iterdir())
    assert names == [".step-000000001.partial", "authorized_keys", "stop"]


def code_of(caught: pytest.ExceptionInfo[ProblemError]) -> str:
    return caught.value.problems[0].code


def test_that_resuming_a_strangers_run_appends_no_key(layout: RunLayout, victim: Path) -> None:
    profile = layout.profile.read_text()
    named = Profile(model=SavedModel(path="/x\nssh-ed25519 of a stranger\n"))
    layout.profile.write_text(profile.replace('source = "mlp"', f"path = {named.model.path!a}"))
    put_in_place(hostile_files.link, layout.trainer_log, victim)
    status, document = asked("resume", layout.name)
    assert status == 1
    (problem,) = document["problems"]
    assert problem["code"] == "run_folder_unsafe"
    assert f"{layout.trainer_log} is a symbolic link" in problem["message"]
    assert_untouched(victim)


PLANTED = [
    *((name, plant) for name in FILES for plant in IN_PLACE_OF_A_FILE.values()),
    *((name, plant) for name in FOLDERS for plant in IN_PLACE_OF_A_FOLDER.values()),
    *((name, hostile_files.hard_link) for name in FILES),
]


@pytest.mark.parametrize(("name", "plant"), PLANTED)
def test_that_no_run_is_resumed_in_which_something_leads_elsewhere(
    layout: RunLayout, victim: Path, name: str, plant: Plant
) -> None:
    if name == "checkpoints":
        (layout.checkpoints / "step-000000023").rmdir()
    put_in_place(plant, layout.root / name, victim)
    with pytest.raises(ProblemError) as caught:
        resume(layout)
    assert code_of(caught) == "run_folder_unsafe"
    assert name in caught.value.problems[0].message
    assert_untouched(victim)


@pytest.mark.parametrize(
    ("name", "plant"), [each for each in PLANTED if each[1] is not hostile_files.hard_link]
)
def test_that_such_a_run_is_listed_with_its_flaw_and_keeps_nobody_waiting(
    layout: RunLayout, victim: Path, name: str, plant: Plant
) -> None:
    if name == "checkpoints":
        (layout.checkpoints / "step-000000023").rmdir()
    put_in_place(plant, layout.root / name, victim)
    (summary,) = list_runs(layout.root.parent)
    assert summary.flaw is not None
    assert summary.flaw.code == "run_folder_unsafe"
    assert name in summary.flaw.message
    status, document = asked("runs")
    assert (status, len(document["runs"])) == (0, 1)
    for verb in ("stop", "suspend", "checkpoint", "watch"):
        assert asked(verb, layout.name)[0] in (0, 1, 130)
    RunningRuns().find([layout.root.parent])
    read_label(layout)
    assert_untouched(victim)


@pytest.mark.parametrize(
    "name", ["data.json", "accept-changed-data", "evaluation.npz", "start.keras"]
)
def test_that_a_link_in_the_place_of_a_result_is_seen_too(
    layout: RunLayout, victim: Path, name: str
) -> None:
    put_in_place(hostile_files.link, layout.root / name, victim)
    with pytest.raises(ProblemError) as caught:
        resume(layout)
    assert code_of(caught) == "run_folder_unsafe"
    assert_untouched(victim)


@pytest.mark.parametrize("plant", [*IN_PLACE_OF_A_FOLDER.values()])
def test_that_asking_a_run_that_goes_on_reaches_no_other_folder(
    runs_dir: Path, victim: Path, plant: Plant
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        put_in_place(plant, run.layout.requests, victim)
        status, document = asked("stop", run.layout.name)
    assert status == 1
    assert document["problems"][0]["code"] == "run_folder_unsafe"
    assert_untouched(victim)


@pytest.mark.parametrize("name", ["events.jsonl", "reserve", "run.lock", "trainer.log"])
def test_that_a_supervisor_follows_no_link_that_was_planted_after_it_was_checked(
    layout: RunLayout, victim: Path, name: str
) -> None:
    put_in_place(hostile_files.link, layout.root / name, victim)

    def supervise() -> None:
        Supervisor(layout, ("false",)).run()

    def start() -> None:
        start_detached(("false",), layout.trainer_log, "a supervisor")

    if name in ("events.jsonl", "run.lock"):
        with pytest.raises(OSError, match="a symbolic link"):
            supervise()
    else:
        layout.events.write_text("")
        supervise()  # tells as the run's end what is wrong with its log
        assert summarize_run(layout).outcome in (Outcome.FAILED, Outcome.LOST)
    if name == "trainer.log":
        problem = summarize_run(layout).problem
        assert problem is not None
        assert problem.code == "run_folder_unsafe"
        with pytest.raises(OSError, match="a symbolic link"):
            start()
    assert_untouched(victim)


@pytest.mark.parametrize("name", ["events.jsonl", "run.lock"])
def test_that_a_supervisor_that_can_write_nothing_ends_with_a_sentence(
    layout: RunLayout,
    victim: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(process.signal, "signal", lambda *_: None)
    put_in_place(hostile_files.link, layout.root / name, victim)
    assert process.supervise(layout, lambda run: Supervisor(run, ("false",))) == 1
    said = capfd.readouterr().err
    assert said.startswith("supervisor: ")
    assert f"{name} is a symbolic link" in said
    assert said.count("\n") == 1


def test_that_a_label_is_written_into_the_run_and_nowhere_else(
    layout: RunLayout, victim: Path
) -> None:
    layout.label.symlink_to(victim)
    change_label(layout, name="mine")
    assert read_label(layout).name == "mine"
    layout.label.with_suffix(".lock").unlink()
    layout.label.with_suffix(".lock").symlink_to(victim.with_name("made"))
    with pytest.raises(ProblemError) as caught:
        change_label(layout, name="again")
    assert code_of(caught) == "run_folder_unsafe"
    assert_untouched(victim)


def test_that_a_hostile_run_can_be_deleted_and_what_its_links_lead_to_stays(
    layout: RunLayout, victim: Path
) -> None:
    for path in (layout.lock, layout.resume_lock, layout.trainer_log):
        put_in_place(hostile_files.link, path, victim)
    layout.tensorboard.symlink_to(victim.parent)
    assert delete_run(layout, None)
    assert list(layout.root.parent.iterdir()) == []
    assert_untouched(victim)


def test_that_a_link_to_a_run_is_not_deleted_as_the_run(layout: RunLayout, tmp_path: Path) -> None:
    linked = RunLayout(layout.root.with_name("linked"))
    linked.root.symlink_to(layout.root)
    with pytest.raises(ProblemError) as caught:
        delete_run(linked, None)
    assert code_of(caught) == "run_is_a_link"
    assert layout.profile.exists()


DEEP = "[" * 500 + "]" * 500
BAD_EVENTS = {
    "deep": f'{{"kind":"run_started","time_s":1.0,"supervisor_pid":{DEEP}}}\n',
    "400 digits": f'{{"kind":"run_started","time_s":{"9" * 400},"supervisor_pid":1}}\n',
    "5,000 digits": f'{{"kind":"run_started","time_s":{"9" * 5000},"supervisor_pid":1}}\n',
    "infinity": '{"kind":"run_started","time_s":Infinity,"supervisor_pid":1}\n',
    "nan": '{"kind":"run_started","time_s":NaN,"supervisor_pid":1}\n',
    "huge exponent": '{"kind":"run_started","time_s":1e999,"supervisor_pid":1}\n',
    "step of 400 digits": '{"kind":"epoch_done","time_s":1.0,"epoch":1,"step":'
    + "9" * 400
    + ',"metrics":{},"seconds":1.0}\n',
    "infinite change": '{"kind":"run_restarted","time_s":1.0,"attempt":0,"changes":'
    '[{"path":["a"],"value":Infinity}]}\n',
}
BAD_FILES: dict[str, tuple[str, bytes]] = {
    **{name: ("events.jsonl", text.encode()) for name, text in BAD_EVENTS.items()},
    "plan deep": ("plan.json", b'{"devices":' + DEEP.encode() + b"}"),
    "plan 5,000 digits": ("plan.json", b'{"schema":' + b"9" * 5000 + b"}"),
    "plan infinity": ("plan.json", b'{"global_batch_size":Infinity}'),
    "plan no UTF-8": ("plan.json", b"\xff\xfe"),
    "profile deep": ("profile.toml", b"a=" + b"[" * 500),
    "profile 5,000 digits": ("profile.toml", b"a=" + b"9" * 5000),
    "profile many parts": ("profile.toml", b".".join([b"a"] * 100_000) + b"=1"),
    "label deep": ("label.toml", b"name=" + b"[" * 500),
    "label 5,000 digits": ("label.toml", b"name=" + b"9" * 5000),
    "label a number": ("label.toml", b"name=inf"),
    "amendment": ("amendment.json", b'{"number":' + b"9" * 5000 + b"}"),
    "telemetry": (
        "telemetry.jsonl",
        b'{"time_s":'
        + b"9" * 400
        + b',"readings":[]}\n{"time_s":Infinity,"readings":'
        + b"[" * 500,
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_that_one_bad_folder_never_breaks_the_list_for_all(runs_dir: Path, name: str) -> None:
    file, content = BAD_FILES[name]
    good = WrittenRun(runs_dir, Profile(name="good"))
    good.begin()
    good.step(3)
    good.end()
    bad = WrittenRun(runs_dir, Profile(name="bad"))
    bad.begin()
    (bad.layout.root / file).write_bytes(content)
    for path in bad.layout.root.iterdir():
        os.utime(path, (1.0, 1.0))  # long enough ago to be no run that is just starting
    lister = RunLister(runs_dir)
    for _ in range(2):
        assert {run.path.name for run in lister.list()} == {
            good.layout.root.name,
            bad.layout.root.name,
        }
    status, document = asked("runs")
    assert (status, len(document["runs"])) == (0, 2)
    flaws = {run["path"]: run["flaw"] for run in document["runs"]}
    assert flaws[str(good.layout.root)] is None
    is_told = ("profile", "plan deep", "plan 5", "plan no", "400 digits", "infinity", "deep")
    if name.startswith(is_told):
        assert flaws[str(bad.layout.root)]["code"] in ("run_damaged", "run_newer")
    assert asked("watch", bad.layout.name)[0] == 1
    with suppress(ProblemError):
        resume_problem(bad.layout)
    follower = RunFollower(bad.layout)
    while not follower.poll().is_empty:
        pass


NAMES: dict[str, Callable[[Path], Path]] = {
    "no UTF-8": lambda path: path.with_name(os.fsdecode(b"run\xff")),
    "control characters": lambda path: path.with_name("run\x1b[31m\nnext"),
    "direction": lambda path: path.with_name("run\u202eelif"),
}


@pytest.mark.parametrize("name", NAMES)
def test_that_a_folder_with_an_odd_name_is_listed_and_found_by_what_is_shown(
    layout: RunLayout, name: str
) -> None:
    root = layout.root.rename(NAMES[name](layout.root))
    (summary,) = list_runs(root.parent)
    assert summary.name == RunLayout(root).name
    assert summary.name.isprintable()
    assert summary.path == root
    status, document = asked("runs")
    assert status == 0
    assert document["runs"][0]["path"] == str(root)
    assert asked("stop", summary.name) == (0, {"run": str(root), "asked": False})
    RunningRuns().find([root.parent])


def test_that_a_link_that_leads_in_a_circle_breaks_no_list(layout: RunLayout) -> None:
    circle = layout.root.with_name("circle")
    circle.symlink_to(circle)
    assert [run.name for run in list_runs(layout.root.parent)] == [layout.name]


def test_that_a_run_that_is_a_link_is_listed(layout: RunLayout, tmp_path: Path) -> None:
    elsewhere = layout.root.rename(tmp_path / "elsewhere")
    layout.root.symlink_to(elsewhere)
    (summary,) = list_runs(layout.root.parent)
    assert (summary.path, summary.flaw) == (layout.root, None)


def test_that_a_damaged_amendment_is_reported_and_changes_nothing(layout: RunLayout) -> None:
    before = layout.profile.read_bytes(), layout.events.read_bytes()
    layout.amendment.write_text("{}")
    with pytest.raises(ProblemError) as caught:
        resume(layout)
    assert code_of(caught) == "amendment_damaged"
    assert (layout.profile.read_bytes(), layout.events.read_bytes()) == before

"""Run folders in which everything was exchanged: listed, followed, asked and refused, and no more.

Each example takes a folder with one good run and one in which several files are damaged, hostile,
or no files at all, and goes through what window and terminal do with it.
"""

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.named_run import found_run
from gpupanel.domain.events import encode_event
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.amendments import finish_amendment
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.unsafe_entries import check_run_folder
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.curves import CurveReader
from gpupanel.runs.history.differences import differences
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.summaries import RunLister, summarize_run
from gpupanel.runs.queue.running_runs import RunningRuns, device_keys, goes_on
from gpupanel.runs.resumable import resume_problem
from gpupanel.ui.plots.run_curves import RunCurves
from gpupanel.ui.run_texts import status_text
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, IN_PLACE_OF_A_FOLDER, put_in_place
from tests.fakes.run_directory import WrittenRun
from tests.fuzz.mutations import damaged, hostile_json, hostile_toml, with_odd_values
from tests.fuzz.test_mutated_runs import EVENT_FILE, LINES, TELEMETRY_FILE

MOST_WORK_S = 5.0
"""Of a processor: a machine that has other things to do takes longer, and is not to blame."""
LONGEST_S = 60.0
FEW = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MANY = settings(FEW, max_examples=2_000)

FOLDERS = ("requests", "heartbeats", "checkpoints", "tensorboard", "code")
TOML_FILES = ("profile.toml", "label.toml")
JSON_FILES = ("plan.json", "amendment.json")
LINE_FILES = ("events.jsonl", "telemetry.jsonl")
OTHERS = ("trainer.log", "run.lock", "resume.lock", "reserve")
WHOLE = {"events.jsonl": EVENT_FILE, "telemetry.jsonl": TELEMETRY_FILE}

Change = tuple[str, str, bytes]
"""The file, what is put in its place (empty: a file), and its content."""


def contents(name: str, whole: bytes) -> st.SearchStrategy[bytes]:
    """What may stand in that file."""
    odd: st.SearchStrategy[bytes]
    if name in TOML_FILES:
        odd = hostile_toml()
    elif name in JSON_FILES:
        odd = hostile_json()
    elif name in LINE_FILES:
        strange = with_odd_values([json.loads(line) for line in LINES])
        lines = st.one_of(
            hostile_json(), strange.map(lambda each: json.dumps(each).encode()), st.just(LINES[0])
        )
        odd = st.lists(lines, max_size=6).map(lambda each: b"\n".join(each) + b"\n")
    else:
        odd = st.binary(max_size=200)
    return st.one_of(odd, damaged([whole])) if whole else odd


@st.composite
def changes(draw: st.DrawFn, whole: dict[str, bytes]) -> list[Change]:
    """Up to four files or folders of a run, and what becomes of them."""
    made: list[Change] = []
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from((*FOLDERS, *TOML_FILES, *JSON_FILES, *LINE_FILES, *OTHERS)))
        if name in FOLDERS:
            made.append((name, draw(st.sampled_from(sorted(IN_PLACE_OF_A_FOLDER))), b""))
        elif draw(st.integers(0, 2)) == 0:
            made.append((name, draw(st.sampled_from(sorted(IN_PLACE_OF_A_FILE))), b""))
        else:
            made.append((name, "", draw(contents(name, whole.get(name, b"")))))
    return made


class Ground:
    """Two runs and a file of the person's, made anew for each example."""

    def __init__(self, folder: Path) -> None:
        self.runs_dir = folder / "runs"
        self._template = folder / "template"
        self.victim = folder / "home" / "authorized_keys"
        self.victim.parent.mkdir()
        self.victim.write_text("kept")
        (self.victim.parent / "stop").write_text("kept")
        for name in ("bad", "good"):
            run = WrittenRun(self._template, Profile(name=name))
            run.layout.events.write_bytes(EVENT_FILE)
            run.layout.telemetry.write_bytes(TELEMETRY_FILE)
            for part in ("checkpoints", "heartbeats"):
                (run.layout.root / part).mkdir()
            run.layout.root.rename(self._template / name)
        bad = self._template / "bad"
        self.whole = {path.name: path.read_bytes() for path in bad.iterdir() if path.is_file()}

    def changed(self, made: list[Change]) -> RunLayout:
        shutil.rmtree(self.runs_dir, ignore_errors=True)
        shutil.copytree(self._template, self.runs_dir)
        root = self.runs_dir / "bad"
        for name, plant, content in made:
            path = root / name
            if plant:
                kinds = IN_PLACE_OF_A_FOLDER if name in FOLDERS else IN_PLACE_OF_A_FILE
                put_in_place(kinds[plant], path, self.victim)
            else:
                put_in_place(lambda path, _victim: None, path, self.victim)
                path.write_bytes(content)
        return RunLayout(root)

    def assert_untouched(self) -> None:
        names = sorted(path.name for path in self.victim.parent.iterdir())
        assert names == ["authorized_keys", "stop"]
        assert self.victim.read_text() == (self.victim.parent / "stop").read_text() == "kept"


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def refuse_constant(constant: str) -> object:
    raise AssertionError(f"{constant} is no JSON")


def document_of(*words: str) -> dict[str, Any]:
    told = CliRunner().invoke(app, [*words, "--json"])
    assert told.exception is None or isinstance(told.exception, SystemExit), told.exception
    document = json.loads(told.stdout, parse_constant=refuse_constant)
    assert isinstance(document, dict)
    return document


def refused_or_done(do: Callable[[], object]) -> None:
    """Nothing else is raised than what every caller tells in a sentence."""
    with suppress(ProblemError, OSError):
        do()


def follow(layout: RunLayout) -> None:
    """As the window does, curves and words and all."""
    follower, status, curves = RunFollower(layout), RunStatus(epoch_total=3), RunCurves()
    curves.set_devices(TWO_UNEQUAL)
    while not (followed := follower.poll()).is_empty:
        for part in followed.parts:
            status = status.after(part)
            encode_event(part) if hasattr(part, "kind") else len(part)
        curves.add_events(followed.parts)
        curves.add_samples(followed.readings)
    assert status_text(status)


def compare(layout: RunLayout) -> None:
    reader = CurveReader(layout, 1_000)
    while reader.read():
        reader.points()


def profile_of(layout: RunLayout) -> Profile | None:
    try:
        return read_run_profile(layout)
    except ProblemError:
        return None


def assert_held(ground: Ground, made: list[Change]) -> None:
    layout = ground.changed(made)
    start_s, work_s = time.monotonic(), time.process_time()
    lister = RunLister(ground.runs_dir)
    for _ in range(2):
        names = {run.name for run in lister.list()}
        assert "good" in names
        assert names <= {"good", "bad"}
    summarize_run(layout)
    runs = document_of("runs", "--runs-dir", str(ground.runs_dir))["runs"]
    assert {run["name"]: run["flaw"] for run in runs}["good"] is None
    good = RunLayout(ground.runs_dir / "good")
    differences(
        [profile_of(layout), profile_of(good)], [plan_if_readable(layout), plan_if_readable(good)]
    )
    for do in (
        lambda: follow(layout),
        lambda: compare(layout),
        lambda: resume_problem(layout),
        lambda: finish_amendment(layout),
        lambda: check_run_folder(layout),
        lambda: change_label(layout, name="mine"),
        lambda: RunningRuns().find([ground.runs_dir]),
        lambda: (goes_on(layout), device_keys(layout)),
        lambda: found_run("good", ground.runs_dir, json=True),
    ):
        refused_or_done(do)
    document_of("stop", "bad", "--runs-dir", str(ground.runs_dir))
    ground.assert_untouched()
    assert time.process_time() - work_s < MOST_WORK_S
    assert time.monotonic() - start_s < LONGEST_S


@FEW
@given(data=st.data())
def test_that_a_hostile_run_folder_hurts_nothing_else(ground: Ground, data: st.DataObject) -> None:
    assert_held(ground, data.draw(changes(ground.whole)))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@MANY
@given(data=st.data())
def test_that_two_thousand_hostile_run_folders_hurt_nothing_else(
    ground: Ground, data: st.DataObject
) -> None:
    assert_held(ground, data.draw(changes(ground.whole)))

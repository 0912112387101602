"""Lists of runs: what each is told as, whatever its folder holds, and how fast."""

import errno
import json
import os
import shutil
import time
from pathlib import Path
from types import ModuleType

import pytest

from gpupanel.domain import events
from gpupanel.domain.events import encode_event
from gpupanel.domain.model import SavedModel
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_filter import parse_run_filter
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.history import label as label_module
from gpupanel.runs.history import run_record, summaries
from gpupanel.runs.history.finding import run_finder
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.run_summary import RunProgress, RunSummary
from gpupanel.runs.history.run_text import run_outcome_text
from gpupanel.runs.history.summaries import RunLister, list_runs, summarize_run
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fakes.many_runs import write_many_runs
from tests.fakes.run_directory import STARTED_S, WrittenRun

LONG_AGO = 100_000.0


def only(runs_dir: Path) -> RunSummary:
    (run,) = list_runs(runs_dir)
    return run


def ended(runs_dir: Path, profile: Profile | None = None) -> RunLayout:
    with WrittenRun(runs_dir, profile) as run:
        run.begin()
        run.step(3)
        run.end()
    return run.layout


def make_old(layout: RunLayout) -> None:
    """Let all of it be from long ago, so that nothing of it may just be starting."""
    then = time.time() - LONG_AGO
    for path in (*layout.root.iterdir(), layout.root):
        os.utime(path, (then, then))


@pytest.mark.alone
def test_that_a_thousand_runs_are_listed_within_a_second_and_none_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_many_runs(tmp_path / "runs", 1_000, TWO_UNEQUAL, steps=90)
    # Time of the processor, and the best of three, since others may keep it busy.
    used_s = []
    for _ in range(3):
        lister = RunLister(tmp_path / "runs")
        begin_s = time.process_time()
        runs = lister.list()
        used_s.append(time.process_time() - begin_s)
    assert min(used_s) < 1.0
    assert len(runs) == 1_000
    assert [run.profile_name for run in runs[:2]] == ["run 999", "run 998"]

    monkeypatch.setattr(
        "gpupanel.runs.history.summaries.read_record",
        lambda layout: pytest.fail(f"{layout.name} was read again"),
    )
    assert all(one is other for one, other in zip(runs, lister.list(), strict=True))


def test_that_a_run_that_goes_on_reports_how_far_it_is(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(12)
        summary = only(runs_dir)
    assert summary.is_running
    assert summary.outcome is None
    assert summary.progress == RunProgress(epoch=2, epoch_total=3, step=12, step_total=30)
    assert summary.examples_per_second == 640.0
    assert run_outcome_text(summary) == "running, 40 %"


def test_that_an_evaluation_reports_how_far_it_is_and_then_what_it_found(runs_dir: Path) -> None:
    found = Metrics(loss=0.3, accuracy=0.9)
    with WrittenRun(runs_dir) as run:
        text = run.layout.profile.read_text().replace('task = "train"', 'task = "evaluate"')
        run.layout.profile.write_text(text)
        run.begin(events.Phase.STARTING)
        run.write(
            events.ExamplesDone(
                time_s=STARTED_S, examples=25, examples_total=100, examples_per_second=50.0
            )
        )
        assert run_outcome_text(only(runs_dir)) == "running, 25 %"
        run.write(events.RunEnded(time_s=STARTED_S + 9, outcome=Outcome.COMPLETED, metrics=found))
    summary = only(runs_dir)
    assert summary.task == "evaluate"
    assert summary.quality == found
    assert summary.trained == Metrics()


def test_that_what_the_test_set_showed_stands_beside_the_validation(runs_dir: Path) -> None:
    reached = Metrics(loss=0.5, val_loss=0.6, val_accuracy=0.75).with_part(
        "test", Metrics(loss=0.7, accuracy=0.625)
    )
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.write(events.RunEnded(time_s=STARTED_S + 9, outcome=Outcome.COMPLETED, metrics=reached))
    summary = only(runs_dir)
    assert summary.metrics == reached
    assert summary.quality == Metrics(loss=0.6, accuracy=0.75)
    assert summary.tested == Metrics(loss=0.7, accuracy=0.625)


def test_that_a_run_killed_between_epochs_keeps_what_the_last_one_reached(runs_dir: Path) -> None:
    reached = Metrics(loss=0.5, val_accuracy=0.75)
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.write(
            events.EpochDone(time_s=STARTED_S + 4, epoch=1, step=10, metrics=reached, seconds=1.0)
        )
        run.step(400)  # far more than the short look at the end holds
    summary = only(runs_dir)
    assert summary.outcome is Outcome.LOST
    assert summary.metrics == reached
    assert summary.quality.accuracy == 0.75
    assert summary.ended_s == pytest.approx(STARTED_S + 42)
    assert summary.examples_per_second is None
    assert summary.flaw is None


def test_that_a_killed_run_has_its_last_validation_beside_its_last_epoch(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        for epoch, validated in enumerate((0.9, 0.7, None, None), start=1):
            metrics = Metrics(loss=1.0 / epoch, val_loss=validated)
            run.write(
                events.EpochDone(
                    time_s=STARTED_S + epoch, epoch=epoch, step=epoch, metrics=metrics, seconds=1.0
                )
            )
    assert only(runs_dir).metrics == Metrics(loss=0.25, val_loss=0.7)


@pytest.mark.parametrize("is_listed_again", [False, True], ids=["one run", "listed again"])
def test_that_a_run_that_ends_while_it_is_read_is_not_lost(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch, is_listed_again: bool
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        lister = RunLister(runs_dir)
        assert lister.list()[0].is_running

        def supervised_until_now(layout: RunLayout) -> bool:
            run.end(Outcome.SUSPENDED)
            return is_supervised(layout)

        monkeypatch.setattr(summaries, "is_supervised", supervised_until_now)
        found = lister.list()[0] if is_listed_again else summarize_run(run.layout)

    assert found.outcome is Outcome.SUSPENDED
    assert found.problem is None


def test_that_a_supervisor_may_take_a_while_to_come_on_a_busy_machine(runs_dir: Path) -> None:
    layout = WrittenRun(runs_dir).layout
    for age_s, is_running in ((20.0, True), (LONG_AGO, False)):
        os.utime(layout.profile, (time.time() - age_s,) * 2)
        assert summarize_run(layout).is_running is is_running


@pytest.mark.parametrize(
    ("module", "part"),
    [
        (run_record, "EventEnds"),
        (run_record, "read_profile_head"),
        (run_record, "read_plan_head"),
        (label_module, "read_file"),
    ],
)
def test_that_a_run_that_could_not_be_read_for_a_moment_is_read_again(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, part: str
) -> None:
    layout = ended(runs_dir)
    change_label(layout, name="named", notes="")
    lister = RunLister(runs_dir)

    def stumble(*_: object, **_more: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as stumbling:
        stumbling.setattr(module, part, stumble)
        (run,) = lister.list()
        assert run.flaw is not None
        assert run.flaw.code == "run_unreadable"

    (run,) = lister.list()
    assert run.flaw is None
    assert (run.outcome, run.label, run.strategy) == (Outcome.COMPLETED, "named", "one_device")


def test_that_only_the_last_word_counts_where_a_run_was_resumed(runs_dir: Path) -> None:
    layout = ended(runs_dir)
    restarted = events.RunRestarted(time_s=STARTED_S + 100, attempt=0)
    with layout.events.open("a") as file:
        file.write(encode_event(restarted) + "\n")
    assert only(runs_dir).outcome is Outcome.LOST
    again = restarted.model_copy(update={"time_s": time.time() - 1.0})
    with layout.events.open("a") as file:
        file.write(encode_event(again) + "\n")
    assert only(runs_dir).is_running


def test_that_restarts_and_segments_are_those_of_the_last_word(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        word = events.RunEnded(time_s=STARTED_S + 9_000, outcome=Outcome.COMPLETED)
        run.write(word.model_copy(update={"restarts": 3, "lasted_s": 40.0}))
    assert (only(runs_dir).restarts, only(runs_dir).lasted_s) == (3, 40.0)
    # As an older version wrote it.
    with run:
        run.write(word)
    summary = only(runs_dir)
    assert (summary.restarts, summary.active_s, summary.lasted_s) == (None, None, 9_000.0)


def test_that_a_run_says_when_the_hours_begin_whose_end_has_suspended_it(runs_dir: Path) -> None:
    later_s = time.time() + 3600.0
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        hours = events.HoursEnded(time_s=time.time(), hours="22:00-07:00", begin_s=later_s)
        run.write(hours)
        run.write(events.RunEnded(time_s=time.time(), outcome=Outcome.SUSPENDED))
    found = only(runs_dir)
    assert found.hours_begin_s == later_s
    clock = time.strftime("%H:%M", time.localtime(later_s))
    assert run_outcome_text(found) == f"suspended, hours begin {clock}"
    # Started since, and suspended by a person.
    with run.layout.events.open("a") as file:
        for event in (
            events.RunStarted(time_s=time.time(), supervisor_pid=1),
            events.RunEnded(time_s=time.time(), outcome=Outcome.SUSPENDED),
        ):
            file.write(encode_event(event) + "\n")
    assert only(runs_dir).hours_begin_s is None
    assert run_outcome_text(only(runs_dir)) == "suspended"


def test_that_what_a_run_in_progress_has_slept_and_what_was_before_it_was_resumed_is_no_time_of_it(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summaries, "is_supervised", lambda _layout: True)
    lister, now_s = RunLister(runs_dir), time.time()
    with WrittenRun(runs_dir) as run:
        run.write(
            events.RunStarted(time_s=now_s - 90_000.0, supervisor_pid=1),
            events.RunEnded(time_s=now_s - 89_900.0, outcome=Outcome.SUSPENDED),
            events.RunRestarted(time_s=now_s - 40_001.0, attempt=0),
            events.RunStarted(time_s=now_s - 40_000.0, supervisor_pid=2),
        )
        assert lister.list()[0].lasts_s(now_s) == pytest.approx(100.0 + 40_000.0)
        run.write(
            # Of two processes, and so the same.
            events.ClockJumped(time_s=now_s - 10_000.0, gap_s=29_000.0),
            events.ClockJumped(time_s=now_s - 9_999.0, gap_s=29_000.5),
        )
        for found in (lister.list()[0], summarize_run(run.layout)):
            assert found.lasts_s(now_s) == pytest.approx(100.0 + 11_000.0)
            assert found.lasted_s is None
        assert lister.list()[0] is lister.list()[0]


def test_that_a_lost_run_lasted_without_what_it_slept_and_stood_still(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.write(
            events.RunStarted(time_s=STARTED_S, supervisor_pid=1),
            events.RunEnded(time_s=STARTED_S + 10.0, outcome=Outcome.SUSPENDED),
            events.RunRestarted(time_s=STARTED_S + 999.0, attempt=0),
            events.RunStarted(time_s=STARTED_S + 1_000.0, supervisor_pid=2),
            events.ClockJumped(time_s=STARTED_S + 9_000.0, gap_s=7_900.0),
        )
    found = only(runs_dir)
    assert found.outcome is Outcome.LOST
    assert found.lasted_s == pytest.approx(10.0 + 100.0)


def test_that_a_word_within_a_log_is_no_last_word(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        quoted = run_ended_line()
        run.write(events.UnknownEvent(time_s=1.0, line=quoted))
    assert only(runs_dir).outcome is Outcome.LOST


def run_ended_line() -> str:
    return encode_event(events.RunEnded(time_s=9.0, outcome=Outcome.COMPLETED))


def test_that_a_torn_last_word_is_none(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        with run.layout.events.open("a") as file:
            file.write(run_ended_line()[:-20])
    assert only(runs_dir).outcome is Outcome.LOST


def test_that_a_newer_versions_last_word_is_kept_as_far_as_it_is_known(runs_dir: Path) -> None:
    layout = ended(runs_dir)
    lines = layout.events.read_text().splitlines()
    newer = {**json.loads(lines[-1]), "energy_j": 12.5}
    layout.events.write_text("\n".join([*lines[:-1], json.dumps(newer)]) + "\n")
    summary = only(runs_dir)
    assert summary.outcome is Outcome.COMPLETED
    assert summary.metrics.val_accuracy == 0.95
    assert summary.flaw is not None
    assert summary.flaw.code == "run_newer"
    assert run_outcome_text(summary) == "completed, newer version"
    # What is known of it may have another meaning by then: the outcome, for one.
    newer["metrics"] = {"f1": 0.5}
    layout.events.write_text("\n".join([*lines[:-1], json.dumps(newer)]) + "\n")
    assert only(runs_dir).outcome is Outcome.COMPLETED


def test_that_a_profile_of_a_newer_format_is_listed_as_one(runs_dir: Path) -> None:
    layout = ended(runs_dir, Profile(name="from tomorrow"))
    text = layout.profile.read_text().replace("schema_version = 1", "schema_version = 2")
    layout.profile.write_text(text + "\n[quantum]\nqubits = 7\n")
    summary = only(runs_dir)
    assert summary.profile_name == "from tomorrow"
    assert summary.flaw is not None
    assert summary.flaw.code == "run_newer"


def test_that_events_whose_beginning_is_lost_are_not_said_to_be_of_a_newer_version(
    runs_dir: Path,
) -> None:
    layout = ended(runs_dir)
    lines = layout.events.read_text().splitlines(keepends=True)
    layout.events.write_text("".join(lines[1:]))
    summary = only(runs_dir)
    assert summary.flaw is not None
    assert summary.flaw.code == "run_damaged"
    assert "The beginning of the list of events" in summary.flaw.message
    assert "newer" not in run_outcome_text(summary)
    assert summary.outcome is Outcome.COMPLETED


def test_that_events_that_begin_with_a_restart_are_whole(runs_dir: Path) -> None:
    layout = ended(runs_dir)
    lines = layout.events.read_text().splitlines(keepends=True)
    restarted = encode_event(events.RunRestarted(time_s=1.0, attempt=0))
    layout.events.write_text("".join([restarted + "\n", *lines]))
    assert only(runs_dir).flaw is None


def test_that_an_event_of_a_kind_that_is_not_known_here_is_of_a_newer_version(
    runs_dir: Path,
) -> None:
    layout = ended(runs_dir)
    lines = layout.events.read_text().splitlines(keepends=True)
    layout.events.write_text("".join(['{"kind":"run_imagined","time_s":1.0}\n', *lines[1:]]))
    summary = only(runs_dir)
    assert summary.flaw is not None
    assert summary.flaw.code == "run_newer"


@pytest.mark.parametrize("missing", ["profile", "plan", "events"])
def test_that_a_folder_without_one_of_its_files_is_listed_as_incomplete(
    runs_dir: Path, missing: str
) -> None:
    layout = ended(runs_dir)
    path: Path = getattr(layout, missing)
    path.unlink()
    make_old(layout)
    summary = only(runs_dir)
    assert summary.flaw is not None
    assert summary.flaw.code == "run_incomplete"
    assert path.name in summary.flaw.message
    assert "files missing" in run_outcome_text(summary)
    assert summary.outcome is (Outcome.LOST if missing == "events" else Outcome.COMPLETED)


def test_that_a_folder_that_is_just_being_made_is_no_run_yet(runs_dir: Path) -> None:
    layout = ended(runs_dir)
    layout.profile.unlink()
    layout.events.unlink()
    assert list_runs(runs_dir) == ()
    make_old(layout)
    assert run_outcome_text(only(runs_dir)) == "lost, files missing"


@pytest.mark.parametrize("damaged", ["profile", "plan", "events"])
def test_that_a_damaged_file_hides_neither_the_run_nor_its_other_files(
    runs_dir: Path, damaged: str
) -> None:
    layout = ended(runs_dir)
    path: Path = getattr(layout, damaged)
    path.write_bytes(
        b"\xff\xfe no such thing\n" + (path.read_bytes() if path == layout.events else b"")
    )
    summary = only(runs_dir)
    assert summary.flaw is not None
    assert summary.flaw.code == "run_damaged"
    assert summary.outcome is Outcome.COMPLETED


@pytest.mark.parametrize("unreadable", ["profile", "plan", "events"])
def test_that_what_cannot_be_read_is_reported(runs_dir: Path, unreadable: str) -> None:
    # A folder in its place, since permissions do not keep root from reading.
    layout = ended(runs_dir)
    path: Path = getattr(layout, unreadable)
    path.unlink()
    path.mkdir()
    summary = only(runs_dir)
    assert summary.flaw is not None
    assert summary.flaw.code == "run_folder_unsafe"
    assert f"{path} is a folder" in summary.flaw.message
    words = {"events": "unsafe"}.get(unreadable, "completed, unsafe")
    assert run_outcome_text(summary) == words


def test_that_a_clock_set_back_gives_no_negative_time(runs_dir: Path) -> None:
    layout = ended(runs_dir)
    lines = layout.events.read_text().splitlines()
    last = {**json.loads(lines[-1]), "time_s": STARTED_S - 3600.0}
    layout.events.write_text("\n".join([*lines[:-1], json.dumps(last)]) + "\n")
    assert only(runs_dir).lasted_s is None


def test_that_a_name_over_several_lines_is_read_whole(runs_dir: Path) -> None:
    layout = ended(runs_dir)
    text = layout.profile.read_text()
    layout.profile.write_text(text.replace('name = "written"', 'name = """a\n[b]\nc"""'))
    assert only(runs_dir).profile_name == "a\n[b]\nc"


def test_that_the_run_is_known_whose_model_another_one_takes(
    runs_dir: Path, tmp_path: Path
) -> None:
    trained = ended(runs_dir)
    taken = {"own": trained.model, "other": tmp_path / "other.keras", "": ""}
    for name, path in taken.items():
        model = SavedModel(path=str(path))
        profile = Profile(name=f"of {name}", task="predict" if name else "evaluate", model=model)
        layout = ended(runs_dir, profile)
    assert {run.profile_name: run.model_run for run in list_runs(runs_dir)} == {
        "written": None,
        "of own": trained.root,
        "of other": None,
        "of ": None,
    }
    # What is wrong further down keeps nobody from its name.
    text = layout.profile.read_text()
    layout.profile.write_text(f"{text}\n[model")
    assert {run.profile_name for run in list_runs(runs_dir)} >= {"of "}


def test_that_a_change_is_seen_and_nothing_else_is_read_again(runs_dir: Path) -> None:
    write_many_runs(runs_dir, 3, CPU_ONLY, steps=1)
    lister = RunLister(runs_dir)
    newest, middle, oldest = lister.list()
    change_label(RunLayout(middle.path), name="the good one")
    shutil.rmtree(oldest.path)
    again = lister.list()
    assert again[0] is newest
    assert [run.title for run in again] == ["run 2", "the good one"]


def test_that_a_folder_of_runs_that_cannot_be_listed_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gpupanel.runs.history.summaries.os.scandir", refuse)
    with pytest.raises(ProblemError) as raised:
        list_runs(tmp_path)
    assert raised.value.problems[0].code == "not_permitted"


def test_that_a_run_without_its_folder_is_no_crash(tmp_path: Path) -> None:
    summary = summarize_run(RunLayout(tmp_path / "gone"))
    assert summary.outcome is None
    assert not summary.is_running
    assert summary.flaw is not None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", True),
        ("DIGITS", True),
        ("good", True),
        ("dropout", True),
        ("4090", True),
        ("one device", True),
        ("comp digits", True),
        ("lost", False),
        ("goodbest", False),
    ],
)
def test_that_a_run_is_found_by_all_that_a_person_remembers(text: str, *, found: bool) -> None:
    run = RunSummary(
        name="2026-11-21T10-15-02-digits",
        path=Path("/runs/2026-11-21T10-15-02-digits"),
        profile_name="Digits",
        label="good",
        notes="best\nwith dropout",
        strategy="one_device",
        devices=("RTX 4090",),
        outcome=Outcome.COMPLETED,
    )
    assert run_finder(parse_run_filter(text), (run,), {})(run) is found


def test_that_a_lost_run_that_has_not_changed_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_many_runs(tmp_path / "runs", 12, TWO_UNEQUAL, steps=2)
    lister = RunLister(tmp_path / "runs")
    before = lister.list()
    assert sum(run.outcome is Outcome.LOST for run in before) == 2
    opened: list[Path] = []
    for module in (run_record, summaries):
        name = "read_record"
        monkeypatch.setattr(module, name, lambda layout: opened.append(layout.root))
    monkeypatch.setattr(summaries, "lost_segments_s", lambda layout, _: opened.append(layout.root))
    again = lister.list()
    assert all(one is other for one, other in zip(before, again, strict=True))
    assert opened == []

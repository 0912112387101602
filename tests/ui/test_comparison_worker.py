"""Curves of several runs, read off the GUI thread and followed calmly."""

import shutil

import pytest

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.ui.workers import comparison_worker
from gpupanel.ui.workers.comparison_worker import RunComparison
from tests.fakes.run_directory import WrittenRun


@pytest.fixture
def reported(qtbot, monkeypatch):
    """A comparison that checks often, with the last report of each place."""
    monkeypatch.setattr(comparison_worker, "FOLLOW_MS", 50)
    comparison = RunComparison()
    runs, differences = {}, []
    comparison.runRead.connect(runs.__setitem__)
    comparison.differencesFound.connect(differences.append)
    yield comparison, runs, differences
    comparison.stop()


def summaries(*runs):
    return tuple(summarize_run(run.layout) for run in runs)


def ended_run(runs_dir, steps, name="written", **training):
    run = WrittenRun(runs_dir, Profile(name=name, training=TrainingSettings(**training)))
    with run:
        run.begin()
        run.step(steps)
        run.end()
    return run


def test_that_each_run_is_read_and_what_differs_is_shown(qtbot, runs_dir, reported):
    comparison, runs, differences = reported
    first = ended_run(runs_dir, 5)
    second = ended_run(runs_dir, 12, learning_rate=0.5)

    comparison.begin(summaries(first, second))

    qtbot.waitUntil(lambda: len(runs) == 2 and all(run.is_read for run in runs.values()))
    assert [runs[place].step for place in (0, 1)] == [5, 12]
    assert runs[1].points["loss"].values.tolist() == [2.0 / n for n in range(1, 13)]
    assert len(runs[1].points["val_loss"]) == 1
    assert runs[0].summary.outcome is Outcome.COMPLETED
    assert [each.key for each in differences[0]] == ["training.learning_rate"]


def test_that_a_run_that_goes_on_is_followed_to_its_end(qtbot, runs_dir, reported):
    comparison, runs, _ = reported
    with WrittenRun(runs_dir) as run:
        run.begin()
        comparison.begin(summaries(run))
        qtbot.waitUntil(lambda: 0 in runs and runs[0].is_read)
        assert runs[0].points == {}
        assert runs[0].summary.is_running
        run.step(3)
        qtbot.waitUntil(lambda: runs[0].step == 3)
        run.end()
        qtbot.waitUntil(lambda: runs[0].summary.outcome is Outcome.COMPLETED)


def test_that_a_run_that_is_deleted_meanwhile_keeps_its_curves_and_says_so(
    qtbot, runs_dir, reported
):
    comparison, runs, _ = reported
    run = ended_run(runs_dir, 4)
    comparison.begin(summaries(run))
    qtbot.waitUntil(lambda: 0 in runs and runs[0].is_read)

    shutil.rmtree(run.layout.root)

    qtbot.waitUntil(lambda: runs[0].problem is not None)
    assert runs[0].problem.code == "run_deleted"
    assert len(runs[0].points["loss"]) == 4


def test_that_a_run_that_was_deleted_before_it_was_read_says_so(qtbot, runs_dir, reported):
    comparison, runs, _ = reported
    run = ended_run(runs_dir, 4)
    gone = summaries(run)
    shutil.rmtree(run.layout.root)

    comparison.begin(gone)

    qtbot.waitUntil(lambda: 0 in runs)
    assert runs[0].problem.code == "run_deleted"
    assert runs[0].is_read


def test_that_nothing_more_is_reported_of_runs_that_are_no_longer_compared(
    qtbot, runs_dir, reported
):
    comparison, runs, _ = reported
    first, second = ended_run(runs_dir, 3), ended_run(runs_dir, 7)
    comparison.begin(summaries(first))
    comparison.begin(summaries(second))
    qtbot.waitUntil(lambda: 0 in runs and runs[0].is_read)
    assert runs[0].step == 7

    comparison.rest()
    runs.clear()
    second.step(1)
    qtbot.wait(300)
    assert runs == {}


def test_that_a_long_history_is_shown_while_it_is_read(qtbot, runs_dir, reported, monkeypatch):
    comparison, _, _ = reported
    monkeypatch.setattr(comparison_worker, "_REPORT_S", 0.0)
    seen = []
    comparison.runRead.connect(lambda _place, run: seen.append((run.step, run.is_read)))
    run = ended_run(runs_dir, 0)
    lines = run.layout.events.read_bytes().splitlines(keepends=True)
    with WrittenRun(runs_dir) as other:
        other.step(200)
    step = other.layout.events.read_bytes().splitlines(keepends=True)[0]
    many = [step.replace(b'"step":1,', b'"step":%d,' % n) for n in range(1, 40_001)]
    run.layout.events.write_bytes(b"".join([*lines[:-2], *many, *lines[-2:]]))

    comparison.begin(summaries(run))

    qtbot.waitUntil(lambda: bool(seen) and seen[-1][1], timeout=20_000)
    assert len(seen) > 2
    assert not seen[0][1]
    assert seen[-1][0] == 40_000

"""Following a run's directory from a thread of its own."""

import pytest

from gpupanel.domain.events import Phase, StepsDone
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.following import event_tail
from gpupanel.runs.following.event_tail import PORTION_BYTES
from gpupanel.runs.following.status import RunStage
from gpupanel.runs.history.segments_so_far import SegmentsSoFar
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.ui.workers import run_reader
from gpupanel.ui.workers.run_worker import RunWatch
from tests.fakes.devices import CPU_ONLY
from tests.fakes.hostile_files import IN_PLACE_OF_A_FILE, put_in_place
from tests.fakes.readings import busy_sample
from tests.fakes.run_directory import STARTED_S, WrittenRun


class _Heard:
    """What a watch reported, in order."""

    def __init__(self, watch: RunWatch):
        self.events, self.samples, self.log, self.facts = [], [], "", []
        watch.opened.connect(self.facts.append)
        watch.followed.connect(self._add)

    def _add(self, followed):
        self.events += followed.events
        self.samples += followed.samples
        self.log += followed.log


def test_that_a_past_run_is_shown_whole(qtbot, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(25)
        run.print("hello\n")
        run.sample(busy_sample(CPU_ONLY, STARTED_S))
        run.end()
    watch = RunWatch(run.layout)
    heard = _Heard(watch)
    with qtbot.waitSignal(
        watch.statusChanged, check_params_cb=lambda status: status.has_ended, timeout=5000
    ):
        watch.start()
    watch.stop()

    assert sum(isinstance(event, StepsDone) for event in heard.events) == 25
    assert (len(heard.samples), heard.log) == (1, "hello\n")
    assert heard.facts[0].profile.name == "written"
    assert (watch.status.outcome, watch.status.step) == (Outcome.COMPLETED, 25)
    assert watch.status.step_total == 30


def test_that_a_long_history_is_read_aside_and_what_comes_after_it_here(
    qtbot, runs_dir, monkeypatch
):
    monkeypatch.setattr(event_tail, "LONG_BYTES", 1)
    readers = []

    class Noted(event_tail.HistoryReader):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            readers.append(self)

    monkeypatch.setattr(event_tail, "HistoryReader", Noted)
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(500)
        watch = RunWatch(run.layout)
        with qtbot.waitSignal(watch.caughtUp, timeout=10_000):
            watch.start()
        before = watch.status.step
        run.step()
        qtbot.waitUntil(lambda: watch.status.step == 501, timeout=5000)
        watch.stop()

    assert (len(readers), before) == (1, 500)


def test_that_looking_whether_a_run_still_goes_on_does_not_read_all_of_its_events_again(
    qtbot, runs_dir, monkeypatch
):
    read, looked = [], []
    monkeypatch.setattr(run_reader, "LOCK_INTERVAL_S", 0.0)
    monkeypatch.setattr(run_reader, "POLL_MS", 5)
    monkeypatch.setattr(SegmentsSoFar, "since_s", lambda _: read.append("all of it"))

    def look(layout, **arguments):
        looked.append(summarize_run(layout, **arguments))
        return looked[-1]

    monkeypatch.setattr(run_reader, "summarize_run", look)
    with WrittenRun(runs_dir) as run:
        run.begin()
        watch = RunWatch(run.layout)
        with qtbot.waitSignal(watch.caughtUp, timeout=5000):
            watch.start()
        qtbot.waitUntil(lambda: len(looked) > 3, timeout=5000)
        watch.stop()
    assert all(each.is_running for each in looked)
    assert read == []


def test_that_a_new_line_is_heard_at_once(qtbot, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        watch = RunWatch(run.layout)
        with qtbot.waitSignal(watch.caughtUp, timeout=5000):
            watch.start()
        with qtbot.waitSignal(watch.followed, timeout=1000) as followed:
            run.step()
        watch.stop()

    assert isinstance(followed.args[0].events[0], StepsDone)


def test_that_half_a_line_waits_for_its_other_half(qtbot, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin(Phase.LOADING_DATA)
        whole = run.layout.events.read_bytes()
        run.layout.events.write_bytes(whole[:-9])
        watch = RunWatch(run.layout)
        heard = _Heard(watch)
        with qtbot.waitSignal(watch.caughtUp, timeout=5000):
            watch.start()
        assert watch.status.phase is not Phase.LOADING_DATA
        with (
            qtbot.waitSignal(
                watch.statusChanged,
                check_params_cb=lambda status: status.phase is Phase.LOADING_DATA,
                timeout=2000,
            ),
            run.layout.events.open("ab") as file,
        ):
            file.write(whole[-9:])
        watch.stop()

    assert [event.kind for event in heard.events][-1] == "phase_changed"


def test_that_a_supervisor_that_vanished_means_a_lost_run(qtbot, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        watch = RunWatch(run.layout)
        with qtbot.waitSignal(watch.caughtUp, timeout=5000):
            watch.start()
        with qtbot.waitSignal(
            watch.statusChanged,
            check_params_cb=lambda status: status.stage is RunStage.ENDED,
            timeout=5000,
        ):
            run.vanish()
        watch.stop()

    assert watch.status.outcome is Outcome.LOST
    assert watch.status.ending_problem.message


def test_that_the_last_events_of_a_run_come_before_its_end(qtbot, runs_dir, monkeypatch):
    with WrittenRun(runs_dir) as run:
        run.begin()
        watch = RunWatch(run.layout)
        heard = _Heard(watch)
        with qtbot.waitSignal(watch.caughtUp, timeout=5000):
            watch.start()

        def ended_meanwhile(layout, **_arguments):
            run.end()
            return summarize_run(layout)

        with qtbot.waitSignal(
            watch.statusChanged, check_params_cb=lambda status: status.has_ended, timeout=5000
        ):
            monkeypatch.setattr(run_reader, "summarize_run", ended_meanwhile)
        watch.stop()

    assert [event.kind for event in heard.events][-2:] == ["epoch_done", "run_ended"]


def test_that_events_that_cannot_be_read_any_more_are_no_end_of_a_run(qtbot, runs_dir, monkeypatch):
    with WrittenRun(runs_dir) as run:
        run.begin()
        watch = RunWatch(run.layout)
        with qtbot.waitSignal(watch.caughtUp, timeout=5000):
            watch.start()

        def looked_at_too_late(layout, **_arguments):
            run.layout.events.unlink(missing_ok=True)
            run.layout.events.mkdir(exist_ok=True)
            return summarize_run(layout)

        with qtbot.waitSignal(watch.unreadable, timeout=5000):
            monkeypatch.setattr(run_reader, "summarize_run", looked_at_too_late)
        watch.stop()

    assert watch.status.outcome is None
    assert watch.status.stage is not RunStage.ENDED


def test_that_a_long_history_is_shown_whole_and_in_portions(qtbot, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(1)
        line = run.layout.events.read_bytes().splitlines(keepends=True)[-1]
        count = 9 * PORTION_BYTES // 4 // len(line)
        with run.layout.events.open("ab") as file:
            file.write(line * count)
        run.end()
    watch = RunWatch(run.layout)
    portions = []
    watch.followed.connect(lambda followed: portions.append(len(followed.events)))
    with qtbot.waitSignal(
        watch.statusChanged, check_params_cb=lambda status: status.has_ended, timeout=20_000
    ):
        watch.start()
    watch.stop()

    assert len(portions) >= 3
    assert sum(portions) > count


def test_that_nothing_is_shown_after_stop(qtbot, runs_dir):
    with WrittenRun(runs_dir) as run:
        run.begin()
        watch = RunWatch(run.layout)
        with qtbot.waitSignal(watch.caughtUp, timeout=5000):
            watch.start()
        watch.stop()
        with qtbot.assertNotEmitted(watch.followed, wait=400):
            run.step()


def test_that_a_watch_can_be_stopped_before_it_began(qtbot, runs_dir):
    with WrittenRun(runs_dir) as run:
        watch = RunWatch(run.layout)
        watch.stop()


@pytest.mark.parametrize("name", ["events.jsonl", "telemetry.jsonl", "trainer.log"])
@pytest.mark.parametrize("plant", IN_PLACE_OF_A_FILE.values())
def test_that_a_run_with_something_else_in_the_place_of_a_file_is_shown(
    qtbot, runs_dir, tmp_path, name, plant
):
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end()
    put_in_place(plant, run.layout.root / name, tmp_path / "none")
    watch = RunWatch(run.layout)
    with qtbot.waitSignal(watch.unreadable, timeout=5000) as reported:
        watch.start()
    watch.stop()

    assert reported.args[0].code == "run_folder_unsafe"
    assert name in reported.args[0].message


def test_that_while_a_long_history_is_read_not_each_portion_is_shown_as_a_status(
    qtbot, runs_dir, monkeypatch
):
    monkeypatch.setattr(event_tail, "MOST_PARTS", 2)
    monkeypatch.setattr(run_reader, "STATUS_INTERVAL_S", 3_600.0)
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(30)
        run.end()
    watch = RunWatch(run.layout)
    portions, told = [], []
    watch.followed.connect(portions.append)
    watch.statusChanged.connect(told.append)
    watch.start()
    qtbot.waitUntil(lambda: bool(told) and told[-1].has_ended, timeout=5000)
    watch.stop()
    assert len(portions) > len(told)
    assert told[-1] == watch.status

"""A run is suspended when its hours end, and stands in the queue before it is asked to."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpupanel.domain.events import Event, HoursEnded, ProblemReported, RunEnded
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import touch
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.requests import ask, is_asked
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.launcher import create_run, launch
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.machine_settings import MACHINE_FILE, OutsideHoursError
from gpupanel.runs.queue import ended_hours
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.supervision import hours_watch
from gpupanel.runs.supervision.hours_watch import HoursWatch
from gpupanel.runs.supervision.supervisor import Supervisor
from tests.fakes.devices import CPU_ONLY
from tests.fakes.hours import closed_now

FAKE_TRAINER = Path(__file__).parents[3] / "fakes" / "trainer.py"
MIDNIGHT_S = 1_795_996_800.0  # 2026-11-30 00:00 UTC, a Monday
HOUR_S = 3_600.0
NIGHT = Profile(name="night", hours="22:00-07:00")


@pytest.fixture(autouse=True)
def no_scheduler(monkeypatch: pytest.MonkeyPatch, state_dir: Path) -> Iterator[None]:
    del state_dir
    monkeypatch.setattr(ended_hours, "ensure_scheduler", lambda files: False)
    monkeypatch.setattr(hours_watch, "_LOOK_S", 0.0)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class Watched:
    """A run, its watch, and the hour of the day."""

    def __init__(self, runs_dir: Path, profile: Profile = NIGHT, hour: float = 23.0) -> None:
        plan = prepare(profile, CPU_ONLY).plan
        assert plan is not None
        self.layout = create_run(profile, plan, runs_dir)
        self.profile, self.hour = profile, hour
        self.events: list[Event] = []
        self.watch = self.another()

    def another(self) -> HoursWatch:
        return HoursWatch(
            self.layout,
            self.profile,
            self.events.append,
            lambda: MIDNIGHT_S + self.hour * HOUR_S,
        )

    def look_at(self, hour: float) -> bool:
        self.hour = hour
        return self.watch.look()

    @property
    def is_asked(self) -> bool:
        return is_asked(self.layout, Request.SUSPEND)


def test_that_it_is_asked_to_suspend_when_its_hours_end_and_the_queue_and_events_say_why(
    runs_dir: Path,
) -> None:
    run = Watched(runs_dir)
    assert not run.look_at(23.0)
    assert not run.look_at(30.99)
    assert not run.is_asked
    assert run.look_at(31.0)

    assert run.is_asked
    ended, said = run.events
    assert isinstance(ended, HoursEnded)
    assert isinstance(said, ProblemReported)
    assert "it is asked to suspend, and continues at 22:00" in said.problem.message
    assert (ended.hours, ended.begin_s) == ("22:00-07:00", MIDNIGHT_S + 46 * HOUR_S)
    (entry,) = QueueFiles(queue_dir()).read().entries
    assert (entry.run, entry.is_running) == (run.layout.root, True)
    assert entry.hours_ended_s is not None
    assert run.look_at(32.0)
    assert len(run.events) == 2


@pytest.mark.parametrize("request_", [Request.SUSPEND, Request.STOP, Request.END])
def test_that_one_that_a_person_has_asked_to_end_is_not_continued(
    runs_dir: Path, request_: Request
) -> None:
    run = Watched(runs_dir)
    ask(run.layout, request_)

    assert not run.look_at(31.0)
    assert not run.events
    assert not QueueFiles(queue_dir()).read().entries


def test_that_a_machine_that_slept_over_the_end_suspends_when_it_wakes(runs_dir: Path) -> None:
    run = Watched(runs_dir)
    assert not run.look_at(23.0)
    assert run.look_at(33.5)


def test_that_one_that_slept_from_night_to_night_works_on(runs_dir: Path) -> None:
    run = Watched(runs_dir)
    assert not run.look_at(23.0)
    assert not run.look_at(47.0)


def test_that_a_clock_that_is_set_back_before_its_hours_suspends_it(runs_dir: Path) -> None:
    run = Watched(runs_dir)
    assert not run.look_at(23.0)
    assert run.look_at(20.0)


def test_that_one_that_begins_a_moment_too_late_is_suspended_at_once(runs_dir: Path) -> None:
    assert Watched(runs_dir).look_at(7.0)


def test_that_one_that_a_person_starts_outside_of_them_works_until_they_have_been(
    runs_dir: Path,
) -> None:
    run = Watched(runs_dir, hour=14.0)
    touch(run.layout.outside_hours)
    run.watch = run.another()

    assert not run.look_at(14.0)
    assert not run.look_at(22.0)
    assert run.look_at(31.0)


def test_that_a_change_of_the_hours_of_the_machine_is_heard_while_it_works(
    runs_dir: Path,
) -> None:
    run = Watched(runs_dir, Profile())
    assert not run.look_at(12.0)
    MACHINE_FILE.write(MachineSettings(hours="22:00-07:00"))
    assert run.look_at(12.0)


def test_that_settings_that_become_unreadable_change_nothing(runs_dir: Path) -> None:
    MACHINE_FILE.write(MachineSettings(hours="22:00-07:00"))
    run = Watched(runs_dir, Profile())
    assert not run.look_at(23.0)
    MACHINE_FILE.path().write_text("hours = ")
    assert not run.look_at(23.5)
    assert run.look_at(31.0)


def test_that_evaluations_and_runs_that_heed_no_hours_work_to_their_end(runs_dir: Path) -> None:
    run = Watched(runs_dir)
    evaluation = NIGHT.model_copy(update={"task": "evaluate"})
    clock = lambda: MIDNIGHT_S + 12 * HOUR_S  # noqa: E731 - as the watch calls it
    assert not HoursWatch(run.layout, evaluation, run.events.append, clock).look()
    assert not HoursWatch(run.layout, None, run.events.append, clock).look()
    assert not HoursWatch(run.layout, Profile(), run.events.append, clock).look()


def test_that_a_queue_that_cannot_be_changed_is_reported_and_the_run_suspended_all_the_same(
    runs_dir: Path,
) -> None:
    run = Watched(runs_dir)
    queue_dir().mkdir(parents=True)
    (queue_dir() / "queue.json").write_text("no JSON")
    assert run.look_at(31.0)

    problem, ended, _ = run.events
    assert isinstance(problem, ProblemReported)
    assert problem.problem.code == "hours_not_queued"
    assert isinstance(ended, HoursEnded)
    assert run.is_asked


def test_that_a_folder_that_takes_no_request_is_asked_again(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Watched(runs_dir)
    ask, failures = hours_watch.ask, [1]

    def full(layout: RunLayout, request: Request) -> None:
        if failures:
            failures.pop()
            raise hours_watch.ProblemError(_full())
        ask(layout, request)

    monkeypatch.setattr(hours_watch, "ask", full)
    assert not run.look_at(31.0)
    assert run.look_at(31.0)
    assert len(run.events) == 2
    assert run.is_asked


def _full():  # type: ignore[no-untyped-def]
    from gpupanel.domain.problem import Problem

    return Problem(code="disk_full", message="No space left.")


def test_that_a_supervisor_outside_of_the_hours_starts_no_trainer(runs_dir: Path) -> None:
    run = Watched(runs_dir, Profile(hours=closed_now()))
    supervisor = Supervisor(run.layout, (sys.executable, str(FAKE_TRAINER), "train_on"))
    assert supervisor.run() is Outcome.SUSPENDED

    events = RunFollower(run.layout).poll().events
    assert isinstance(events[-1], RunEnded)
    assert any(isinstance(each, HoursEnded) for each in events)
    assert not any(each.kind == "trainer_started" for each in events)


def test_that_a_supervisor_has_a_training_suspended_whose_hours_end(runs_dir: Path) -> None:
    run = Watched(runs_dir, Profile())
    supervisor = Supervisor(run.layout, (sys.executable, str(FAKE_TRAINER), "save_slowly"))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(supervisor.run)
        end_s = time.monotonic() + 20.0
        events = run.layout.events
        while not events.exists() or b"steps_done" not in events.read_bytes():
            assert time.monotonic() < end_s
            time.sleep(0.01)
        MACHINE_FILE.write(MachineSettings(hours=closed_now()))
        assert running.result(timeout=30) is Outcome.SUSPENDED
    status = RunStatus().after_all(RunFollower(run.layout).poll().events)
    assert status.hours_ended is not None
    assert len(QueueFiles(queue_dir()).read().running) == 1


def test_that_a_start_outside_of_the_hours_is_refused_and_makes_nothing(runs_dir: Path) -> None:
    profile = Profile(hours=closed_now())
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    with pytest.raises(OutsideHoursError, match="Not started: its hours are") as refused:
        launch(profile, plan, runs_dir)

    assert refused.value.begin_s > time.time()
    assert "gpupanel queue add" in refused.value.problems[0].hint
    assert not runs_dir.exists() or not any(runs_dir.iterdir())

"""Devices are compared by runs that leave nothing; trainers without TensorFlow stand for them."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest
from filelock import FileLock

from gpupanel.domain.bench import Bench, BenchProgress
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.plan_file import read_plan
from gpupanel.planning.bench.candidates import Candidates
from gpupanel.planning.context import planning_context
from gpupanel.runs.detached import start_detached
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.directory.start_claim import claim_start
from gpupanel.runs.history.measured_speeds import remembered
from gpupanel.runs.launcher import create_run
from gpupanel.runs.locations import bench_dir, queue_dir
from gpupanel.runs.queue.bench_claim import HOLDER, benched_devices, claimed
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.readiness import Machine
from gpupanel.runs.scheduling.scheduler import Scheduler
from gpupanel.runs.tools.bench import bench, candidate_run, speed_meter
from gpupanel.runs.tools.bench.bench import compare
from gpupanel.runs.tools.bench.candidate_run import Measured
from tests.fakes.devices import CPU_ONLY
from tests.fakes.small_disks import small_disk
from tests.patience import PATIENCE_S

__all__ = ["small_disk"]

SUPERVISE = Path(__file__).parents[4] / "fakes" / "supervise.py"
MACHINE = Machine(CPU_ONLY)
ONE = Profile(devices=DeviceSettings(visible=("cpu",)))
TWO = Profile(name="two", devices=DeviceSettings(visible=("cpu",), cpu_replicas=2))
Modes = Callable[[int, Profile], str]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[[Modes], None]:
    """Has each candidate's trainer do what its replicas and profile say."""
    monkeypatch.setattr(speed_meter, "_LEAST_S", 0.1)

    # Variants are tried as divisions are.
    monkeypatch.setattr(bench, "variants", lambda *_: Candidates())

    def use(mode_of: Modes) -> None:
        def start_fake(layout: RunLayout, *_: object) -> None:
            mode = mode_of(len(read_plan(layout).replicas), read_run_profile(layout))
            command = (sys.executable, str(SUPERVISE), mode, str(layout.root))
            start_detached(command, layout.trainer_log, "supervisor")

        monkeypatch.setattr(candidate_run, "start_supervisor", start_fake)

    return use


@pytest.fixture(autouse=True)
def _leaves_nothing() -> Iterator[None]:
    yield
    assert not list(bench_dir().glob("runs-*"))
    assert benched_devices() == ()


def names(found: Bench) -> list[str]:
    return [each.name for each in found.results]


def refused(profile: Profile = TWO) -> str:
    with pytest.raises(ProblemError) as error:
        compare(profile, MACHINE)
    return error.value.problems[0].code


def test_that_each_is_measured_by_turns_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "measure", _measured)
    heard: list[BenchProgress] = []
    found = compare(TWO, MACHINE, repeats=2, on_progress=heard.append)
    assert names(found) == [
        "a CPU alone",
        "2 replicas, equal shares",
        "2 replicas, balanced",
        "a CPU alone, with XLA",
        *[each for each in names(found)[4:] if "mixed precision" in each],
    ]
    for each in found.results:
        assert each.speeds == (3200.0, 3200.0)
        assert (each.spread, each.efficiency, each.problem) == (0.0, 1.0, None)
        assert each.steps == 100
    assert found.fastest is found.results[0]
    assert remembered(TWO, CPU_ONLY) == found
    # By turns: each has run once before any runs again.
    order = list(dict.fromkeys((each.number, each.name) for each in heard))
    assert [name for _, name in order[:6]] == names(found)[:3] * 2
    assert heard[-1].number == heard[-1].of == 2 * len(found.results)


def _measured(_planned: object, _folder: Path, _: Event, report: Callable[[str], None]) -> Measured:
    report("training")
    return Measured(3200.0, 50, (64,), None)


def test_that_runs_are_measured(start: Callable[[Modes], None], runs_dir: Path) -> None:
    start(lambda _replicas, _profile: "train_on")
    (found,) = compare(ONE, MACHINE, repeats=2).results
    assert found.speeds == pytest.approx((3200.0, 3200.0))
    assert found.steps >= 100
    assert not runs_dir.exists()


def test_that_nothing_is_repeated_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "measure", lambda *_: Measured(10.0, 50, (64,), None))
    found = compare(ONE, MACHINE, seconds=0.0)
    assert {len(each.speeds) for each in found.results} == {1}
    assert {each.spread for each in found.results} == {None}


def test_that_one_that_fails_does_not_keep_the_others(start: Callable[[Modes], None]) -> None:
    start(lambda replicas, _: "fail" if replicas > 1 else "train_on")
    found = compare(TWO, MACHINE, repeats=1)
    alone, equal, balanced, *_ = found.results
    assert alone.speeds == pytest.approx((3200.0,))
    for each in (equal, balanced):
        assert each.examples_per_second is None
        assert each.problem is not None
        assert each.problem.code == "loss_not_finite"
    assert found.fastest is alone
    assert [each.problem.code for each in found.failures] == ["loss_not_finite"]


def test_that_one_that_dies_or_makes_no_steps_is_reported(
    start: Callable[[Modes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidate_run, "_STEPS_S", 1.0)
    start(lambda _replicas, _profile: "hang_in_a_step")
    found = compare(ONE, MACHINE)
    (hung,) = found.results
    assert hung.problem is not None
    assert hung.problem.code == "bench_no_steps"
    assert found.fastest is None
    assert remembered(ONE, CPU_ONLY) is None
    start(lambda _replicas, _profile: "kill_itself")
    (died,) = compare(ONE, MACHINE).results
    assert died.problem is not None
    assert "killed" in died.problem.message


def test_that_it_is_cancelled_at_once_and_nothing_is_remembered(
    start: Callable[[Modes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_meter, "STEPS", 10**6)
    start(lambda _replicas, _profile: "train_on")
    cancelled = Event()

    def cancel(news: BenchProgress) -> None:
        if "measured" in news.doing:
            cancelled.set()

    found = compare(TWO, MACHINE, cancelled=cancelled, on_progress=cancel)
    assert len(found.results) <= 1
    assert remembered(TWO, CPU_ONLY) is None


def test_that_a_run_on_the_same_devices_refuses_it(runs_dir: Path) -> None:
    plan = planning_context(ONE, CPU_ONLY).plan
    assert plan is not None
    layout = create_run(ONE, plan, runs_dir)
    lock = claim_start(layout)
    try:
        assert refused() == "bench_device_in_use"
    finally:
        lock.release()


def test_that_what_waits_in_the_queue_refuses_it_unless_it_is_paused(
    monkeypatch: pytest.MonkeyPatch, runs_dir: Path
) -> None:
    files = QueueFiles(queue_dir())
    entry = QueueEntry(id="00000001", name="waits", runs_dir=runs_dir, added_s=0.0)
    files.change(lambda line: line.with_added(entry))
    assert refused() == "bench_queue_waits"
    files.change(lambda line: line.with_changed(entry.model_copy(update={"devices": ("a CPU",)})))
    assert refused() == "bench_queue_waits"
    monkeypatch.setattr(bench, "measure", lambda *_: Measured(10.0, 50, (64,), None))
    other = entry.model_copy(update={"devices": ("RTX 4090",)})
    files.change(lambda line: line.with_changed(other))
    assert compare(ONE, MACHINE, repeats=1).fastest is not None
    files.change(lambda line: line.with_changed(entry).with_paused(paused=True))
    assert compare(ONE, MACHINE, repeats=1).fastest is not None


def test_that_two_do_not_go_on_at_once_and_the_queue_leaves_the_devices_alone() -> None:
    files = QueueFiles(queue_dir())
    files.change(lambda line: line)
    scheduler = Scheduler(files, lambda: MACHINE)
    with claimed({"cpu": "a CPU"}):
        assert refused() == "bench_goes_on"
        assert benched_devices() == ("cpu",)
        assert scheduler._held_devices(files.read()) == {"cpu": HOLDER}
    assert scheduler._held_devices(files.read()) == {}


@pytest.mark.parametrize("content", ["", "{}", "7", "[" * 10_000, "x" * 100_000])
def test_that_a_damaged_list_of_devices_holds_none(content: str) -> None:
    with claimed({"cpu": "a CPU"}):
        (bench_dir() / "devices.json").write_text(content)
        assert benched_devices() == ()


def test_that_what_a_killed_comparison_left_is_removed(tmp_path: Path) -> None:
    left = bench_dir() / "runs-left"
    (left / "run").mkdir(parents=True)
    kept = tmp_path / "kept"
    kept.mkdir()
    (bench_dir() / "runs-link").symlink_to(kept)
    with claimed({"cpu": "a CPU"}):
        assert not left.exists()
    assert kept.is_dir()
    (bench_dir() / "runs-link").unlink()


def test_that_a_full_disk_is_reported(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUPANEL_STATE_DIR", str(small_disk / "state"))
    assert refused() == "no_space"


def test_that_a_folder_that_cannot_be_made_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GPUPANEL_STATE_DIR", str(tmp_path / "file" / "state"))
    with pytest.raises(ProblemError):
        compare(TWO, MACHINE)


def test_that_only_training_is_compared() -> None:
    assert refused(Profile.model_validate({"task": "evaluate", "model": _saved()})) == (
        "bench_without_training"
    )


def test_that_a_cluster_is_not_compared_as_if_it_were_this_machine() -> None:
    assert refused(Profile.model_validate({"cluster": {}})) == "bench_on_cluster"


def _saved() -> dict[str, str]:
    return {"source": "saved", "path": "m.keras"}


def test_that_a_supervisor_that_does_not_answer_is_killed(
    start: Callable[[Modes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trainer ends with it."""
    monkeypatch.setattr(candidate_run, "_END_S", 0.5)
    monkeypatch.setattr(candidate_run, "ask", lambda *_: None)  # nobody hears the request
    start(lambda _replicas, _profile: "train_on")
    begin_s = time.monotonic()
    found = compare(ONE, MACHINE, repeats=1)
    assert found.fastest is not None
    assert time.monotonic() - begin_s < PATIENCE_S


def test_that_the_lock_is_let_go_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("nobody foresaw it")

    monkeypatch.setattr(candidate_run, "start_supervisor", fail)
    monkeypatch.setattr(candidate_run, "goes_on", lambda _: False)
    with pytest.raises(RuntimeError):
        compare(ONE, MACHINE)
    with FileLock(bench_dir() / "bench.lock", 0.0):
        assert not list(bench_dir().glob("runs-*"))

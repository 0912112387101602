"""Entries whose profiles name no device: what they take, and whose shell says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from gpupanel.domain.cuda_variables import CudaVariables
from gpupanel.domain.gpu_claim import GpuClaim
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import ComputeMode, DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.files.plan_file import read_plan
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.scheduling.scheduler import Scheduler
from gpupanel.runs.sweeps import starting
from gpupanel.runs.sweeps.starting import places_on, start_sweep
from tests.fakes.devices import CPU_ONLY
from tests.fakes.queued_runs import (
    GPU_A,
    GPU_B,
    MACHINE,
    QueuedRuns,
    prepare_without_build,
    profile_on,
)

VARIABLE = "CUDA_VISIBLE_DEVICES"
MIRRORED = Profile(strategy=StrategySettings(kind=StrategyKind.MIRRORED))


class Desk:
    """A queue of entries, each added from a shell of its own."""

    def __init__(self, files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> None:
        self.files, self.runs, self.runs_dir = files, runs, runs_dir
        self.machine = MACHINE
        self.scheduler = Scheduler(
            files, lambda: self.machine, prepare_without_build, runs.start, poll_s=0.0
        )

    def add(self, profile: Profile | None = None, shell: str | None = None) -> str:
        with pytest.MonkeyPatch.context() as monkeypatch:
            if shell is None:
                monkeypatch.delenv(VARIABLE, raising=False)
            else:
                monkeypatch.setenv(VARIABLE, shell)
            return orders.add(self.files, profile or Profile(), self.runs_dir).id

    def entry(self, entry_id: str) -> QueueEntry:
        return self.files.read().entry(entry_id)

    def devices(self, entry_id: str) -> list[str]:
        run = self.entry(entry_id).run
        return [] if run is None else [each.key for each in read_plan(RunLayout(run)).devices]


@pytest.fixture
def desk(files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> Desk:
    return Desk(files, runs, runs_dir)


def test_that_two_runs_that_leave_the_device_open_take_two_at_the_same_time(desk: Desk) -> None:
    first, second, third = desk.add(), desk.add(), desk.add()
    desk.scheduler.step()
    assert [desk.devices(each) for each in (first, second)] == [[GPU_A], [GPU_B]]
    run = desk.entry(second).run
    assert run is not None
    profile = read_run_profile(RunLayout(run))
    assert profile.devices.visible == (GPU_B,)
    assert profile.devices.described[GPU_B].name == "RTX 3060"
    # The third waits for whichever is free first.
    assert desk.entry(third).waits.startswith("Waits for RTX 4090")
    desk.runs.end(run)
    desk.scheduler.step()
    desk.scheduler.step()
    assert desk.devices(third) == [GPU_B]


def test_that_one_that_leaves_the_device_open_passes_by_a_device_that_is_named_before_it(
    desk: Desk,
) -> None:
    named, left_open = desk.add(profile_on(GPU_A)), desk.add()
    desk.scheduler.step()
    assert desk.devices(named) == [GPU_A]
    assert desk.devices(left_open) == [GPU_B]


def test_that_one_does_not_take_the_device_that_another_before_it_waits_for(desk: Desk) -> None:
    small, both, left_open = desk.add(profile_on(GPU_A)), desk.add(MIRRORED), desk.add()
    desk.scheduler.step()
    assert desk.devices(small) == [GPU_A]
    assert desk.entry(both).state is EntryState.WAITING
    # Else what needs both would wait as long as others keep coming.
    assert desk.entry(left_open).state is EntryState.WAITING


def test_that_a_free_device_that_is_too_small_is_not_taken(desk: Desk) -> None:
    large = Profile(memory={"default": LimitedMemory(limit_mib=16_384)})
    first, second = desk.add(large), desk.add(large)
    desk.scheduler.step()
    assert desk.devices(first) == [GPU_A]
    assert desk.entry(second).waits.startswith("Waits for RTX 4090")


def test_that_replicas_take_every_device_as_before(desk: Desk) -> None:
    both = desk.add(MIRRORED)
    desk.scheduler.step()
    assert desk.devices(both) == [GPU_A, GPU_B]


def test_that_an_entry_takes_what_the_shell_leaves_from_which_it_was_added(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "0")  # that of the scheduler, which has no say
    second, none, named = (
        desk.add(shell="1"),
        desk.add(shell=""),
        desk.add(profile_on(GPU_A), shell="1"),
    )
    desk.scheduler.step()
    assert [desk.devices(each) for each in (second, none, named)] == [[GPU_B], ["cpu"], [GPU_A]]


def test_that_two_entries_of_a_shell_with_one_gpu_run_one_after_the_other(desk: Desk) -> None:
    first, second = desk.add(shell="1"), desk.add(shell="1")
    desk.scheduler.step()
    assert desk.devices(first) == [GPU_B]
    assert desk.entry(second).waits == "Waits for RTX 3060: “untitled” runs on it."


def test_that_an_entry_of_before_shells_had_a_say_takes_any_device(desk: Desk) -> None:
    added = desk.add(shell="1")
    entry = desk.entry(added).model_copy(update={"cuda_variables": None})
    desk.files.change(lambda line: line.with_changed(entry))
    desk.scheduler.step()
    assert desk.devices(added) == [GPU_A]


def test_that_trials_take_what_the_shell_leaves_from_which_the_sweep_was_started(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "ensure_scheduler", lambda files: False)
    monkeypatch.setenv(VARIABLE, "1")
    sweep = parse_profile(
        'schema_version = 1\nname = "rates"\n[sweep]\nmethod = "grid"\n'
        '[sweep.values]\n"training.learning_rate" = [0.1, 0.01]\n'
    )
    shown = MACHINE.inventory.model_copy(
        update={"cuda_variables": CudaVariables(visible_devices="1")}
    )
    start_sweep(
        desk.files, sweep, desk.runs_dir, places_on(replace(MACHINE, inventory=shown), sweep)
    )
    monkeypatch.delenv(VARIABLE)
    desk.scheduler.step()
    (entry,) = desk.files.read().entries
    assert desk.devices(entry.id) == [GPU_B]


def test_that_a_machine_without_gpus_trains_on_its_processor(desk: Desk) -> None:
    desk.machine = replace(MACHINE, inventory=CPU_ONLY)
    added = desk.add()
    desk.scheduler.step()
    assert desk.devices(added) == ["cpu"]


def test_that_a_gpu_that_another_process_holds_exclusively_is_passed_by_or_waited_for(
    desk: Desk,
) -> None:
    holder = DeviceProcess(pid=1, name="python")
    mode = ComputeMode.EXCLUSIVE_PROCESS
    held = DeviceReading(key=GPU_A, compute_mode=mode, processes=(holder,))
    desk.machine = replace(MACHINE, sample=TelemetrySample(time_s=0.0, readings=(held,)))
    left_open, named = desk.add(), desk.add(profile_on(GPU_A))
    desk.scheduler.step()
    assert desk.devices(left_open) == [GPU_B]
    assert desk.entry(named).state is EntryState.WAITING
    assert "python (1) has it now" in desk.entry(named).waits


def test_that_a_gpu_that_a_run_of_another_user_holds_is_passed_by_or_waited_for(desk: Desk) -> None:
    claim = GpuClaim(user="ada", since_s=1_000.0, until_s=9_000.0)
    held = DeviceReading(key=GPU_A, claims=(claim,))
    desk.machine = replace(MACHINE, sample=TelemetrySample(time_s=2_000.0, readings=(held,)))
    left_open, named = desk.add(), desk.add(profile_on(GPU_A))
    desk.scheduler.step()
    assert desk.devices(left_open) == [GPU_B]
    assert desk.entry(named).state is EntryState.WAITING
    assert f"({claim.words(2_000.0)})" in desk.entry(named).waits
    desk.machine = MACHINE
    desk.scheduler.step()
    assert desk.devices(named) == [GPU_A]

"""One GPU's account of a run: what it held, and when that is back."""

from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, DeviceState
from gpupanel.runs.supervision.memory.gpu_watch import HeldMemory

OURS = DeviceProcess(pid=10, name="python3", memory_used_mib=4000, started_s=5.0)
CHILD = DeviceProcess(pid=11, name="python3", memory_used_mib=500, started_s=6.0)
OTHER = DeviceProcess(pid=77, name="blender", memory_used_mib=1000, started_s=1.0)


def reading(used_mib: int | None, *processes: DeviceProcess) -> DeviceReading:
    return DeviceReading(key="GPU-1", memory_used_mib=used_mib, processes=processes)


def held(*processes: DeviceProcess, used_mib: int | None = 6000) -> HeldMemory:
    """A GPU of which 1000 MiB were used before the run, and so much since."""
    memory = HeldMemory("GPU-1")
    memory.take(reading(None if used_mib is None else 1000), ())
    memory.take(reading(used_mib, *processes), processes)
    return memory


def after(
    memory: HeldMemory, told: DeviceReading, ours: tuple[DeviceProcess, ...], read_s: float = 0.0
) -> None:
    """A reading of after the end, each a tenth of a second after the one before."""
    memory.take_after(told, ours, read_s or (memory.answered_s or 100.0) + 0.1)


def test_that_a_run_without_memory_has_nothing_to_return() -> None:
    memory = held(used_mib=1100)
    assert memory.held_mib == 0
    after(memory, reading(1000), ())
    assert memory.returned() is None


def test_that_the_runs_processes_show_what_it_held() -> None:
    memory = held(OURS, CHILD)
    assert memory.held_mib == 4500
    after(memory, reading(1500, OTHER), ())
    assert memory.is_settled
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=4500)


def test_that_memory_is_not_back_while_a_process_of_the_run_is_listed() -> None:
    memory = held(OURS, CHILD)
    after(memory, reading(1500, CHILD, OTHER), (CHILD,))
    assert not memory.is_settled
    told = memory.returned()
    assert told is not None
    assert (told.freed_mib, told.still_held_mib) == (4000, 500)
    # Another program is not to blame for it.
    assert told.holders == (CHILD,)


def test_that_memory_is_not_back_while_the_gpu_says_that_it_is_used() -> None:
    memory = held(OURS)
    after(memory, reading(6000, OTHER), ())
    assert not memory.is_settled
    told = memory.returned()
    assert told is not None
    # The other one has come since, and its 1000 MiB are not the run's.
    assert (told.freed_mib, told.still_held_mib, told.holders) == (1000, 3000, ())


NEXT = DeviceProcess(pid=90, name="python3", memory_used_mib=4000, started_s=99.0)


def test_that_the_next_run_is_not_blamed_for_what_this_one_held() -> None:
    memory = held(OURS)
    after(memory, reading(6000, NEXT), ())
    assert memory.is_settled
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=4000)


def test_that_what_grows_beside_it_meanwhile_is_not_missing() -> None:
    memory = HeldMemory("GPU-1")
    memory.take(reading(5000, OURS, OTHER), (OURS,))
    grown = OTHER.model_copy(update={"memory_used_mib": 5000})
    after(memory, reading(5000, grown), ())
    assert memory.is_settled
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=4000)


def test_that_where_the_others_memory_is_not_readable_the_runs_own_processes_decide() -> None:
    unread = NEXT.model_copy(update={"memory_used_mib": None})
    memory = held(OURS)
    after(memory, reading(6000, OURS, unread), (OURS,))
    assert not memory.is_settled
    after(memory, reading(6000, unread), ())
    assert memory.is_settled
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=4000)


def test_that_without_pids_the_next_run_is_not_blamed_either() -> None:
    memory = held()
    after(memory, reading(5000, NEXT), ())
    assert memory.is_settled
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=5000)


def test_that_nothing_is_said_without_pids_where_others_take_what_is_not_known() -> None:
    memory = held()
    unread = NEXT.model_copy(update={"memory_used_mib": None})
    for _ in range(10):
        assert not memory.is_settled
        after(memory, reading(6000, unread), ())
    assert memory.is_settled
    assert memory.returned() is None


def test_that_a_process_that_may_be_the_runs_own_is_named_where_pids_say_nothing() -> None:
    memory = HeldMemory("GPU-1")
    memory.take(reading(1000), ())
    memory.take(reading(6000, OTHER), ())
    after(memory, reading(6000, OTHER, NEXT.model_copy(update={"memory_used_mib": 10})), ())
    told = memory.returned()
    assert told is not None
    assert told.holders == (OTHER,)


def test_that_a_desktop_that_takes_a_little_meanwhile_is_no_matter() -> None:
    memory = held(OURS)
    after(memory, reading(2100), ())
    assert memory.is_settled


def test_that_without_pids_the_fall_of_the_used_memory_counts() -> None:
    memory = held()
    assert memory.held_mib == 5000
    after(memory, reading(6000), ())
    assert not memory.is_settled
    after(memory, reading(1010), ())
    assert memory.is_settled
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=4990)


def test_that_without_pids_memory_that_other_processes_took_during_the_run_is_not_waited_for() -> (
    None
):
    memory = held()
    for used_mib in (6000, *[2000] * 9):
        after(memory, reading(used_mib), ())
        assert not memory.is_settled
    after(memory, reading(2000), ())
    assert memory.is_settled
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=4000)


def test_that_without_pids_memory_that_does_not_fall_is_still_held() -> None:
    memory = held()
    for _ in range(20):
        after(memory, reading(6000), ())
    assert not memory.is_settled
    told = memory.returned()
    assert told is not None
    assert (told.freed_mib, told.still_held_mib) == (0, 5000)


def test_that_a_process_whose_memory_nvml_may_not_report_counts_by_the_rise() -> None:
    memory = held(OURS.model_copy(update={"memory_used_mib": None}))
    assert memory.held_mib == 5000
    after(memory, reading(1000), ())
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=5000)


def test_that_a_gpu_that_reports_processes_only_is_believed() -> None:
    memory = held(OURS, used_mib=None)
    after(memory, reading(None, OURS), (OURS,))
    told = memory.returned()
    assert told is not None
    assert (told.freed_mib, told.still_held_mib) == (0, 4000)
    after(memory, reading(None), ())
    assert memory.returned() == ReturnedMemory(device_key="GPU-1", freed_mib=4000)


def test_that_the_last_readings_before_the_end_may_be_from_after_it() -> None:
    for processes in ((OURS,), ()):
        memory = held(*processes)
        memory.take(reading(1000), ())
        assert memory.held_mib >= 4000
        after(memory, reading(1000), ())
        assert memory.is_settled


def test_that_a_lost_gpu_is_not_waited_for_and_nothing_is_reported_it() -> None:
    memory = held(OURS)
    after(memory, DeviceReading(key="GPU-1", state=DeviceState.LOST), ())
    assert memory.is_settled
    assert memory.returned() is None


def test_that_what_an_earlier_attempt_held_is_forgotten() -> None:
    memory = held(OURS)
    memory.forget()
    assert memory.held_mib == 0
    memory.take(reading(3000), ())
    assert memory.held_mib == 2000


def test_that_a_gpu_that_was_not_reached_has_not_answered() -> None:
    for processes in ((OURS,), ()):
        memory = held(*processes)
        after(memory, reading(None), ())
        assert memory.answered_s is None
        assert not memory.is_settled


def test_that_a_reading_that_is_repeated_counts_once() -> None:
    memory = held()
    for _ in range(20):
        after(memory, reading(2000), (), read_s=100.01)
    assert memory.answered_s == 100.01
    assert not memory.is_settled

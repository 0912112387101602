from gpupanel.domain.event_details import ReturnedMemory
from gpupanel.domain.events import MemoryReturned
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.runs.following.memory_text import freed_text

NAMES = {"GPU-1": "RTX 4090", "GPU-2": "RTX 3060"}
MINE = DeviceProcess(pid=4711, name="python3", user="ana", memory_used_mib=7270)
UNSEEN = DeviceProcess(pid=9)


def words(*devices: ReturnedMemory, seconds: float = 1.24) -> str:
    return freed_text(MemoryReturned(time_s=1.0, seconds=seconds, devices=devices), NAMES)


def test_that_memory_that_came_back_is_reported_with_its_time() -> None:
    assert words(ReturnedMemory(device_key="GPU-1", freed_mib=21_811)) == "21.3 GiB freed in 1.2 s."


def test_that_several_gpus_are_reported_together_and_one_by_one() -> None:
    one = ReturnedMemory(device_key="GPU-1", freed_mib=14_541)
    other = ReturnedMemory(device_key="GPU-2", freed_mib=812)
    assert words(one, other) == "15.0 GiB freed (RTX 4090 14.2 GiB, RTX 3060 812 MiB) in 1.2 s."


def test_that_who_still_holds_memory_is_named() -> None:
    held = ReturnedMemory(
        device_key="GPU-2", freed_mib=0, still_held_mib=7270, holders=(MINE, UNSEEN)
    )
    assert words(held, seconds=5.0) == (
        "7.1 GiB of RTX 3060 was not freed within 5.0 s: python3 (process 4711, ana) holds "
        "7.1 GiB, an unknown program (process 9) holds some."
    )


def test_that_memory_that_came_back_in_part_is_reported_in_both_parts() -> None:
    one = ReturnedMemory(device_key="GPU-1", freed_mib=2048)
    other = ReturnedMemory(device_key="GPU-9", freed_mib=0, still_held_mib=2048)
    assert words(one, other, seconds=5.0) == (
        "2.0 GiB of RTX 4090 freed; 2.0 GiB of GPU-9 was not freed within 5.0 s: its process "
        "is not known."
    )


def test_that_many_holders_are_cut_short() -> None:
    holders = tuple(DeviceProcess(pid=pid, name="a", memory_used_mib=1) for pid in range(1, 6))
    held = ReturnedMemory(device_key="GPU-1", freed_mib=0, still_held_mib=1, holders=holders)
    assert words(held).endswith("a (process 3) holds 1 MiB, 2 more.")

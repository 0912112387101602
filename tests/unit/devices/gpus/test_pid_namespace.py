"""A number of NVML's is that of a process here only where both count alike, or it has a card."""

import os
from pathlib import Path

import pytest

from gpupanel.devices.gpus.pid_namespace import is_of_host, is_process_here
from gpupanel.devices.gpus.processes import ProcessNames
from gpupanel.devices.nvml import GpuProcess
from gpupanel.domain.telemetry import DeviceProcess

HOLDS, IDLE = 11, 12


@pytest.fixture
def container(tmp_path: Path) -> Path:
    """A /proc whose processes have numbers of their own, and files of a driver beside it."""
    (tmp_path / "self" / "ns").mkdir(parents=True)
    (tmp_path / "self" / "ns" / "pid").touch()
    (tmp_path / "nvidiactl").touch()
    (tmp_path / "nvidia0").touch()
    for pid, opened in ((HOLDS, "nvidia0"), (IDLE, "other")):
        files = tmp_path / str(pid) / "fd"
        files.mkdir(parents=True)
        (files / "0").symlink_to("/dev/null")
        (files / "3").symlink_to(tmp_path / opened)
    return tmp_path


def is_here(pid: int, container: Path) -> bool:
    return is_process_here(pid, proc=container, driver_files=f"{container}/nvidia")


def test_that_in_a_container_only_who_has_a_file_of_the_driver_open_uses_a_gpu(
    container: Path,
) -> None:
    assert not is_of_host(container)
    assert is_here(HOLDS, container)
    assert not is_here(IDLE, container)
    assert not is_here(13, container)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root reads all")
def test_that_a_process_whose_files_are_secret_is_not_taken_for_it(container: Path) -> None:
    (container / str(HOLDS) / "fd").chmod(0)
    try:
        assert not is_here(HOLDS, container)
    finally:
        (container / str(HOLDS) / "fd").chmod(0o700)


def test_that_numbers_are_taken_as_they_are_where_nobody_can_tell(container: Path) -> None:
    (container / "nvidiactl").unlink()
    assert is_here(IDLE, container)
    assert is_of_host(container / "no proc at all")


def test_that_an_innocent_process_has_no_name_and_cannot_be_ended(container: Path) -> None:
    """It has the number that the host gave to another one, which holds memory of the GPU."""
    names = ProcessNames(
        lambda pid: is_process_here(pid, proc=container, driver_files=f"{container}/nvidia")
    )

    named = names.named(GpuProcess(IDLE, 21_000))

    assert named == DeviceProcess(pid=IDLE, memory_used_mib=21_000)
    assert not named.is_mine

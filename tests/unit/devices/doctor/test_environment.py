"""What is seen of the machine besides NVML."""

import os
from pathlib import Path

import pytest

from gpupanel.devices.doctor import environment
from gpupanel.devices.doctor.environment import host_environment


def _write(file: Path, text: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_that_an_empty_machine_is_read_without_complaint(tmp_path: Path) -> None:
    host = host_environment(tmp_path)

    assert not host.is_wsl
    assert host.container is None
    assert host.nodes == ()
    assert host.distribution == ()
    assert not host.has_kernel_driver


@pytest.mark.parametrize(
    ("mark", "text", "kind"),
    [
        (".dockerenv", "", "Docker"),
        ("run/.containerenv", "", "Podman"),
        ("proc/1/cgroup", "0::/kubepods/burstable/pod1", "Linux"),
        ("proc/1/cgroup", "0::/init.scope", None),
    ],
)
def test_that_a_container_is_known_by_its_marks(
    tmp_path: Path, mark: str, text: str, kind: str | None
) -> None:
    _write(tmp_path / mark, text)

    assert host_environment(tmp_path).container == kind


def test_that_wsl_is_known_by_its_kernel(tmp_path: Path) -> None:
    _write(tmp_path / "proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n")

    assert host_environment(tmp_path).is_wsl


def test_that_the_distribution_comes_before_those_that_it_is_like(tmp_path: Path) -> None:
    _write(tmp_path / "etc/os-release", 'NAME="Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n')

    assert host_environment(tmp_path).distribution == ("linuxmint", "ubuntu", "debian")


def test_that_device_nodes_are_listed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm", "nvidia-modeset", "dxg", "sda", "nvidiaX"):
        _write(tmp_path / "dev" / name)

    host = host_environment(tmp_path)

    assert [node.path for node in host.nodes] == [
        "/dev/dxg",
        "/dev/nvidia-uvm",
        "/dev/nvidia0",
        "/dev/nvidiactl",
    ]
    assert all(node.is_usable for node in host.nodes)
    assert host.nodes[0].group == (tmp_path / "dev" / "dxg").group()


def test_that_a_node_that_one_may_not_use_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "dev" / "nvidia0")
    # Whoever runs the tests as root may use everything.
    monkeypatch.setattr(environment.os, "access", lambda *_: False)

    assert not host_environment(tmp_path).nodes[0].is_usable


def test_that_a_group_without_a_name_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "dev" / "nvidia0")
    monkeypatch.setattr(Path, "group", lambda _: (_ for _ in ()).throw(KeyError("12345")))

    assert host_environment(tmp_path).nodes[0].group is None


def test_that_a_loaded_kernel_module_is_seen(tmp_path: Path) -> None:
    _write(tmp_path / "proc/driver/nvidia/version", "NVRM version: ...")

    assert host_environment(tmp_path).has_kernel_driver


def test_that_this_machine_can_be_read() -> None:
    assert host_environment().system == os.uname().sysname


def test_that_nvidias_display_controllers_are_found_on_the_bus(tmp_path: Path) -> None:
    for name, vendor, kind in (
        ("0000:00:02.0", "0x8086", "0x030000"),
        ("0000:01:00.0", "0x10de", "0x030000"),
        ("0000:01:00.1", "0x10de", "0x040300"),  # its audio part
        ("0000:02:00.0", "0x10de", "0x030200"),
    ):
        _write(tmp_path / "sys/bus/pci/devices" / name / "vendor", f"{vendor}\n")
        _write(tmp_path / "sys/bus/pci/devices" / name / "class", f"{kind}\n")
    (tmp_path / "sys/bus/pci/devices/0000:03:00.0").mkdir()

    assert host_environment(tmp_path).gpus_on_the_bus == ("0000:01:00.0", "0000:02:00.0")
    assert host_environment(tmp_path / "nothing").gpus_on_the_bus == ()

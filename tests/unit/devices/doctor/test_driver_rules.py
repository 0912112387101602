"""What the doctor concludes about the driver, the container, device nodes and CUDA's start."""

import pytest

from gpupanel.devices.doctor.environment import DeviceNode
from gpupanel.devices.doctor.examination import report_of
from gpupanel.devices.gpus.driver_problem import driver_problem
from gpupanel.devices.nvml import DriverFailure, DriverGoneError
from gpupanel.domain.device import UnresponsiveGpu
from gpupanel.domain.gpu_failure import GpuFailure
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import CudaFacts
from tests.fakes.examined import (
    NO_GPU,
    NODES,
    RTX_4090,
    WELL,
    concluded,
    listed,
    only,
    told,
    with_driver,
    with_host,
    with_tensorflow,
)

ON_THE_BUS = ("0000:01:00.0",)
UVM_LESS = tuple(node for node in NODES if "uvm" not in node.path)


def test_that_a_machine_that_is_well_has_nothing_to_report() -> None:
    assert concluded(WELL) == ()


def test_that_a_gpu_that_does_not_answer_is_reported_with_what_the_driver_said() -> None:
    no_power = GpuFailure(said="Insufficient External Power", code=8)
    silent = UnresponsiveGpu(failure=no_power, index=1, pci_bus_id="00000000:02:00.0")
    examined = with_driver(NO_GPU, version="570.86.15", unresponsive=(silent,))
    problem = only(examined)
    assert (problem.code, problem.severity) == ("device_not_answering", Severity.WARNING)
    assert "The GPU at 0000:02:00.0 does not answer" in problem.message
    assert "plug in the power cables" in problem.hint
    groups = {group.title: group for group in report_of(examined).groups()}
    fact = groups["The GPU at 0000:02:00.0"].facts[0]
    assert (fact.is_well, "NVML error 8" in fact.value) == (False, True)


def test_that_a_machine_without_gpu_is_well_for_training_on_the_cpu() -> None:
    assert told(NO_GPU) == [("no_nvidia_gpu", Severity.HINT)]


@pytest.mark.parametrize(
    ("distribution", "command"),
    [
        (("ubuntu", "debian"), "sudo ubuntu-drivers install"),
        (("debian",), "sudo apt install nvidia-driver"),
        (("linuxmint", "ubuntu", "debian"), "sudo ubuntu-drivers install"),
        (("fedora",), "sudo dnf install akmod-nvidia"),
        (("arch",), "sudo pacman -S nvidia"),
        (("void",), ""),
    ],
)
def test_that_a_gpu_without_a_driver_is_reported_with_the_distributions_command(
    distribution: tuple[str, ...], command: str
) -> None:
    problem = only(with_host(NO_GPU, gpus_on_the_bus=ON_THE_BUS, distribution=distribution))

    assert (problem.code, problem.severity) == ("nvidia_driver_missing", Severity.WARNING)
    assert "0000:01:00.0" in problem.message
    assert problem.command == command


@pytest.mark.parametrize("sign", [{"gpus_on_the_bus": ON_THE_BUS}, {"has_kernel_driver": True}])
def test_that_a_container_without_device_nodes_is_reported_and_not_a_missing_driver(
    sign: dict[str, object],
) -> None:
    problem = only(with_host(NO_GPU, container="Docker", **sign))

    assert (problem.code, problem.severity) == ("container_without_gpus", Severity.WARNING)
    assert "Docker" in problem.message
    assert "--gpus all" in problem.hint


def test_that_a_container_on_a_machine_without_gpu_is_well() -> None:
    assert told(with_host(NO_GPU, container="Podman")) == [("no_nvidia_gpu", Severity.HINT)]


def test_that_wsl_without_its_device_node_is_reported() -> None:
    problem = only(with_host(NO_GPU, is_wsl=True))

    assert (problem.code, problem.severity) == ("wsl_without_gpu", Severity.WARNING)
    assert "/dev/dxg" in problem.message
    assert problem.command == "wsl.exe --update"


def test_that_wsl_with_a_gpu_and_no_driver_asks_for_windows_driver() -> None:
    nodes = (DeviceNode(path="/dev/dxg"),)

    problem = only(with_host(NO_GPU, is_wsl=True, nodes=nodes))

    assert (problem.code, problem.severity) == ("wsl_without_driver", Severity.HINT)
    assert "Windows" in problem.hint


def test_that_a_driver_in_trouble_is_reported_in_wsl_as_elsewhere() -> None:
    hangs = Problem(code="nvidia_driver_hangs", message="It hangs.")
    nodes = (DeviceNode(path="/dev/dxg"),)

    examined = with_driver(with_host(NO_GPU, is_wsl=True, nodes=nodes), problem=hangs)

    assert concluded(examined) == (hangs,)


def test_that_gpus_that_tensorflow_alone_sees_are_not_called_absent() -> None:
    problem = only(with_tensorflow(NO_GPU, gpus=listed(RTX_4090)))

    assert problem.code == "gpus_without_management_library"
    assert problem.severity is Severity.WARNING
    assert RTX_4090.name in problem.message


def test_that_a_driver_that_lists_no_gpu_is_reported() -> None:
    examined = with_tensorflow(with_driver(WELL, gpus=()), gpus=(), cuda=None)

    assert told(examined) == [("no_gpu_listed", Severity.WARNING)]


def test_that_a_driver_that_lists_no_gpu_to_a_container_asks_for_its_gpus() -> None:
    examined = with_host(with_driver(WELL, gpus=()), container="Docker")

    assert "--gpus all" in only(with_tensorflow(examined, gpus=())).hint


def test_that_a_missing_device_node_is_reported_where_tensorflow_sees_no_gpu() -> None:
    blind = with_tensorflow(WELL, gpus=(), cuda=CudaFacts(error_code=999, error="unknown error"))

    problem = concluded(with_host(blind, nodes=UVM_LESS))[0]

    assert (problem.code, problem.severity) == ("device_node_missing", Severity.ERROR)
    assert "/dev/nvidia-uvm" in problem.message
    assert problem.command == "sudo nvidia-modprobe -u -c=0"


def test_that_a_missing_device_node_in_a_container_asks_for_its_gpus() -> None:
    blind = with_tensorflow(WELL, gpus=(), cuda=CudaFacts(error_code=999, error="unknown error"))

    problem = concluded(with_host(blind, nodes=UVM_LESS, container="Docker"))[0]

    assert problem.command == ""
    assert "--gpus all" in problem.hint


def test_that_a_device_node_that_is_not_missed_is_no_problem() -> None:
    assert concluded(with_host(WELL, nodes=UVM_LESS)) == ()


def test_that_device_nodes_that_one_may_not_use_are_reported_with_their_group() -> None:
    closed = DeviceNode(path="/dev/nvidia0", is_usable=False, group="render")
    blind = with_tensorflow(WELL, gpus=(), cuda=CudaFacts(error_code=100))

    problem = only(with_host(blind, nodes=(*NODES[:1], closed)))

    assert problem.code == "device_nodes_forbidden"
    assert "/dev/nvidia0" in problem.message
    assert problem.command == "sudo usermod -aG render $USER"


@pytest.mark.parametrize(
    ("error_code", "word", "command"),
    [
        (803, "restart", "sudo reboot"),
        (802, "NVSwitch", "sudo systemctl start nvidia-fabricmanager"),
        (804, "cuda-compat", ""),
        (34, "LD_LIBRARY_PATH", ""),
        (999, "kernel module", "sudo modprobe -r nvidia-uvm && sudo modprobe nvidia-uvm"),
    ],
)
def test_that_cudas_refusal_to_start_is_reported_with_what_to_do(
    error_code: int, word: str, command: str
) -> None:
    cuda = CudaFacts(error_code=error_code, error=f"its words ({error_code})")

    problem = only(with_tensorflow(WELL, gpus=(), cuda=cuda))

    assert (problem.code, problem.severity) == ("cuda_does_not_start", Severity.ERROR)
    assert f"its words ({error_code})" in problem.message
    assert word in problem.hint
    assert problem.command == command


def test_that_a_driver_that_does_not_answer_is_reported_as_it_is() -> None:
    gone = Problem(code="nvidia_driver_not_answering", severity=Severity.WARNING, message="Gone.")

    examined = with_driver(NO_GPU, problem=gone)

    assert concluded(examined) == (gone,)


@pytest.mark.parametrize("failure", list(DriverFailure))
def test_that_every_failure_of_the_driver_says_what_to_do(tmp_path, failure) -> None:
    loaded = tmp_path / "version"
    loaded.write_text("NVRM version: ...")

    problem = driver_problem(DriverGoneError(failure, "its own words"), loaded)

    assert problem is not None
    assert problem.message.endswith(".")
    assert problem.hint.endswith(".")
    assert problem.detail == "its own words"


def test_that_a_driver_updated_under_a_running_one_asks_for_a_restart(tmp_path) -> None:
    gone = DriverGoneError(DriverFailure.VERSION_MISMATCH, "Driver/library version mismatch")

    problem = driver_problem(gone, tmp_path)

    assert problem is not None
    assert problem.command == "sudo reboot"


def test_that_no_library_and_no_kernel_module_is_a_machine_without_a_driver(tmp_path) -> None:
    gone = DriverGoneError(DriverFailure.NO_LIBRARY, "NVML Shared Library Not Found")

    assert driver_problem(gone, tmp_path / "version") is None


def test_that_an_unknown_error_is_cured_where_containers_get_it(tmp_path) -> None:
    problem = driver_problem(DriverGoneError(DriverFailure.UNKNOWN, "Unknown Error"), tmp_path)

    assert problem is not None
    assert problem.hint.startswith("In a container: restart the container.")
    assert "systemctl daemon-reload" in problem.hint

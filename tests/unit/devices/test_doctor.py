"""What the doctor concludes from what it sees."""

import ctypes
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpupanel.devices import doctor
from gpupanel.devices.doctor import DoctorReport, examine
from gpupanel.devices.doctor_findings import Examined, findings
from gpupanel.devices.driver_problem import driver_problem
from gpupanel.devices.nvml import DriverFailure, DriverGoneError
from gpupanel.devices.pci import nvidia_gpus_on_the_bus
from gpupanel.devices.tensorflow_probe import ProbeAnswer
from gpupanel.domain.device import DeviceKind, PhysicalDevice
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import SharedLibrary, TensorFlowFacts, TensorFlowGpu
from tests.nvml.standin import DRIVER_NOT_LOADED, RTX_4090, Standin, StandinState

GPU = PhysicalDevice(
    key="GPU-1",
    kind=DeviceKind.GPU,
    name="NVIDIA GeForce RTX 4090",
    memory_total_mib=24_564,
    compute_capability=(8, 9),
)
DRIVER = SharedLibrary(soname="libcuda.so.1", path="/usr/lib/libcuda.so.570.86.15")
CUDNN = SharedLibrary(
    soname="libcudnn.so.9", package="nvidia-cudnn-cu12", path="/site/nvidia/cudnn/lib/libcudnn.so.9"
)
TENSORFLOW = TensorFlowFacts(
    version="2.21.0",
    is_cuda_build=True,
    cuda_version="12.5.1",
    cudnn_version="9",
    compute_capabilities=("sm_60", "sm_89", "compute_90"),
    gpus=(TensorFlowGpu(name=GPU.name, compute_capability=(8, 9)),),
    libraries=(DRIVER, CUDNN),
)
BLIND = TENSORFLOW.model_copy(update={"gpus": ()})
WELL = Examined(
    driver="570.86.15",
    driver_cuda_version=(12, 8),
    driver_problem=None,
    gpus=(GPU,),
    gpus_on_the_bus=("0000:01:00.0",),
    tensorflow=TENSORFLOW,
    tensorflow_problem=None,
    tensorflow_log="the log",
    visible_devices=None,
)
NO_GPU = replace(
    WELL, driver=None, driver_cuda_version=None, gpus=(), gpus_on_the_bus=(), tensorflow=BLIND
)


def _not_found(library: SharedLibrary) -> SharedLibrary:
    return library.model_copy(update={"path": None, "error": f"{library.soname}: not found"})


def _told(examined: Examined) -> list[tuple[str, Severity]]:
    return [(problem.code, problem.severity) for problem in findings(examined)]


def _only(examined: Examined) -> Problem:
    (problem,) = findings(examined)
    return problem


def test_that_a_machine_that_is_well_has_nothing_to_tell() -> None:
    assert findings(WELL) == ()


def test_that_a_machine_without_gpu_is_well_for_training_on_the_cpu() -> None:
    assert _told(NO_GPU) == [("no_nvidia_gpu", Severity.HINT)]


def test_that_without_a_gpu_neither_libraries_nor_cuda_are_missed() -> None:
    blind = BLIND.model_copy(update={"is_cuda_build": False, "libraries": (_not_found(CUDNN),)})

    assert _told(replace(NO_GPU, tensorflow=blind)) == [("no_nvidia_gpu", Severity.HINT)]


def test_that_a_gpu_without_a_driver_is_noticed() -> None:
    problem = _only(replace(NO_GPU, gpus_on_the_bus=("0000:01:00.0",)))

    assert (problem.code, problem.severity) == ("nvidia_driver_missing", Severity.WARNING)
    assert "0000:01:00.0" in problem.message
    assert "sudo" in problem.hint


def test_that_a_driver_that_lists_no_gpu_is_told() -> None:
    assert _told(replace(WELL, gpus=(), tensorflow=BLIND)) == [("no_gpu_listed", Severity.WARNING)]


def test_that_missing_cuda_libraries_are_named_with_the_command_that_brings_them() -> None:
    facts = BLIND.model_copy(update={"libraries": (DRIVER, _not_found(CUDNN))})

    problem = _only(replace(WELL, tensorflow=facts))

    assert (problem.code, problem.severity) == ("cuda_libraries_missing", Severity.ERROR)
    assert "libcudnn.so.9" in problem.message
    assert problem.hint.endswith("-m pip install 'gpupanel[cuda]'")
    assert problem.detail == "libcudnn.so.9: not found"


def test_that_a_library_that_tensorflow_does_without_is_a_hint() -> None:
    facts = TENSORFLOW.model_copy(update={"libraries": (DRIVER, _not_found(CUDNN))})

    assert _told(replace(WELL, tensorflow=facts)) == [("cuda_libraries_missing", Severity.HINT)]


def test_that_the_drivers_own_library_is_not_asked_of_pip() -> None:
    facts = BLIND.model_copy(update={"libraries": (_not_found(DRIVER), CUDNN)})

    problem = _only(replace(WELL, tensorflow=facts))

    assert problem.code == "driver_libraries_missing"
    assert "driver" in problem.hint
    assert "pip" not in problem.hint


def test_that_libraries_of_the_driver_and_of_cuda_are_told_apart() -> None:
    facts = BLIND.model_copy(update={"libraries": (_not_found(DRIVER), _not_found(CUDNN))})

    assert _told(replace(WELL, tensorflow=facts)) == [
        ("driver_libraries_missing", Severity.ERROR),
        ("cuda_libraries_missing", Severity.ERROR),
    ]


def test_that_a_build_without_cuda_is_told_where_there_is_a_gpu() -> None:
    facts = TensorFlowFacts(version="2.21.0")

    problem = _only(replace(WELL, tensorflow=facts))

    assert (problem.code, problem.severity) == ("tensorflow_without_cuda", Severity.ERROR)
    assert "gpupanel[cuda]" in problem.hint


def test_that_a_driver_older_than_tensorflows_cuda_is_told() -> None:
    problem = _only(replace(WELL, driver_cuda_version=(11, 8), tensorflow=BLIND))

    assert problem.code == "nvidia_driver_too_old"
    assert "11.8" in problem.message
    assert "12.5.1" in problem.message


def test_that_within_a_major_version_of_cuda_an_older_driver_is_fine() -> None:
    assert findings(replace(WELL, driver_cuda_version=(12, 2))) == ()


def test_that_a_gpu_older_than_the_build_is_told() -> None:
    old = GPU.model_copy(update={"name": "Tesla M40", "compute_capability": (5, 2)})

    problem = _only(replace(WELL, gpus=(old,), tensorflow=BLIND))

    assert (problem.code, problem.severity) == ("gpu_too_old_for_tensorflow", Severity.WARNING)
    assert "5.2" in problem.message
    assert "6.0" in problem.message


def test_that_gpus_hidden_by_the_environment_are_told() -> None:
    problem = _only(replace(WELL, tensorflow=BLIND, visible_devices=""))

    assert problem.code == "gpus_hidden_by_environment"
    assert "CUDA_VISIBLE_DEVICES" in problem.message


def test_that_an_environment_that_hides_nothing_is_no_problem() -> None:
    assert findings(replace(WELL, visible_devices="GPU-1")) == ()


def test_that_gpus_unseen_for_no_known_reason_come_with_tensorflows_log() -> None:
    problem = _only(replace(WELL, tensorflow=BLIND))

    assert (problem.code, problem.severity) == ("gpus_not_seen_by_tensorflow", Severity.ERROR)
    assert GPU.name in problem.message
    assert problem.detail == "the log"


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (
            "ModuleNotFoundError: No module named 'tensorflow'",
            "TensorFlow is not installed.",
            "pip install tensorflow",
        ),
        (
            "ModuleNotFoundError: No module named 'google.protobuf'",
            "the module google.protobuf is not installed",
            "pip install --upgrade tensorflow",
        ),
        ("ImportError: wrong ELF class", "wrong ELF class", "--force-reinstall tensorflow"),
    ],
)
def test_that_a_tensorflow_that_cannot_be_imported_is_an_error_with_what_to_do(
    error: str, message: str, hint: str
) -> None:
    facts = TensorFlowFacts(import_error=f"Traceback (most recent call last):\n  ...\n{error}\n")

    worst = findings(replace(NO_GPU, tensorflow=facts))[0]

    assert (worst.code, worst.severity) == ("tensorflow_not_importable", Severity.ERROR)
    assert message in worst.message
    assert hint in worst.hint
    assert worst.detail == facts.import_error


def test_that_the_worst_comes_first() -> None:
    crash = Problem(code="tensorflow_crashed", message="It crashes.")

    assert _told(replace(NO_GPU, tensorflow=None, tensorflow_problem=crash)) == [
        ("tensorflow_crashed", Severity.ERROR),
        ("no_nvidia_gpu", Severity.HINT),
    ]


def _examine(answer: ProbeAnswer) -> DoctorReport:
    return examine(lambda: answer, environment={})


def test_that_a_report_of_two_gpus_names_them_and_is_well(
    nvml_in_process: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "nvidia_gpus_on_the_bus", lambda: ("0000:01:00.0",))
    seen = TENSORFLOW.model_copy(update={"gpus": TENSORFLOW.gpus * 2})

    report = _examine(ProbeAnswer(facts=seen))

    assert report.driver == "570.86.15"
    assert report.driver_cuda_version == "12.8"
    assert [gpu.name for gpu in report.gpus] == [
        "NVIDIA GeForce RTX 4090",
        "NVIDIA GeForce RTX 3060",
    ]
    assert report.problems == ()
    assert report.is_well
    facts = report.facts()
    assert ("NVIDIA driver", "570.86.15") in facts
    assert ("TensorFlow's build", "for CUDA 12.5.1, cuDNN 9") in facts
    assert ("libcudnn.so.9", CUDNN.path) in facts
    assert any(name == "GPU" and RTX_4090.uuid in value for name, value in facts)
    assert DoctorReport.model_validate_json(report.model_dump_json()) == report


def test_that_a_machine_without_driver_and_gpu_is_well_with_a_hint(
    monkeypatch: pytest.MonkeyPatch, nvml_in_process: Standin
) -> None:
    import pynvml

    def refuse(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(pynvml, "nvmlLib", None)
    monkeypatch.setattr(pynvml, "CDLL", refuse)
    monkeypatch.setattr(doctor, "nvidia_gpus_on_the_bus", tuple)

    report = _examine(ProbeAnswer(facts=BLIND))

    assert report.is_well
    assert [problem.code for problem in report.problems] == ["no_nvidia_gpu"]
    assert ("NVIDIA driver", "none") in report.facts()


def test_that_a_driver_that_does_not_answer_is_not_well(nvml_in_process: Standin) -> None:
    nvml_in_process.tell(StandinState(gpus=(), init=DRIVER_NOT_LOADED))

    report = _examine(ProbeAnswer(facts=BLIND))

    assert not report.is_well
    assert report.problems[0].code == "nvidia_driver_not_answering"


def test_that_the_doctor_lets_the_driver_go(
    nvml_standin: Standin, use_in_process: Callable[[Standin], ctypes.CDLL]
) -> None:
    counter = use_in_process(nvml_standin)
    counter.standin_reset_calls()

    _examine(ProbeAnswer(facts=BLIND))

    assert counter.standin_calls(b"nvmlInitWithFlags") == 1
    assert counter.standin_calls(b"nvmlShutdown") == 1


@pytest.mark.parametrize("failure", list(DriverFailure))
def test_that_every_failure_of_the_driver_says_what_to_do(
    tmp_path: Path, failure: DriverFailure
) -> None:
    loaded = tmp_path / "version"
    loaded.write_text("NVRM version: ...")

    problem = driver_problem(DriverGoneError(failure, "its own words"), loaded)

    assert problem is not None
    assert problem.message.endswith(".")
    assert problem.hint.endswith(".")
    assert problem.detail == "its own words"


def test_that_no_library_and_no_kernel_module_is_a_machine_without_a_driver(
    tmp_path: Path,
) -> None:
    gone = DriverGoneError(DriverFailure.NO_LIBRARY, "NVML Shared Library Not Found")

    assert driver_problem(gone, tmp_path / "version") is None


def test_that_nvidias_display_controllers_are_found_on_the_bus(tmp_path: Path) -> None:
    for name, vendor, kind in (
        ("0000:00:02.0", "0x8086", "0x030000"),
        ("0000:01:00.0", "0x10de", "0x030000"),
        ("0000:01:00.1", "0x10de", "0x040300"),  # its audio part
        ("0000:02:00.0", "0x10de", "0x030200"),
    ):
        device = tmp_path / name
        device.mkdir()
        (device / "vendor").write_text(f"{vendor}\n")
        (device / "class").write_text(f"{kind}\n")
    (tmp_path / "0000:03:00.0").mkdir()

    assert nvidia_gpus_on_the_bus(tmp_path) == ("0000:01:00.0", "0000:02:00.0")
    assert nvidia_gpus_on_the_bus(tmp_path / "nothing") == ()

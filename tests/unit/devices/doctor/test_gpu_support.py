"""Which GPUs a run could use, by what driver and TensorFlow answer with a run's variables."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.doctor.gpu_support import (
    asked_gpus,
    gpu_support,
    remembered_support,
    support_of,
)
from gpupanel.devices.doctor.support_memory import forget_support
from gpupanel.devices.probes.tensorflow_refusals import Refusal, RefusalKind
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import TensorFlowFacts
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.examined import (
    CUDNN,
    DRIVER_LIBRARY,
    GT_1030,
    NCCL,
    RTX_4090,
    TENSORFLOW,
    WELL,
    cuda_device,
    listed,
    with_tensorflow,
)
from tests.nvml.standin import Standin

GPUS = (RTX_4090,)
DRIVER = "570.86.15"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


class Looked:
    """Answers as driver and TensorFlow would, and remembers with which variables it was asked."""

    def __init__(self, examined: Examined = WELL) -> None:
        self.examined = examined
        self.asked: list[dict[str, str]] = []

    def __call__(self, variables: Mapping[str, str], cancelled: Event | None) -> Examined:
        self.asked.append(dict(variables))
        return self.examined


def without(library: str) -> Examined:
    lost = {
        each: found.model_copy(update={"path": None, "error": f"{found.soname}: not found"})
        if found.soname == library
        else found
        for each, found in (("driver", DRIVER_LIBRARY), ("cudnn", CUDNN))
    }
    return with_tensorflow(WELL, gpus=(), libraries=tuple(lost.values()))


def test_that_a_machine_that_is_well_has_no_fault_and_reports_its_build() -> None:
    support = support_of(GPUS, WELL)

    assert support.faults == ()
    assert support.unanswered is None
    assert support.build == TENSORFLOW.build


def test_that_a_missing_library_is_the_fault_of_every_gpu_with_its_command() -> None:
    (fault,) = support_of(GPUS, without("libcudnn.so.9")).faults

    assert fault.keys == (RTX_4090.key,)
    assert fault.problem.code == "cuda_libraries_missing"
    assert "libcudnn.so.9" in fault.problem.message
    assert "tensorflow[and-cuda]==2.21.0" in fault.problem.command


def test_that_nccl_is_no_fault_where_it_is_missing_but_known_to_be_with_its_command() -> None:
    missing = NCCL.model_copy(update={"path": None, "error": "libnccl.so.2: not found"})
    support = support_of(GPUS, with_tensorflow(WELL, libraries=(DRIVER_LIBRARY, CUDNN, missing)))

    assert support.faults == ()
    assert support.without_nccl is not None
    assert support.without_nccl.message == "TensorFlow does not find libnccl.so.2."
    assert "tensorflow[and-cuda]==2.21.0" in support.without_nccl.command
    assert support.without_nccl.detail == "libnccl.so.2: not found"
    assert support_of(GPUS, WELL).without_nccl is None
    # Of a CUDA whose libraries are not known nothing is said.
    assert support_of(GPUS, with_tensorflow(WELL, libraries=(DRIVER_LIBRARY,))).without_nccl is None


def test_that_several_things_are_one_fault_whose_command_does_all_that_commands_can() -> None:
    missing = tuple(
        each.model_copy(update={"path": None, "error": "not found"})
        for each in (DRIVER_LIBRARY, CUDNN)
    )
    examined = with_tensorflow(WELL, gpus=(), cuda=None, libraries=missing)

    (fault,) = support_of(GPUS, examined).faults

    assert fault.problem.code == "driver_libraries_missing"
    assert "libcuda.so.1" in fault.problem.message
    assert "2 problems found" in fault.problem.hint
    assert "pip install" in fault.problem.command
    assert "libcuda.so.1" in fault.problem.detail
    assert "libcudnn.so.9" in fault.problem.detail


def test_that_a_driver_that_is_too_old_is_a_fault_although_tensorflow_lists_the_gpu() -> None:
    old = replace(WELL, driver=WELL.driver.model_copy(update={"cuda_version": (11, 4)}))

    (fault,) = support_of(GPUS, old).faults

    assert fault.problem.code == "nvidia_driver_too_old"


def test_that_a_build_without_cuda_is_the_fault_of_all() -> None:
    examined = replace(WELL, tensorflow=TensorFlowFacts(version="2.21.0"))

    support = support_of(GPUS, examined)

    assert support.build is not None
    assert not support.build.is_cuda_build
    assert support.faults[0].problem.code == "tensorflow_without_cuda"


def test_that_a_gpu_that_tensorflow_passes_over_is_the_only_one_with_a_fault() -> None:
    both = (RTX_4090, GT_1030)
    refusal = Refusal(
        pci_bus_id="0000:0a:00.0", kind=RefusalKind.OTHER, words="Ignoring visible gpu device"
    )
    examined = replace(
        with_tensorflow(
            WELL,
            gpus=listed(RTX_4090),
            cuda=TENSORFLOW.cuda.model_copy(
                update={"devices": (cuda_device(RTX_4090), cuda_device(GT_1030, 3))}
            ),
        ),
        refusals=(refusal,),
    )

    (fault,) = support_of(both, examined).faults

    assert fault.keys == (GT_1030.key,)
    assert fault.problem.code == "gpu_refused_by_tensorflow"


def test_that_two_gpus_with_the_same_fault_are_reported_together() -> None:
    both = (RTX_4090, GT_1030)

    (fault,) = support_of(both, with_tensorflow(WELL, gpus=())).faults

    assert fault.keys == (RTX_4090.key, GT_1030.key)
    assert RTX_4090.name in fault.problem.message


def test_that_a_tensorflow_that_cannot_be_imported_is_a_fault() -> None:
    broken = replace(
        WELL, tensorflow=TensorFlowFacts(import_error="ImportError: libstdc++.so.6: too old")
    )

    support = support_of(GPUS, broken)

    assert support.build is None
    assert support.faults[0].problem.code == "tensorflow_not_importable"


@pytest.mark.parametrize(
    "code",
    ["tensorflow_import_timed_out", "tensorflow_probe_cancelled", "tensorflow_probe_not_started"],
)
def test_that_nothing_follows_from_no_answer(code: str) -> None:
    problem = Problem(code=code, message="It did not answer.")

    support = support_of(GPUS, replace(WELL, tensorflow=None, tensorflow_problem=problem))

    assert support.faults == ()
    assert support.unanswered == problem


def test_that_a_tensorflow_that_crashes_is_a_fault() -> None:
    problem = Problem(code="tensorflow_crashed", message="It crashes.", severity=Severity.ERROR)

    support = support_of(GPUS, replace(WELL, tensorflow=None, tensorflow_problem=problem))

    assert support.faults[0].problem == problem


def test_that_a_gpu_of_which_nothing_is_reported_has_a_fault_all_the_same() -> None:
    problem = Problem(code="odd", message="It is.", severity=Severity.HINT)

    (fault,) = support_of(GPUS, replace(WELL, tensorflow=None, tensorflow_problem=problem)).faults

    assert fault.problem.code == "gpus_not_seen_by_tensorflow"


def test_that_tensorflow_is_asked_with_the_variables_of_a_run() -> None:
    looked = Looked()

    gpu_support(GPUS, DRIVER, examine=looked)

    (variables,) = looked.asked
    assert variables["CUDA_VISIBLE_DEVICES"] == RTX_4090.key
    assert variables["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert variables["TF_MIN_GPU_MULTIPROCESSOR_COUNT"] == "1"


def test_that_whole_gpus_are_asked_together_and_mig_instances_one_at_a_time() -> None:
    whole = RTX_4090.model_copy(update={"key": "GPU-mig", "is_partitioned": True})
    parts = tuple(
        RTX_4090.model_copy(update={"key": f"MIG-{number}", "parent_key": whole.key})
        for number in range(2)
    )

    assert asked_gpus((RTX_4090, GT_1030)) == (RTX_4090, GT_1030)
    assert asked_gpus(parts) == parts[:1]
    assert asked_gpus((RTX_4090, *parts)) == (RTX_4090,)
    assert asked_gpus(()) == ()


def test_that_gpus_that_can_be_used_are_asked_about_once() -> None:
    looked = Looked()

    first = gpu_support(GPUS, DRIVER, examine=looked)
    second = gpu_support(GPUS, DRIVER, examine=looked)

    assert first == second == remembered_support(GPUS, DRIVER)
    assert len(looked.asked) == 1


def test_that_gpus_that_could_not_be_used_are_asked_about_again() -> None:
    looked = Looked(without("libcudnn.so.9"))
    assert gpu_support(GPUS, DRIVER, examine=looked).faults

    looked.examined = WELL

    assert remembered_support(GPUS, DRIVER).faults
    assert not gpu_support(GPUS, DRIVER, examine=looked).faults
    assert not remembered_support(GPUS, DRIVER).faults


def test_that_no_answer_is_not_remembered() -> None:
    problem = Problem(code="tensorflow_import_timed_out", message="It did not answer.")
    looked = Looked(replace(WELL, tensorflow=None, tensorflow_problem=problem))

    gpu_support(GPUS, DRIVER, examine=looked)

    assert remembered_support(GPUS, DRIVER) is None


def test_that_an_answer_that_nobody_wants_any_more_is_not_waited_for() -> None:
    cancelled = Event()
    cancelled.set()

    support = gpu_support(TWO_UNEQUAL.gpus, TWO_UNEQUAL.driver, cancelled)

    assert support.unanswered is not None
    assert support.unanswered.code == "tensorflow_probe_cancelled"


@pytest.mark.tensorflow
def test_that_this_machines_tensorflow_cannot_use_the_gpus_of_a_stand_in(
    nvml_standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in nvml_standin.environment.items():
        monkeypatch.setenv(name, value)
    # Hidden in the shell of the person, as a scheduler does it: a run does not mind.
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    gpus = tuple(
        RTX_4090.model_copy(update={"key": gpu.uuid, "name": gpu.name, "pci_bus_id": gpu.bus})
        for gpu in nvml_standin.state.gpus
    )

    forget_support()

    support = gpu_support(gpus, nvml_standin.state.driver)

    (fault,) = support.faults
    assert fault.keys == tuple(gpu.key for gpu in gpus)
    assert fault.problem.code == "driver_libraries_missing"
    assert "CUDA_VISIBLE_DEVICES" not in fault.problem.detail
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
    assert remembered_support(gpus, nvml_standin.state.driver) == support

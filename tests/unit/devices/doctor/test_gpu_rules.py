"""Why TensorFlow does not see GPUs that the driver lists, GPU by GPU."""

from dataclasses import replace

import pytest

from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.doctor.visibility import Unseen, visibilities
from gpupanel.devices.probes.tensorflow_refusals import refusals
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.problem import Severity
from gpupanel.domain.tensorflow_facts import CudaFacts
from tests.fakes.examined import (
    GT_1030,
    RTX_4090,
    WELL,
    concluded,
    cuda_device,
    listed,
    only,
    told,
    with_driver,
    with_tensorflow,
)

SMALL_REFUSED = (
    "I0000 00:00:1795251768.41 20729 gpu_device.cc:2431] Ignoring visible gpu device (device: 1, "
    "name: NVIDIA GeForce GT 1030, pci bus id: 0000:0a:00.0, compute capability: 6.1) with core "
    "count: 3. The minimum required count is 8. You can adjust this requirement with the env var "
    "TF_MIN_GPU_MULTIPROCESSOR_COUNT."
)
TWIN = RTX_4090.model_copy(
    update={"key": "GPU-00000000-0000-0000-0000-00000000ffff", "pci_bus_id": "00000000:02:00.0"}
)
A100 = PhysicalDevice.model_validate(
    RTX_4090.model_dump()
    | {"name": "NVIDIA A100", "compute_capability": (8, 0), "is_partitioned": True}
)
INSTANCES = tuple(
    PhysicalDevice.model_validate(
        RTX_4090.model_dump()
        | {
            "key": f"MIG-00000000-0000-0000-0000-00000000000{number}",
            "name": "NVIDIA A100 MIG 3g.20gb",
            "compute_capability": (8, 0),
            "parent_key": A100.key,
        }
    )
    for number in (1, 2)
)


def _machine(*shown: PhysicalDevice, seen: tuple[PhysicalDevice, ...], **counts: int) -> Examined:
    """A 4090 and a GT 1030, of which CUDA shows some and TensorFlow sees some."""
    devices = tuple(
        cuda_device(gpu, 3 if gpu is GT_1030 else counts.get("multiprocessors", 128))
        for gpu in shown
    )
    examined = with_driver(WELL, gpus=(RTX_4090, GT_1030))
    return with_tensorflow(examined, gpus=listed(*seen), cuda=CudaFacts(devices=devices))


def _why_not(examined: Examined) -> list[Unseen | None]:
    return [visibility.why_not for visibility in visibilities(examined)]


def test_that_gpus_that_tensorflow_sees_need_no_reason() -> None:
    examined = _machine(RTX_4090, GT_1030, seen=(RTX_4090, GT_1030))

    assert [visibility.is_seen for visibility in visibilities(examined)] == [True, True]
    assert concluded(examined) == ()


def test_that_a_gpu_hidden_by_the_environment_is_named() -> None:
    examined = replace(_machine(RTX_4090, seen=(RTX_4090,)), visible_devices="0")

    problem = only(examined)

    assert _why_not(examined) == [None, Unseen.HIDDEN]
    # The other one is left, as people may have agreed.
    assert (problem.code, problem.severity) == ("gpus_hidden_by_environment", Severity.HINT)
    assert 'CUDA_VISIBLE_DEVICES is "0"' in problem.message
    assert GT_1030.name in problem.message
    assert RTX_4090.name not in problem.message
    assert problem.command == "unset CUDA_VISIBLE_DEVICES"


def test_that_an_empty_variable_hides_every_gpu() -> None:
    hidden = with_tensorflow(WELL, gpus=(), cuda=CudaFacts(error_code=100, error="no device"))

    assert told(replace(hidden, visible_devices="")) == [
        ("gpus_hidden_by_environment", Severity.WARNING)
    ]


@pytest.mark.parametrize("cuda", [None, CudaFacts(error_code=803, error="mismatch")])
def test_that_the_environment_is_not_blamed_where_cuda_shows_no_gpu_to_anybody(
    cuda: CudaFacts | None,
) -> None:
    examined = replace(with_tensorflow(WELL, gpus=(), cuda=cuda), visible_devices="0")

    assert Unseen.HIDDEN not in _why_not(examined)
    assert "gpus_hidden_by_environment" not in [code for code, _ in told(examined)]


def test_that_an_environment_that_hides_nothing_is_no_problem() -> None:
    assert concluded(replace(WELL, visible_devices=RTX_4090.key)) == ()


def test_that_a_gpu_that_the_environment_names_is_not_hidden_by_it() -> None:
    unseen = with_tensorflow(WELL, gpus=(), cuda=CudaFacts())

    examined = replace(unseen, visible_devices=f" {RTX_4090.key[:20]} ,GPU-else")

    assert _why_not(examined) == [Unseen.UNKNOWN]


def test_that_a_gpu_with_too_few_multiprocessors_is_reported_in_tensorflows_numbers() -> None:
    examined = replace(
        _machine(RTX_4090, GT_1030, seen=(RTX_4090,)), refusals=refusals(SMALL_REFUSED)
    )

    problem = only(examined)

    assert problem.code == "gpu_with_too_few_multiprocessors"
    assert problem.severity is Severity.HINT  # a run takes it: it sets a variable of its own
    assert problem.hint.startswith("Runs of gpupanel take what was chosen nevertheless.")
    assert GT_1030.name in problem.message
    assert "3 multiprocessors" in problem.message
    assert "the 8" in problem.message
    assert problem.command == "export TF_MIN_GPU_MULTIPROCESSOR_COUNT=3"
    assert "Ignoring visible gpu device" in problem.detail


@pytest.mark.parametrize(
    ("shown", "seen", "setting", "expected"),
    [
        # Eight at least, but never more than the largest GPU has.
        ((RTX_4090, GT_1030), (RTX_4090,), None, [None, Unseen.TOO_FEW_MULTIPROCESSORS]),
        ((GT_1030,), (), None, [Unseen.UNKNOWN, Unseen.UNKNOWN]),
        ((RTX_4090, GT_1030), (), "200", [Unseen.TOO_FEW_MULTIPROCESSORS] * 2),
        ((RTX_4090, GT_1030), (RTX_4090,), "2", [None, Unseen.UNKNOWN]),
        ((RTX_4090, GT_1030), (RTX_4090,), "many", [None, Unseen.TOO_FEW_MULTIPROCESSORS]),
    ],
)
def test_that_too_few_multiprocessors_are_reckoned_as_tensorflow_does(
    shown: tuple[PhysicalDevice, ...],
    seen: tuple[PhysicalDevice, ...],
    setting: str | None,
    expected: list[Unseen | None],
) -> None:
    examined = replace(_machine(*shown, seen=seen), least_multiprocessors=setting)

    assert _why_not(examined) == expected


def test_that_a_setting_that_asks_for_many_multiprocessors_is_to_be_unset() -> None:
    examined = replace(_machine(RTX_4090, GT_1030, seen=()), least_multiprocessors="200")

    problem = only(examined)

    assert "TF_MIN_GPU_MULTIPROCESSOR_COUNT is 200" in problem.hint
    assert problem.command == "unset TF_MIN_GPU_MULTIPROCESSOR_COUNT"
    assert "the 200" in problem.message


def test_that_a_gpu_older_than_the_build_is_reported_also_when_tensorflow_lists_it() -> None:
    old = RTX_4090.model_copy(update={"name": "Tesla M40", "compute_capability": (5, 2)})
    machine = with_driver(WELL, gpus=(old,))

    problem = only(with_tensorflow(machine, gpus=listed(old)))

    assert (problem.code, problem.severity) == ("gpu_too_old_for_tensorflow", Severity.WARNING)
    assert "5.2" in problem.message
    assert "6.0" in problem.message


def test_that_a_gpu_that_tensorflow_passes_over_as_too_old_is_reported_once() -> None:
    old = RTX_4090.model_copy(update={"name": "Tesla K20", "compute_capability": (3, 0)})
    log = (
        "Ignoring visible gpu device (device: 0, name: Tesla K20, pci bus id: 0000:01:00.0, "
        "compute capability: 3.0) with Cuda compute capability 3.0. The minimum required Cuda "
        "capability is 3.5."
    )
    machine = replace(with_driver(WELL, gpus=(old,)), refusals=refusals(log))
    examined = with_tensorflow(machine, gpus=())

    assert _why_not(examined) == [Unseen.TOO_OLD]
    assert told(examined) == [("gpu_too_old_for_tensorflow", Severity.WARNING)]
    unknown_build = with_tensorflow(examined, compute_capabilities=())
    assert told(unknown_build) == [("gpu_too_old_for_tensorflow", Severity.WARNING)]


def test_that_a_gpu_newer_than_a_build_without_ptx_asks_for_a_newer_tensorflow() -> None:
    problem = only(with_tensorflow(WELL, compute_capabilities=("sm_60", "sm_70")))

    assert problem.code == "gpu_too_new_for_tensorflow"
    assert problem.command.endswith("install --upgrade 'tensorflow[and-cuda]'")


def test_that_kernels_that_are_compiled_first_are_a_hint() -> None:
    assert told(with_tensorflow(WELL, compute_capabilities=("sm_60", "compute_60"))) == [
        ("kernels_compiled_at_start", Severity.HINT)
    ]


def test_that_another_refusal_is_reported_in_tensorflows_words() -> None:
    log = (
        "Ignoring visible gpu device (device: 0, name: X, pci bus id: 0000:01:00.0) whose executor "
        "is in invalid state: INTERNAL: out of luck"
    )
    examined = replace(with_tensorflow(WELL, gpus=()), refusals=refusals(log))

    problem = only(examined)

    assert (problem.code, problem.severity) == ("gpu_refused_by_tensorflow", Severity.ERROR)
    assert "out of luck" in problem.detail


def test_that_a_gpu_in_mig_mode_without_instances_is_reported() -> None:
    examined = with_tensorflow(with_driver(WELL, gpus=(A100,)), gpus=(), cuda=CudaFacts())

    problem = only(examined)

    assert problem.code == "gpu_partitioned_without_instances"
    assert problem.command == "sudo nvidia-smi -i 00000000:01:00.0 -mig 0"


def test_that_one_instance_of_several_is_all_that_a_process_sees() -> None:
    cuda = CudaFacts(devices=(cuda_device(INSTANCES[0], 42),))
    machine = with_driver(WELL, gpus=(A100, *INSTANCES))
    examined = with_tensorflow(machine, gpus=listed(INSTANCES[0]), cuda=cuda)

    assert _why_not(examined) == [Unseen.PARTITIONED, None, Unseen.ANOTHER_INSTANCE]
    assert told(examined) == [("one_mig_instance_a_process", Severity.HINT)]


def test_that_gpus_unseen_for_no_known_reason_come_with_tensorflows_log() -> None:
    problem = only(with_tensorflow(WELL, gpus=()))

    assert (problem.code, problem.severity) == ("gpus_not_seen_by_tensorflow", Severity.ERROR)
    assert RTX_4090.name in problem.message
    assert problem.detail == "the log"


def test_that_equal_gpus_are_distinguished_by_what_cuda_shows() -> None:
    machine = with_driver(WELL, gpus=(RTX_4090, TWIN))
    cuda = CudaFacts(devices=(cuda_device(TWIN),))
    examined = replace(with_tensorflow(machine, cuda=cuda), visible_devices="1")

    assert _why_not(examined) == [Unseen.HIDDEN, None]


def test_that_of_equal_gpus_the_one_that_is_passed_over_is_reported() -> None:
    log = (
        "Ignoring visible gpu device (device: 0, name: NVIDIA GeForce RTX 4090, pci bus id: "
        "0000:01:00.0, compute capability: 8.9) whose executor is in invalid state: INTERNAL"
    )
    machine = replace(with_driver(WELL, gpus=(RTX_4090, TWIN)), refusals=refusals(log))
    cuda = CudaFacts(devices=(cuda_device(RTX_4090), cuda_device(TWIN)))

    assert _why_not(with_tensorflow(machine, cuda=cuda)) == [Unseen.REFUSED, None]


def test_that_a_gpu_is_found_by_its_place_where_cuda_reports_no_uuid() -> None:
    nameless = cuda_device(RTX_4090).model_copy(update={"uuid": None})

    (visibility,) = visibilities(with_tensorflow(WELL, cuda=CudaFacts(devices=(nameless,))))

    assert visibility.is_seen
    assert visibility.multiprocessor_count == 128


def test_that_without_an_answer_of_tensorflow_nothing_is_said_of_single_gpus() -> None:
    (visibility,) = visibilities(replace(WELL, tensorflow=None))

    assert visibility.is_seen is None
    assert visibility.why_not is None


def test_that_tensorflows_refusals_are_read_once_each() -> None:
    (refusal,) = refusals(f"noise\n{SMALL_REFUSED}\n{SMALL_REFUSED}\nmore noise")

    assert refusal.pci_bus_id == "0000:0a:00.0"
    assert (refusal.multiprocessors, refusal.least_multiprocessors) == (3, 8)


def test_that_the_words_of_older_tensorflows_are_known_too() -> None:
    older = (
        "Ignoring visible gpu device (device: 1, name: Quadro K4000, pci bus id: 0000:08:00.0, "
        "compute capability: 3.0) with Cuda multiprocessor count: 4. The minimum required count is "
        "8. You can adjust this requirement with the env var TF_MIN_GPU_MULTIPROCESSOR_COUNT."
    )

    (refusal,) = refusals(older)

    assert (refusal.multiprocessors, refusal.least_multiprocessors) == (4, 8)

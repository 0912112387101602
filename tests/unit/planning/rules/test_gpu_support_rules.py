"""What TensorFlow answered about the GPUs, as problems of a session."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.gpu_support import GpuFault, GpuSupport
from gpupanel.domain.memory import LimitedMemory, MemoryPolicy, SplitMemory
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import Preparation, prepare
from tests.fakes.devices import CPU, RTX_3060, RTX_4090, TWO_UNEQUAL

LIBRARIES = Problem(
    code="cuda_libraries_missing",
    message="TensorFlow does not find libcudnn.so.9.",
    hint="Install NVIDIA's packages.",
    command="pip install it",
    detail="libcudnn.so.9: not found",
)
BOTH = ("GPU-4090", "GPU-3060")
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)


def faulty(*keys: str) -> GpuSupport:
    return GpuSupport(faults=(GpuFault(keys=keys, problem=LIBRARIES),))


def profile_on(
    *keys: str, strategy: StrategySettings = MIRRORED, **memory: MemoryPolicy
) -> Profile:
    policies = {key.replace("_", "-"): policy for key, policy in memory.items()}
    return Profile(devices=DeviceSettings(visible=keys), strategy=strategy, memory=policies)


def prepared(profile: Profile, support: GpuSupport | None) -> Preparation:
    return prepare(profile, TWO_UNEQUAL, Known(support=support))


def the_problem(profile: Profile, support: GpuSupport) -> Problem:
    (problem,) = (
        each for each in prepared(profile, support).problems if each.code.startswith("gpu_")
    )
    return problem


def test_that_nothing_is_said_while_nobody_asked_or_where_all_is_well() -> None:
    for support in (None, GpuSupport()):
        assert prepared(profile_on(*BOTH), support).problems == ()


def test_that_gpus_that_cannot_be_used_keep_it_from_starting_and_the_command_is_reported() -> None:
    problem = the_problem(profile_on(*BOTH), faulty(*BOTH))

    assert problem.code == "gpu_not_usable"
    assert problem.is_error
    assert problem.field == "devices.visible"
    assert problem.message == (
        "TensorFlow cannot use RTX 4090, RTX 3060: TensorFlow does not find libcudnn.so.9."
    )
    assert problem.command == "pip install it"
    assert problem.hint == "Install NVIDIA's packages."
    assert problem.detail == "cuda_libraries_missing\nlibcudnn.so.9: not found"
    assert problem.fix is not None
    assert problem.fix.label == "Train on the CPU"
    assert not prepared(profile_on(*BOTH), faulty(*BOTH)).is_startable


NO_NCCL = GpuSupport(
    without_nccl=Problem(
        code="optional_cuda_libraries_missing",
        message="TensorFlow does not find libnccl.so.2.",
        command="pip install it",
        detail="libnccl.so.2: not found",
    )
)
THREE = TWO_UNEQUAL.model_copy(
    update={"devices": (RTX_4090, RTX_3060, RTX_4090.model_copy(update={"key": "GPU-third"}), CPU)}
)


@pytest.mark.parametrize(
    ("keys", "way", "words"),
    [
        (BOTH, AllReduce.HIERARCHICAL_COPY, "hierarchical copy"),
        ((*BOTH, "GPU-third"), AllReduce.REDUCTION_TO_ONE_DEVICE, "reduction to one device"),
    ],
)
def test_that_without_nccl_replicas_of_one_process_sum_in_another_way_and_it_is_said(
    keys: tuple[str, ...], way: AllReduce, words: str
) -> None:
    preparation = prepare(profile_on(*keys), THREE, Known(support=NO_NCCL))

    assert preparation.is_startable
    assert preparation.plan is not None
    assert preparation.plan.all_reduce is way
    (problem,) = preparation.problems
    assert (problem.code, problem.severity) == ("summed_without_nccl", Severity.HINT)
    assert problem.message == (
        f"TensorFlow does not find libnccl.so.2. Gradients are summed by {words} instead."
    )
    assert problem.command == "pip install it"


@pytest.mark.parametrize("kind", [StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER])
def test_that_nccl_by_name_is_refused_where_it_is_missing_with_its_command(
    kind: StrategyKind,
) -> None:
    profile = profile_on(*BOTH, strategy=StrategySettings(kind=kind, all_reduce=AllReduce.NCCL))
    assert prepared(profile, GpuSupport()).is_startable
    assert prepared(profile, None).is_startable

    (problem,) = prepared(profile, NO_NCCL).problems

    assert (problem.code, problem.is_error) == ("nccl_missing", True)
    assert "TensorFlow does not find libnccl.so.2." in problem.message
    assert (problem.command, problem.detail) == ("pip install it", "libnccl.so.2: not found")
    assert problem.fix is not None
    assert prepared(apply_fix(profile, problem.fix), NO_NCCL).is_startable


@pytest.mark.parametrize(
    ("profile", "way"),
    [
        (profile_on(*BOTH, strategy=StrategySettings(kind=kind)), AllReduce.AUTO)
        for kind in StrategyKind
        if kind is not StrategyKind.MIRRORED
    ]
    + [
        (Profile(task="predict", devices=DeviceSettings(visible=BOTH)), AllReduce.AUTO),
        (Profile(devices=DeviceSettings(visible=("cpu",), cpu_replicas=2)), AllReduce.AUTO),
        (profile_on("GPU-4090", "cpu"), AllReduce.AUTO),
        (
            profile_on(*BOTH, GPU_3060=SplitMemory(split_mib=(2048, 2048, 2048))),
            AllReduce.HIERARCHICAL_COPY,
        ),
        (
            profile_on(*BOTH, strategy=MIRRORED.model_copy(update={"shares": (64, 0)})),
            AllReduce.AUTO,
        ),
    ],
)
def test_that_nothing_is_said_of_nccl_where_nothing_is_summed_by_it(
    profile: Profile, way: AllReduce
) -> None:
    preparation = prepared(profile, NO_NCCL)

    assert preparation.plan is not None
    assert preparation.plan.all_reduce is way
    assert not [each for each in preparation.problems if "nccl" in each.code]


def test_that_a_gpu_that_was_not_chosen_is_no_problem() -> None:
    assert prepared(profile_on("GPU-4090"), faulty("GPU-3060")).is_startable
    assert prepared(profile_on("cpu"), faulty(*BOTH)).is_startable


def test_that_the_one_gpu_of_several_can_be_left_out() -> None:
    problem = the_problem(profile_on(*BOTH), faulty("GPU-3060"))

    assert problem.fix is not None
    assert problem.fix.label == "Leave RTX 3060 out"
    assert [fix.label for fix in problem.alternatives] == ["Train on the CPU"]
    mended = apply_fix(profile_on(*BOTH), problem.fix)
    assert mended.devices.visible == ("GPU-4090",)


def test_that_two_of_three_gpus_are_left_out_together() -> None:
    third = RTX_4090.model_copy(update={"key": "GPU-third"})
    inventory = DeviceInventory(devices=(RTX_4090, RTX_3060, third, CPU))
    profile = profile_on(*BOTH, "GPU-third")

    (problem,) = prepare(profile, inventory, Known(support=faulty(*BOTH))).problems

    assert problem.fix is not None
    assert problem.fix.label == "Leave them out"


@pytest.mark.parametrize(
    "profile",
    [
        profile_on("GPU-4090", strategy=StrategySettings()),
        profile_on(*BOTH),
        profile_on(*BOTH, strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16))),
        profile_on(
            *BOTH,
            strategy=StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=AllReduce.NCCL),
        ),
        profile_on(*BOTH, strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER)),
        profile_on(*BOTH, strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2)),
        profile_on(*BOTH, strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER)),
        profile_on(*BOTH, strategy=StrategySettings(kind=StrategyKind.MODEL_PARALLEL)),
        profile_on("GPU-4090", GPU_4090=SplitMemory(split_mib=(4096, 4096))),
        profile_on(*BOTH, default=LimitedMemory(limit_mib=4096)),
        profile_on(*BOTH, GPU_3060=LimitedMemory(limit_mib=4096)),
        Profile(task="train", strategy=MIRRORED),
    ],
    ids=lambda each: each.strategy.kind.value,
)
def test_that_training_on_the_cpu_instead_is_ready_without_another_problem(
    profile: Profile,
) -> None:
    before = prepared(profile, GpuSupport())
    problem = the_problem(profile, faulty(*BOTH))
    assert problem.fix is not None

    after = prepared(apply_fix(profile, problem.fix), faulty(*BOTH))

    assert after.is_startable, after.problems
    assert all(each.severity is Severity.HINT for each in after.problems)
    assert before.plan is not None
    assert after.plan is not None
    assert len(after.plan.replicas) == len(before.plan.replicas)
    assert [each.share for each in after.plan.replicas] == [
        each.share for each in before.plan.replicas
    ]


def test_that_other_tasks_use_the_cpu_too() -> None:
    problem = the_problem(Profile(task="evaluate"), faulty(*BOTH))
    assert problem.fix is not None
    assert problem.fix.label == "Use the CPU"


def test_that_what_is_not_known_is_a_warning() -> None:
    unanswered = Problem(code="tensorflow_import_timed_out", message="It did not answer.")

    problem = the_problem(profile_on(*BOTH), GpuSupport(unanswered=unanswered))

    assert problem.code == "gpu_support_unknown"
    assert problem.severity is Severity.WARNING
    assert "RTX 4090, RTX 3060 is not known: It did not answer." in problem.message


def test_that_a_build_without_cuda_is_reported_once_with_the_command() -> None:
    build = TensorFlowBuild(version="2.21.0")
    support = faulty(*BOTH).model_copy(update={"build": build})

    (problem,) = prepared(profile_on(*BOTH), support).problems

    assert problem.code == "tensorflow_without_cuda"
    assert problem.command == "pip install it"


def test_that_a_gpu_that_the_build_was_not_made_for_is_reported_once() -> None:
    build = TensorFlowBuild(
        version="2.21.0", is_cuda_build=True, compute_capabilities=("sm_89", "compute_90")
    )
    support = faulty("GPU-3060").model_copy(update={"build": build})

    (problem,) = prepared(profile_on(*BOTH), support).problems

    assert problem.code == "gpu_not_in_tensorflow_build"


def test_that_an_old_gpu_is_replaced_by_a_new_one_that_is_not_in_use() -> None:
    build = TensorFlowBuild(
        version="2.20",
        is_cuda_build=True,
        compute_capabilities=("sm_89", "compute_120"),
    )
    one = StrategySettings()
    profile = profile_on("GPU-3060", strategy=one, GPU_3060=LimitedMemory(limit_mib=4096))

    (problem,) = prepared(profile, GpuSupport(build=build)).problems

    assert problem.code == "gpu_not_in_tensorflow_build"
    assert problem.fix is not None
    assert problem.fix.label == "Use RTX 4090"
    assert [fix.label for fix in problem.alternatives] == ["Train on the CPU"]
    mended = apply_fix(profile, problem.fix)
    assert mended.devices.visible == ("GPU-4090",)
    assert mended.memory == {"GPU-4090": LimitedMemory(limit_mib=4096)}
    assert prepared(mended, GpuSupport(build=build)).is_startable


def test_that_a_gpu_with_another_fault_is_replaced_too_and_by_none_that_has_one() -> None:
    problem = the_problem(profile_on("GPU-3060"), faulty("GPU-3060"))
    assert problem.fix is not None
    assert problem.fix.label == "Use RTX 4090"
    neither = the_problem(profile_on("GPU-3060"), faulty(*BOTH))
    assert neither.fix is not None
    assert neither.fix.label == "Train on the CPU"


def test_that_gpus_with_different_faults_are_distinguished() -> None:
    other = LIBRARIES.model_copy(update={"message": "It is too old."})
    support = GpuSupport(
        faults=(
            GpuFault(keys=("GPU-4090",), problem=LIBRARIES),
            GpuFault(keys=("GPU-3060",), problem=other),
        )
    )

    problems = prepared(profile_on(*BOTH), support).problems

    assert [each.message for each in problems] == [
        "TensorFlow cannot use RTX 4090: TensorFlow does not find libcudnn.so.9.",
        "TensorFlow cannot use RTX 3060: It is too old.",
    ]
    assert support.fault_of("GPU-3060") is not None
    assert support.fault_of("cpu") is None

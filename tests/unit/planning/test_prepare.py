"""What would happen, rule by rule: each has its code, its field and, where offered, its fix."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.data import (
    DataSettings,
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    TableData,
    Target,
)
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import AllMemory, GrowingMemory, LimitedMemory, SplitMemory
from gpupanel.domain.model import CnnModel, MlpModel, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.domain.training import Loss, TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL, sample_with

MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
PLATEAU = ScheduleSettings(kind="reduce_on_plateau")


def profile_with(**parts: Any) -> Profile:
    return Profile(**{"strategy": MIRRORED, **parts})


def cpu_profile(replicas: int = 2, **parts: Any) -> Profile:
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=replicas)
    return profile_with(devices=devices, **parts)


def found(
    profile: Profile,
    code: str,
    inventory: DeviceInventory = TWO_UNEQUAL,
    sample: TelemetrySample | None = None,
    preview: DataPreview | None = None,
) -> Problem:
    """The one problem with that code; its fix, where it has one, makes it go away."""
    preparation = prepare(profile, inventory, Known(sample, preview=preview))
    (problem,) = (problem for problem in preparation.problems if problem.code == code)
    assert preparation.is_startable is not any(each.is_error for each in preparation.problems)
    if problem.fix is not None:
        mended = prepare(apply_fix(profile, problem.fix), inventory, Known(sample, preview=preview))
        assert code not in {each.code for each in mended.problems}
    return problem


def test_that_nothing_named_means_every_gpu() -> None:
    plan = prepare(profile_with(), TWO_UNEQUAL).plan
    assert plan is not None
    assert [device.key for device in plan.devices] == ["GPU-4090", "GPU-3060"]
    assert plan.environment == {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "GPU-4090,GPU-3060",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        "TF_GPU_ALLOCATOR": "",
        "TF_DEVICE_MIN_SYS_MEMORY_IN_MB": "",
        "TF_MIN_GPU_MULTIPROCESSOR_COUNT": "1",
    }
    assert [device.memory_growth for device in plan.devices] == [True, True]
    assert plan.shares == (32, 32)


def test_that_nothing_named_means_the_cpu_where_there_is_no_gpu() -> None:
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None
    assert [device.key for device in plan.devices] == ["cpu"]
    assert plan.environment == {"CUDA_VISIBLE_DEVICES": "-1"}
    assert plan.devices[0].logical_limits_mib == ()
    assert not plan.devices[0].memory_growth


def test_that_two_cpu_replicas_are_two_logical_devices_without_a_limit() -> None:
    preparation = prepare(cpu_profile(), CPU_ONLY)
    assert preparation.is_startable
    assert preparation.problems == ()
    assert preparation.plan is not None
    assert preparation.plan.devices[0].logical_limits_mib == (None, None)
    names = [replica.logical_device for replica in preparation.plan.replicas]
    assert names == ["/device:CPU:0", "/device:CPU:1"]


def test_that_devices_are_numbered_in_the_order_in_which_the_profile_names_them() -> None:
    devices = DeviceSettings(visible=("GPU-3060", "GPU-4090"))
    plan = prepare(profile_with(devices=devices), TWO_UNEQUAL).plan
    assert plan is not None
    assert plan.environment["CUDA_VISIBLE_DEVICES"] == "GPU-3060,GPU-4090"
    assert [replica.device_key for replica in plan.replicas] == ["GPU-3060", "GPU-4090"]


def test_that_one_device_takes_the_whole_batch_on_the_first() -> None:
    profile = Profile(devices=DeviceSettings(visible=("GPU-3060",)))
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    assert [(replica.device_key, replica.share) for replica in plan.replicas] == [("GPU-3060", 64)]


def test_that_the_devices_that_a_one_device_run_does_not_use_stay_hidden() -> None:
    plan = prepare(Profile(), TWO_UNEQUAL).plan
    assert plan is not None
    assert plan.environment["CUDA_VISIBLE_DEVICES"] == "GPU-4090"
    assert [device.key for device in plan.devices] == ["GPU-4090"]


def test_that_growth_and_allocator_of_the_persons_shell_do_not_overrule_the_plan() -> None:
    memory = {"default": LimitedMemory(limit_mib=1024)}
    plan = prepare(profile_with(memory=memory), TWO_UNEQUAL).plan
    assert plan is not None
    assert plan.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "false"
    assert plan.environment["TF_GPU_ALLOCATOR"] == ""


def lost(*keys: str) -> TelemetrySample:
    readings = tuple(DeviceReading(key=key, state=DeviceState.LOST) for key in keys)
    return TelemetrySample(time_s=0.0, readings=readings)


def test_that_a_lost_gpu_is_left_out_where_none_is_named() -> None:
    plan = prepare(profile_with(), TWO_UNEQUAL, Known(lost("GPU-4090"))).plan
    assert plan is not None
    assert [device.key for device in plan.devices] == ["GPU-3060"]


def test_that_the_cpu_is_not_meant_where_every_gpu_is_lost_and_none_is_named() -> None:
    problem = found(profile_with(), "device_lost", sample=lost("GPU-4090", "GPU-3060"))
    assert problem.is_error
    assert problem.fix is not None
    assert problem.fix.changes[0].value == ["cpu"]
    one = found(profile_with(), "device_lost", sample=lost("GPU-4090"))
    assert one.severity is Severity.WARNING
    assert "is left out" in one.message


@pytest.mark.parametrize(
    ("keys", "others"),
    [(("GPU-4090",), ["GPU-3060"]), (("GPU-4090", "GPU-3060"), ["cpu"])],
)
def test_that_a_named_gpu_that_is_lost_is_refused(keys: tuple[str, ...], others: list[str]) -> None:
    profile = profile_with(devices=DeviceSettings(visible=("GPU-4090", "GPU-3060")))
    problem = found(profile, "device_lost", sample=lost(*keys))
    assert problem.is_error
    assert "RTX 4090" in problem.message
    assert problem.fix is not None
    assert problem.fix.changes[0].value == others


def test_that_growth_beside_a_fixed_split_is_refused_and_the_split_kept_growing() -> None:
    memory = {
        "GPU-4090": SplitMemory(split_mib=(1024, 1024)),
        "GPU-3060": LimitedMemory(limit_mib=1024, growth=True),
    }
    profile = profile_with(memory=memory)
    fix = found(profile, "memory_limit_cancels_growth").fix
    assert fix is not None
    growing = SplitMemory(split_mib=(1024, 1024), growth=True)
    mended = apply_fix(profile, fix)
    assert mended.memory == {"GPU-4090": growing, "GPU-3060": memory["GPU-3060"]}
    fixed = profile_with(memory={"GPU-4090": growing, "GPU-3060": LimitedMemory(limit_mib=1024)})
    fix = found(fixed, "memory_limit_cancels_growth").fix
    assert fix is not None
    assert apply_fix(fixed, fix).memory == mended.memory


def test_that_a_split_gpu_grows_by_the_environment_beside_others_that_grow() -> None:
    """Seen on TensorFlow's own code: 388 MiB held of 1,024 + 2,048, the context among it."""
    memory = {"GPU-4090": SplitMemory(split_mib=(1024, 2048), growth=True)}
    preparation = prepare(profile_with(memory=memory), TWO_UNEQUAL)
    assert preparation.is_startable
    plan = preparation.plan
    assert plan is not None
    assert plan.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    assert plan.devices[0].logical_limits_mib == (1024, 2048)
    assert [device.memory_growth for device in plan.devices] == [False, False]


def test_that_a_split_gpu_becomes_several_replicas() -> None:
    memory = {"GPU-4090": SplitMemory(split_mib=(4096, 8192)), "GPU-3060": AllMemory()}
    plan = prepare(profile_with(memory=memory), TWO_UNEQUAL).plan
    assert plan is not None
    assert plan.devices[0].logical_limits_mib == (4096, 8192)
    assert [(replica.device_key, replica.logical_device) for replica in plan.replicas] == [
        ("GPU-4090", "/device:GPU:0"),
        ("GPU-4090", "/device:GPU:1"),
        ("GPU-3060", "/device:GPU:2"),
    ]
    # Of three replicas TensorFlow's hierarchical copy would lose the last.
    assert plan.all_reduce is AllReduce.REDUCTION_TO_ONE_DEVICE


def test_that_growth_up_to_a_limit_comes_from_the_environment_and_no_call() -> None:
    memory = {"GPU-4090": LimitedMemory(limit_mib=4096, growth=True)}
    preparation = prepare(profile_with(memory=memory), TWO_UNEQUAL)
    assert preparation.is_startable
    plan = preparation.plan
    assert plan is not None
    assert plan.environment["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    assert [device.memory_growth for device in plan.devices] == [False, False]
    assert [device.logical_limits_mib for device in plan.devices] == [(4096,), ()]


def test_that_growth_on_one_gpu_of_two_is_refused() -> None:
    problem = found(profile_with(memory={"GPU-4090": AllMemory()}), "memory_growth_differs")
    assert problem.is_error
    assert "RTX 3060" in problem.message


def test_that_the_fix_of_growth_keeps_a_limit() -> None:
    profile = profile_with(memory={"GPU-4090": LimitedMemory(limit_mib=4096)})
    fix = found(profile, "memory_limit_cancels_growth").fix
    assert fix is not None
    mended = apply_fix(profile, fix)
    assert mended.memory["GPU-4090"] == LimitedMemory(limit_mib=4096, growth=True)
    assert mended.memory["GPU-3060"] == GrowingMemory()


def test_that_a_limit_above_what_the_gpu_has_is_refused() -> None:
    profile = profile_with(
        devices=DeviceSettings(visible=("GPU-3060",)),
        memory={"GPU-3060": LimitedMemory(limit_mib=16_384)},
    )
    problem = found(profile, "memory_limit_above_total")
    assert problem.field == "memory.GPU-3060.limit_mib"


def test_that_a_split_above_what_is_free_now_is_warned_of() -> None:
    profile = profile_with(
        devices=DeviceSettings(visible=("GPU-3060",)),
        memory={"GPU-3060": SplitMemory(split_mib=(4096, 4096))},
    )
    problem = found(profile, "memory_limit_above_free", sample=sample_with(gpu_3060=6000))
    assert problem.severity is Severity.WARNING
    assert "6,288 MiB are free" in problem.message
    codes = {
        each.code
        for each in prepare(profile, TWO_UNEQUAL, Known(sample_with(gpu_3060=100))).problems
    }
    assert "memory_limit_above_free" not in codes


def test_that_a_gpu_that_reports_no_memory_is_not_evaluated() -> None:
    blind = RTX_3060.model_copy(update={"memory_total_mib": None})
    inventory = DeviceInventory(devices=(blind,))
    profile = profile_with(memory={"GPU-3060": LimitedMemory(limit_mib=16_384)})
    silent = TelemetrySample(time_s=0.0, readings=(DeviceReading(key="GPU-3060"),))
    for sample in (None, silent):
        codes = {problem.code for problem in prepare(profile, inventory, Known(sample)).problems}
        assert codes == {"single_replica"}


def test_that_a_memory_policy_for_the_cpu_is_refused() -> None:
    assert found(
        cpu_profile(memory={"cpu": AllMemory()}), "memory_policy_of_cpu", CPU_ONLY
    ).is_error


def test_that_a_policy_of_a_gpu_of_another_machine_is_a_hint() -> None:
    profile = profile_with(memory={"GPU-elsewhere": AllMemory()})
    assert found(profile, "memory_policy_of_absent_device").severity is Severity.HINT


def test_that_nccl_on_a_split_gpu_is_refused() -> None:
    profile = profile_with(
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=AllReduce.NCCL),
        memory={"GPU-4090": SplitMemory(split_mib=(1024, 1024)), "GPU-3060": AllMemory()},
    )
    assert found(profile, "nccl_with_split").is_error


def test_that_hierarchical_copy_over_an_odd_number_of_replicas_is_refused() -> None:
    # TensorFlow leaves the gradients of the last one out, without a word.
    chosen = StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=AllReduce.HIERARCHICAL_COPY)
    code = "hierarchical_copy_of_odd_replicas"
    assert found(cpu_profile(3, strategy=chosen), code, CPU_ONLY).is_error
    assert prepare(cpu_profile(2, strategy=chosen), CPU_ONLY).problems == ()
    idle = chosen.model_copy(update={"shares": (30, 30, 4, 0)})
    assert found(cpu_profile(4, strategy=idle), code, CPU_ONLY).is_error


def test_that_an_even_number_of_split_gpus_is_summed_over_by_hierarchical_copy() -> None:
    split = SplitMemory(split_mib=(1024, 1024))
    profile = profile_with(strategy=MIRRORED, memory={"GPU-4090": split, "GPU-3060": split})
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    assert plan.all_reduce is AllReduce.HIERARCHICAL_COPY


@pytest.mark.parametrize("all_reduce", [AllReduce.HIERARCHICAL_COPY, AllReduce.NCCL])
@pytest.mark.parametrize(
    ("replicas", "changes"),
    [
        (1, {"kind": StrategyKind.MIRRORED}),
        (2, {"kind": StrategyKind.MIRRORED, "shares": (64, 0)}),
        (2, {"kind": StrategyKind.ONE_DEVICE}),
        (2, {"kind": StrategyKind.CENTRAL_STORAGE}),
        (2, {"kind": StrategyKind.PARAMETER_SERVER}),
        (2, {"kind": StrategyKind.MODEL_PARALLEL}),
        (1, {"kind": StrategyKind.MULTI_WORKER, "workers": 1}),
    ],
)
def test_that_a_way_to_sum_where_nothing_is_summed_is_a_hint_as_other_unused_values_are(
    all_reduce: AllReduce, replicas: int, changes: dict[str, Any]
) -> None:
    strategy = StrategySettings(all_reduce=all_reduce, **changes)
    profile = cpu_profile(replicas, strategy=strategy)
    preparation = prepare(profile, CPU_ONLY)
    assert found(profile, "all_reduce_unused", CPU_ONLY).severity is Severity.HINT
    assert preparation.is_startable
    assert preparation.plan is not None
    assert preparation.plan.all_reduce is AllReduce.AUTO


def test_that_how_to_sum_matters_to_nothing_but_training() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=AllReduce.NCCL)
    profile = cpu_profile(2, strategy=strategy, task="evaluate")
    assert found(profile, "all_reduce_unused", CPU_ONLY).severity is Severity.HINT


def test_that_a_split_gpu_whose_second_part_has_no_share_may_name_nccl() -> None:
    profile = profile_with(
        devices=DeviceSettings(visible=("GPU-4090",)),
        strategy=StrategySettings(
            kind=StrategyKind.MIRRORED, all_reduce=AllReduce.NCCL, shares=(64, 0)
        ),
        memory={"GPU-4090": SplitMemory(split_mib=(1024, 1024))},
    )
    assert prepare(profile, TWO_UNEQUAL).is_startable


def test_that_nccl_on_the_cpu_is_refused() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, all_reduce=AllReduce.NCCL)
    assert found(cpu_profile(strategy=strategy), "nccl_without_gpus", CPU_ONLY).is_error


def test_that_cpu_and_gpu_together_are_refused() -> None:
    profile = profile_with(devices=DeviceSettings(visible=("cpu", "GPU-4090")))
    problem = found(profile, "devices_mixed")
    assert problem.is_error
    assert problem.fix is not None
    assert apply_fix(profile, problem.fix).devices.visible == ("GPU-4090",)
    (cpu,) = problem.alternatives
    assert cpu.label == "Train on the CPU"
    assert apply_fix(profile, cpu).devices.visible == ("cpu",)


def test_that_a_lost_gpu_beside_others_can_be_left_for_them_or_for_the_cpu() -> None:
    profile = profile_with(devices=DeviceSettings(visible=("GPU-4090", "GPU-3060")))
    problem = found(profile, "device_lost", sample=lost("GPU-4090"))
    assert problem.fix is not None
    assert problem.fix.label == "Use the others"
    assert [fix.label for fix in problem.alternatives] == ["Train on the CPU"]
    beside = profile_with(devices=DeviceSettings(visible=("GPU-4090", "cpu")))
    assert found(beside, "device_lost", sample=lost("GPU-4090")).alternatives == ()


def test_that_idle_devices_of_a_one_device_run_are_reported() -> None:
    assert found(Profile(), "devices_unused").severity is Severity.WARNING


def test_that_shares_of_a_one_device_run_are_reported_to_mean_nothing() -> None:
    profile = Profile(strategy=StrategySettings(shares=(32, 32)))
    assert found(profile, "shares_unused").severity is Severity.HINT


def test_that_a_mirrored_run_on_one_device_is_reported() -> None:
    profile = profile_with(devices=DeviceSettings(visible=("GPU-4090",)))
    assert found(profile, "single_replica").severity is Severity.HINT


@pytest.mark.parametrize(
    ("shares", "better"), [((48, 8), [55, 9]), ((64,), [32, 32]), ((20, 20, 24), [32, 32])]
)
def test_that_shares_that_do_not_fit_are_refused_and_better_ones_offered(
    shares: tuple[int, ...], better: list[int]
) -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=shares)
    profile = cpu_profile(strategy=strategy)
    problem = found(profile, "shares_do_not_fit", CPU_ONLY)
    assert prepare(profile, CPU_ONLY).plan is None
    assert problem.fix is not None
    assert problem.fix.changes[0].value == better


def test_that_a_gpu_that_is_split_keeps_its_part_of_the_batch() -> None:
    profile = profile_with(
        devices=DeviceSettings(visible=("GPU-4090", "GPU-3060")),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(48, 16)),
        memory={
            "GPU-4090": SplitMemory(split_mib=(1_024, 2_048)),
            "GPU-3060": LimitedMemory(limit_mib=1_024),
        },
    )
    problem = found(profile, "shares_do_not_fit")
    assert problem.fix is not None
    assert problem.fix.label == "Use 24 + 24 + 16"


def test_that_given_shares_that_fit_are_taken() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(60, 4))
    preparation = prepare(cpu_profile(strategy=strategy), CPU_ONLY)
    assert preparation.problems == ()
    assert preparation.plan is not None
    assert preparation.plan.shares == (60, 4)


def test_that_a_replica_without_a_share_is_warned_of() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(64, 0))
    problem = found(cpu_profile(strategy=strategy), "replica_without_share", CPU_ONLY)
    assert problem.severity is Severity.WARNING
    name = CPU_ONLY.devices[0].name
    assert problem.message.startswith(f"Replica 1 \N{MIDDLE DOT} {name} has a share of 0")


def test_that_workers_without_a_share_are_said_to_take_an_example_or_the_whole_batch() -> None:
    kind = StrategyKind.MULTI_WORKER
    for strategy, batch, code, words in (
        (
            StrategySettings(kind=kind, workers=2, shares=(64, 0)),
            64,
            "replica_without_share",
            "it still takes at least one example of each",
        ),
        (
            StrategySettings(kind=kind, workers=2),
            1,
            "batch_smaller_than_replicas",
            "every worker computes the whole batch",
        ),
    ):
        training = TrainingSettings(global_batch_size=batch)
        problem = found(cpu_profile(1, strategy=strategy, training=training), code, CPU_ONLY)
        assert words in problem.message
        assert "wait" not in problem.message


def test_that_xla_compiles_statistics_where_one_replica_works() -> None:
    parts = {
        "model": MlpModel(batch_norm=True),
        "training": TrainingSettings(jit_compile=True, global_batch_size=64),
    }
    for shares, startable in (((64, 0), True), ((63, 1), False)):
        strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=shares)
        profile = cpu_profile(2, strategy=strategy, **parts)
        assert prepare(profile, CPU_ONLY).is_startable is startable


def test_that_a_batch_smaller_than_the_replicas_leaves_some_without_a_share() -> None:
    training = TrainingSettings(global_batch_size=2)
    profile = cpu_profile(4, training=training)
    problem = found(profile, "batch_smaller_than_replicas", CPU_ONLY)
    assert problem.severity is Severity.WARNING
    assert "2 of them will only wait" in problem.message
    preparation = prepare(profile, CPU_ONLY)
    assert preparation.is_startable
    assert preparation.plan is not None
    assert preparation.plan.shares == (1, 1, 0, 0)
    assert problem.field == "training.global_batch_size"
    given = StrategySettings(kind=StrategyKind.MIRRORED, shares=(1, 0))
    one = TrainingSettings(global_batch_size=1)
    assert prepare(cpu_profile(strategy=given, training=one), CPU_ONLY).is_startable


def test_that_more_accumulation_steps_than_a_share_has_examples_are_refused() -> None:
    training = TrainingSettings(global_batch_size=8, accumulation_steps=5)
    assert found(cpu_profile(training=training), "accumulation_above_share", CPU_ONLY).is_error


@pytest.mark.parametrize("data", [NpzData(path=""), ImagesData(path="")])
def test_that_data_without_a_path_is_refused(data: NpzData | ImagesData) -> None:
    problem = found(cpu_profile(data=data), "data_path_missing", CPU_ONLY)
    assert problem.field == "data.path"


def test_that_data_with_a_path_is_taken() -> None:
    assert prepare(cpu_profile(data=NpzData(path="x.npz")), CPU_ONLY).is_startable


def test_that_convolutions_over_what_is_no_image_are_refused() -> None:
    profile = cpu_profile(data=KerasData(source="imdb"), model=CnnModel())
    assert found(profile, "model_needs_pictures", CPU_ONLY).is_error
    images = cpu_profile(data=KerasData(source="mnist"), model=CnnModel())
    assert prepare(images, CPU_ONLY).problems == ()


def seen(*shape: int, examples: int = 1000) -> DataPreview:
    return DataPreview(example_count=examples, feature_shape=shape)


def codes(profile: Profile, preview: DataPreview | None) -> list[str]:
    return [problem.code for problem in prepare(profile, CPU_ONLY, Known(preview=preview)).problems]


def test_that_what_the_preview_found_is_reported_with_the_rest() -> None:
    reported = Problem(code="data_file_missing", field="data.path", message="It is gone.")
    preview = DataPreview(problems=(reported,))
    preparation = prepare(cpu_profile(data=NpzData(path="x.npz")), CPU_ONLY, Known(preview=preview))
    assert preparation.problems == (reported,)
    assert not preparation.is_startable
    assert codes(cpu_profile(data=NpzData(path="")), preview) == ["data_path_missing"]


def test_that_a_network_too_deep_for_its_images_is_refused_and_a_shallower_one_offered() -> None:
    profile = cpu_profile(model=CnnModel(filters=(8, 16, 32, 64)))
    assert codes(profile, DataPreview()) == []
    (problem,) = prepare(profile, CPU_ONLY, Known(preview=seen(8, 8))).problems
    assert problem.code == "model_pictures_too_small"
    assert problem.fix is not None
    mended = apply_fix(profile, problem.fix)
    assert mended.model == CnnModel(filters=(8, 16, 32))
    assert codes(mended, seen(8, 8)) == []


@pytest.mark.parametrize("shape", [(64,), (1, 9), (2, 2, 2, 2)])
def test_that_convolutions_over_rows_of_numbers_are_refused(shape: tuple[int, ...]) -> None:
    profile = cpu_profile(model=CnnModel(), data=NpzData(path="x.npz"))
    assert codes(profile, seen(*shape)) == ["model_needs_pictures"]
    assert codes(cpu_profile(data=NpzData(path="x.npz")), seen(*shape)) == []


def test_that_a_batch_above_the_examples_is_warned_of() -> None:
    held_back = cpu_profile(data=DigitsData(validation_fraction=0.5))
    assert codes(held_back, seen(8, 8, examples=128)) == []
    assert codes(held_back, seen(8, 8, examples=127)) == ["batch_above_examples"]


def test_that_the_last_images_of_a_folder_by_class_are_not_held_out() -> None:
    last = {"validation_fraction": 0.2, "holdout": "last"}
    problem = found(cpu_profile(data=ImagesData(path="/i", **last)), "last_classes_held_out")
    assert problem.is_error
    assert "images are sorted by class" in problem.message
    for data in (DigitsData(**last), ImagesData(path="/i", holdout="last")):
        assert codes(cpu_profile(data=data), None) == []


def test_that_a_fraction_beside_a_validation_set_is_reported_to_be_unused() -> None:
    data = ImagesData(path="/i", validation_path="/v", validation_fraction=0.2, stratify=True)
    problem = found(cpu_profile(data=data), "validation_fraction_unused")
    assert problem.severity is Severity.HINT
    assert codes(cpu_profile(data=data), None) == ["stratify_unused", "validation_fraction_unused"]
    assert codes(cpu_profile(data=data), seen(32, 32, 3, examples=64)) == [
        "stratify_unused",
        "validation_fraction_unused",
    ]


def test_that_a_validation_set_that_was_found_validates_as_a_chosen_one() -> None:
    data = ImagesData(path="/i", validation_fraction=0.9, stratify=True, holdout="last")
    preview = seen(32, 32, 3, examples=64).model_copy(update={"validation_example_count": 3})
    assert (
        "found in data.path validates"
        in found(cpu_profile(data=data), "validation_fraction_unused", preview=preview).message
    )
    assert codes(cpu_profile(data=data), preview) == [
        "stratify_unused",
        "validation_fraction_unused",
    ]
    patient = cpu_profile(
        data=ImagesData(path="/i"), training=TrainingSettings(early_stopping_patience=2)
    )
    assert codes(patient, preview) == []
    assert codes(patient, seen(32, 32, 3, examples=64)) != []


def test_that_what_is_odd_about_data_does_not_make_it_unknown() -> None:
    note = Problem(code="odd", severity=Severity.HINT, message="Odd.")
    preview = seen(32, 32, 3, examples=5).model_copy(update={"problems": (note,)})
    profile = cpu_profile(data=ImagesData(path="/i"))
    assert codes(profile, preview) == ["batch_above_examples", "odd"]


def test_that_predicting_needs_no_labels_of_images() -> None:
    missing = Problem(code="data_labels_missing", field="data.labels_csv", message="None.")
    for task, wanted in (("predict", 0), ("evaluate", 1), ("train", 1)):
        profile = cpu_profile(data=ImagesData(path="/i"), task=task)
        shown = [
            code for code in codes(profile, DataPreview(problems=(missing,))) if "data" in code
        ]
        assert len(shown) == wanted


def test_that_what_is_trained_on_neither_validates_nor_tests() -> None:
    for key in ("validation_path", "test_path"):
        data = ImagesData(path="/i", **{key: "/a/../i/"})
        problem = found(cpu_profile(data=data), "data_sets_alike")
        assert (problem.is_error, problem.field) == (True, f"data.{key}")
        assert f"data.{key} and data.path are the same folder of images" in problem.message
    both = ImagesData(path="/i", validation_path="/v", test_path="/v")
    assert found(cpu_profile(data=both), "data_sets_alike").field == "data.test_path"
    assert codes(cpu_profile(data=ImagesData(path="", test_path="/t")), None) == [
        "data_path_missing"
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (KerasData(source="boston_housing", validation_fraction=0.2), "the labels are not classes"),
        (
            PythonData(path="/a.py", predicts=Target.LABELS, validation_fraction=0.2),
            "are not classes",
        ),
        (DigitsData(validation_fraction=0.2, holdout="last"), "The last examples"),
        (DigitsData(), "No examples are held out at random"),
        (DigitsData(validation_fraction=0.0), "No examples are held out at random"),
        (TableData(path="x.csv", validation_fraction=0.2, group="patient"), "Groups are held out"),
    ],
)
def test_that_classes_in_proportion_are_reported_where_they_mean_nothing(
    data: DataSettings, words: str
) -> None:
    profile = cpu_profile(data=data.model_copy(update={"stratify": True}))
    problem = found(profile, "stratify_unused")
    assert (problem.severity, problem.field) == (Severity.HINT, "data.stratify")
    assert words in problem.message


def test_that_only_classes_can_be_weighted() -> None:
    weighted = {"class_weights": "balanced"}
    values = cpu_profile(data=KerasData(source="boston_housing", **weighted))
    problem = found(values, "class_weights_without_classes")
    assert problem.fix is not None
    assert problem.severity is Severity.ERROR
    assert codes(apply_fix(values, problem.fix), None) == []
    assert codes(cpu_profile(data=DigitsData(**weighted)), None) == []
    drawn = NpzData(path="x.npz", **weighted)
    of_values = seen(8, 8, examples=128).model_copy(update={"target": Target.VALUES})
    assert codes(cpu_profile(data=drawn), of_values) == ["class_weights_without_classes"]


def test_that_only_classes_that_there_are_can_be_weighted() -> None:
    counts = (("cat", 64), ("dog", 64))
    shown = seen(8, 8, examples=128).model_copy(update={"class_counts": counts})
    weights = {"cat": 2.0, "frog": 3.0}
    profile = cpu_profile(data=DigitsData(class_weights=weights))
    assert codes(profile, None) == []
    problem = found(profile, "class_weights_unknown_class", preview=shown)
    assert "'frog'" in problem.message
    assert problem.fix is not None
    mended = apply_fix(profile, problem.fix)
    assert mended.data.class_weights == {"cat": 2.0}
    assert codes(mended, shown) == []
    none_there = cpu_profile(data=DigitsData(class_weights={"frog": 3.0}))
    problem = found(none_there, "class_weights_unknown_class", preview=shown)
    assert problem.fix is not None
    assert apply_fix(none_there, problem.fix).data.class_weights == "none"


def test_that_only_examples_of_classes_are_repeated_and_none_counts_twice_over() -> None:
    repeated = {"oversample": True}
    values = cpu_profile(data=KerasData(source="boston_housing", **repeated))
    problem = found(values, "oversample_without_classes")
    assert problem.fix is not None
    assert codes(apply_fix(values, problem.fix), None) == []
    assert codes(cpu_profile(data=DigitsData(**repeated)), None) == []
    twice = cpu_profile(data=DigitsData(**repeated, class_weights="balanced"))
    hint = found(twice, "oversample_with_class_weights")
    assert hint.severity is Severity.HINT


def test_that_the_labels_that_were_found_say_whether_there_are_classes() -> None:
    drawn = NpzData(path="x.npz", validation_fraction=0.2, stratify=True)
    values = seen(8, 8, examples=128).model_copy(update={"target": Target.VALUES})
    assert codes(cpu_profile(data=drawn), seen(8, 8, examples=128)) == []
    assert codes(cpu_profile(data=drawn), values) == ["stratify_unused"]


def test_that_accumulation_with_batch_normalisation_is_reported_not_to_be_the_same() -> None:
    training = TrainingSettings(accumulation_steps=2)
    profile = cpu_profile(training=training, model=MlpModel(batch_norm=True))
    assert found(profile, "accumulation_with_batch_norm", CPU_ONLY).severity is Severity.HINT
    assert prepare(cpu_profile(training=training), CPU_ONLY).problems == ()


@pytest.mark.parametrize(
    ("after", "words"),
    [((), "No layer is named"), (("dense_1", "conv_7"), "The mlp has no layer conv_7, after")],
)
def test_that_blocks_that_end_after_no_layer_are_refused(
    after: tuple[str, ...], words: str
) -> None:
    training = TrainingSettings(recompute=after)
    problem = found(cpu_profile(training=training), "recompute_without_blocks", CPU_ONLY)
    assert problem.is_error
    assert words in problem.message
    for blocks in ("blocks", ["dense_1"]):
        profile = cpu_profile(training=TrainingSettings(recompute=blocks))
        assert prepare(profile, CPU_ONLY).problems == ()
    # Of others the names are known when they are built.
    saved = cpu_profile(training=TrainingSettings(recompute=("any",)), model=SavedModel(path="/m"))
    assert "recompute_without_blocks" not in [
        each.code for each in prepare(saved, CPU_ONLY).problems
    ]


def test_that_mixed_precision_on_the_cpu_is_warned_of() -> None:
    profile = cpu_profile(training=TrainingSettings(mixed_precision=True))
    assert found(profile, "mixed_precision_on_cpu", CPU_ONLY).severity is Severity.WARNING


def beside_older(capability: tuple[int, int] | None) -> DeviceInventory:
    old = RTX_3060.model_copy(update={"compute_capability": capability, "name": "RTX 2060"})
    return DeviceInventory(devices=(RTX_4090, old))


@pytest.mark.parametrize(
    ("capability", "half", "code"),
    [
        ((8, 6), "bfloat16", None),
        (None, "bfloat16", None),
        ((7, 5), "float16", "mixed_precision_in_float16"),
        ((6, 1), "float16", "mixed_precision_without_tensor_cores"),
    ],
)
def test_that_mixed_precision_computes_in_what_all_gpus_have(
    capability: tuple[int, int] | None, half: str, code: str | None
) -> None:
    profile = profile_with(training=TrainingSettings(mixed_precision=True))
    prepared = prepare(profile, beside_older(capability))
    assert prepared.plan is not None
    assert prepared.plan.half_precision.value == half
    assert [each.code for each in prepared.problems] == ([] if code is None else [code])


def test_that_bfloat16_on_a_gpu_too_old_for_it_is_refused() -> None:
    chosen = TrainingSettings(mixed_precision=True, half_precision="bfloat16")
    profile = profile_with(training=chosen)
    problem = found(profile, "mixed_precision_not_supported", beside_older((7, 5)))
    assert "RTX 2060" in problem.message
    assert problem.fix is not None
    mended = apply_fix(profile, problem.fix)
    left = prepare(mended, beside_older((7, 5))).problems
    assert [each.code for each in left] == ["mixed_precision_in_float16"]
    assert prepare(profile, TWO_UNEQUAL).problems == ()


def test_that_float16_that_is_chosen_is_no_news_and_refused_with_parameter_servers() -> None:
    training = TrainingSettings(mixed_precision=True, half_precision="float16")
    assert prepare(profile_with(training=training), TWO_UNEQUAL).problems == ()
    serving = StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=2)
    problem = found(
        cpu_profile(training=training, strategy=serving), "float16_with_parameter_server", CPU_ONLY
    )
    assert problem.severity is Severity.ERROR


def test_that_xla_over_synchronised_batch_normalisation_is_refused() -> None:
    parts = {
        "training": TrainingSettings(jit_compile=True),
        "model": MlpModel(batch_norm=True),
    }
    assert found(cpu_profile(**parts), "jit_compile_with_batch_norm", CPU_ONLY).is_error
    alone = cpu_profile(1, **{**parts, "strategy": StrategySettings()})
    assert prepare(alone, CPU_ONLY).problems == ()
    apart = {**parts, "model": MlpModel(batch_norm=True, batch_norm_synchronized=False)}
    assert prepare(cpu_profile(**apart), CPU_ONLY).problems == ()


def test_that_xla_takes_the_batch_normalisation_of_parameter_servers() -> None:
    # Each worker is one replica: its statistics are its own.
    profile = cpu_profile(
        1,
        training=TrainingSettings(jit_compile=True),
        model=MlpModel(batch_norm=True),
        strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER, workers=2),
    )
    codes = [problem.code for problem in prepare(profile, CPU_ONLY).problems]
    assert "jit_compile_with_batch_norm" not in codes


@pytest.mark.parametrize(
    ("optimizer", "settings"),
    [
        (Optimizer.ADAM, {"momentum": 0.9, "nesterov": True}),
        (Optimizer.SGD, {"beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3}),
        (Optimizer.LION, {"momentum": 0.9, "epsilon": 1e-3}),
    ],
)
def test_that_what_an_optimizer_does_not_take_is_reported(
    optimizer: Optimizer, settings: dict[str, object]
) -> None:
    profile = cpu_profile(training=TrainingSettings(optimizer=optimizer, **settings))
    reported = prepare(profile, CPU_ONLY).problems

    assert sorted(problem.code for problem in reported) == [
        f"{name}_unused" for name in sorted(settings)
    ]
    assert {problem.severity for problem in reported} == {Severity.HINT}
    for problem in reported:
        assert problem.fix is not None
        profile = apply_fix(profile, problem.fix)
    assert prepare(profile, CPU_ONLY).problems == ()


def test_that_what_an_optimizer_takes_is_no_problem() -> None:
    every = {"beta_1": 0.8, "beta_2": 0.9, "weight_decay": 0.1, "ema": 0.99}
    for training in (
        TrainingSettings(optimizer=Optimizer.SGD, momentum=0.9, nesterov=True, weight_decay=0.1),
        TrainingSettings(optimizer=Optimizer.RMSPROP, momentum=0.9, epsilon=1e-3),
        TrainingSettings(optimizer=Optimizer.LION, **every),
        TrainingSettings(optimizer=Optimizer.ADAMW, epsilon=1e-3, **every),
    ):
        assert prepare(cpu_profile(training=training), CPU_ONLY).problems == ()


@pytest.mark.parametrize(
    ("training", "field"),
    [
        (TrainingSettings(label_smoothing=0.1), "training.label_smoothing"),
        (TrainingSettings(loss=Loss.FOCAL, label_smoothing=0.1), "training.loss"),
    ],
)
def test_that_a_loss_of_classes_is_refused_where_values_are_predicted(
    training: TrainingSettings, field: str
) -> None:
    values = PythonData(path="/data/values.py", predicts=Target.VALUES)
    problem = found(cpu_profile(training=training, data=values), "loss_without_classes", CPU_ONLY)
    assert (problem.severity, problem.field) == (Severity.ERROR, field)
    assert prepare(cpu_profile(training=training), CPU_ONLY).problems == ()


def test_that_a_best_epoch_by_what_is_not_measured_is_refused_before_start() -> None:
    training = TrainingSettings(best_metric=BestMetric.ACCURACY)
    values = PythonData(path="/data/values.py", predicts=Target.VALUES, validation_fraction=0.2)
    unmeasured = cpu_profile(training=training, data=values)
    problem = found(unmeasured, "best_metric_not_measured", CPU_ONLY)
    assert (problem.severity, problem.field) == (Severity.ERROR, "training.best_metric")
    assert problem.fix is not None
    # Nothing decides where nothing is validated.
    unvalidated = values.model_copy(update={"validation_fraction": 0.0})
    for data, other in ((unvalidated, training), (values, TrainingSettings())):
        problems = prepare(cpu_profile(training=other, data=data), CPU_ONLY).problems
        assert "best_metric_not_measured" not in [each.code for each in problems]


def test_that_an_area_of_ten_classes_is_refused_as_soon_as_they_are_known() -> None:
    training = TrainingSettings(best_metric=BestMetric.AUC)
    profile = cpu_profile(training=training)
    ten = DataPreview(
        example_count=20, feature_shape=(8, 8), class_counts=tuple((f"{n}", 2) for n in range(10))
    )
    two = ten.model_copy(update={"class_counts": (("a", 10), ("b", 10))})
    codes = [
        [each.code for each in prepare(profile, CPU_ONLY, Known(preview=preview)).problems]
        for preview in (None, ten, two)
    ]
    assert ["best_metric_not_measured" in each for each in codes] == [False, True, False]


def test_that_a_best_epoch_that_is_asked_for_and_cannot_be_known_is_a_hint() -> None:
    unvalidated = DigitsData(validation_fraction=0.0)
    chosen = cpu_profile(data=unvalidated, training=TrainingSettings(keep=Keep.BEST))
    problem = found(chosen, "best_epoch_without_validation", CPU_ONLY)
    assert (problem.severity, problem.field) == (Severity.HINT, "training.keep")
    assert problem.fix is not None
    for fix in (problem.fix, *problem.alternatives):
        assert prepare(apply_fix(chosen, fix), CPU_ONLY).problems == ()
    for training in (TrainingSettings(), TrainingSettings(keep=Keep.LAST)):
        left_open = cpu_profile(data=unvalidated, training=training)
        assert prepare(left_open, CPU_ONLY).problems == ()
    validated = DigitsData(validation_fraction=0.2)
    kept = cpu_profile(data=validated, training=TrainingSettings(keep=Keep.BEST))
    assert prepare(kept, CPU_ONLY).problems == ()


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ({"early_stopping_patience": 9}, "validated_only_at_the_end", "early stopping never"),
        ({"schedule": PLATEAU}, "validated_only_at_the_end", "the learning rate never falls."),
        (
            {"early_stopping_patience": 9, "schedule": PLATEAU},
            "validated_only_at_the_end",
            "early stopping never ends the training and the learning rate never falls.",
        ),
        ({"epochs": 21, "early_stopping_patience": 9}, "patience_below_validation", "waits for 9"),
    ],
)
def test_that_validations_too_rare_for_what_goes_by_them_are_reported(
    settings: dict[str, Any], code: str, words: str
) -> None:
    validated = DigitsData(validation_fraction=0.2)
    seldom = TrainingSettings(**{"epochs": 20, "validate_every": 20, **settings})
    profile = cpu_profile(data=validated, training=seldom)
    problem = found(profile, code, CPU_ONLY)
    assert words in problem.message
    for fix in (problem.fix, *problem.alternatives):
        assert fix is not None
        assert prepare(apply_fix(profile, fix), CPU_ONLY).problems == ()
    # Where nothing is validated there is another problem.
    unvalidated = cpu_profile(data=DigitsData(), training=seldom)
    assert code not in [each.code for each in prepare(unvalidated, CPU_ONLY).problems]


@pytest.mark.parametrize(
    "settings",
    [
        {"epochs": 20, "validate_every": 20},
        {"epochs": 1, "validate_every": 5, "early_stopping_patience": 3},
        {"epochs": 20, "validate_every": 5, "schedule": PLATEAU},
        {"epochs": 20, "validate_every": 5, "early_stopping_patience": 5},
    ],
)
def test_that_validations_may_be_rare(settings: dict[str, Any]) -> None:
    data, training = DigitsData(validation_fraction=0.2), TrainingSettings(**settings)
    assert prepare(cpu_profile(data=data, training=training), CPU_ONLY).problems == ()


def test_that_nesterov_momentum_without_momentum_is_reported() -> None:
    training = TrainingSettings(optimizer=Optimizer.SGD, nesterov=True)
    problem = found(cpu_profile(training=training), "nesterov_without_momentum", CPU_ONLY)
    assert problem.severity is Severity.HINT


@pytest.mark.parametrize(
    ("code", "training"),
    [
        ("warmup_beyond_training", {"kind": "cosine", "warmup_epochs": 3.0}),
        ("schedule_beyond_training", {"kind": "step", "every_epochs": 3}),
        ("plateau_without_validation", {"kind": "reduce_on_plateau"}),
    ],
)
def test_that_a_schedule_that_cannot_do_what_it_says_is_reported(
    code: str, training: dict[str, object]
) -> None:
    settings = TrainingSettings(schedule=ScheduleSettings(**training))
    profile = cpu_profile(training=settings, data=DigitsData())
    assert found(profile, code, CPU_ONLY).field.startswith("training.schedule.")
    longer = settings.model_copy(update={"epochs": 4})
    held_out = cpu_profile(training=longer, data=DigitsData(validation_fraction=0.2))
    assert prepare(held_out, CPU_ONLY).problems == ()


def test_that_early_stopping_before_the_rate_falls_is_reported() -> None:
    schedule = ScheduleSettings(kind="reduce_on_plateau", patience_epochs=3)
    for patience, expected in ((3, ["plateau_after_early_stopping"]), (4, []), (None, [])):
        training = TrainingSettings(schedule=schedule, early_stopping_patience=patience)
        profile = cpu_profile(training=training, data=DigitsData(validation_fraction=0.2))
        assert [each.code for each in prepare(profile, CPU_ONLY).problems] == expected


def test_that_what_means_nothing_to_a_schedule_is_reported() -> None:
    schedule = ScheduleSettings(kind="cosine", rise=0.5, factor=0.5, least=0.1)
    profile = cpu_profile(training=TrainingSettings(schedule=schedule))
    reported = prepare(profile, CPU_ONLY).problems

    assert [each.field for each in reported] == [
        "training.schedule.factor",
        "training.schedule.rise",
    ]
    assert {each.code for each in reported} == {"schedule_key_unused"}
    for problem in reported:
        assert problem.fix is not None
        profile = apply_fix(profile, problem.fix)
    assert prepare(profile, CPU_ONLY).problems == ()


def test_that_early_stopping_without_validation_is_warned_of() -> None:
    training = TrainingSettings(early_stopping_patience=2)
    profile = cpu_profile(training=training, data=DigitsData())
    assert (
        found(profile, "early_stopping_without_validation", CPU_ONLY).severity is Severity.WARNING
    )
    for data in (DigitsData(validation_fraction=0.2), KerasData(source="mnist")):
        assert prepare(cpu_profile(training=training, data=data), CPU_ONLY).problems == ()


def test_that_errors_come_before_warnings_and_hints() -> None:
    profile = profile_with(
        model=SavedModel(path=""),
        memory={"GPU-elsewhere": AllMemory()},
        data=DigitsData(),
        training=TrainingSettings(early_stopping_patience=2),
    )
    severities = [problem.severity for problem in prepare(profile, TWO_UNEQUAL).problems]
    assert severities == [Severity.ERROR, Severity.WARNING, Severity.HINT]


def test_that_a_fix_makes_the_tables_it_needs() -> None:
    change = Change(path=("memory", "GPU-4090"), value={"policy": "all"})
    mended = apply_fix(Profile(), Fix(label="x", changes=(change,)))
    assert mended.memory == {"GPU-4090": AllMemory()}


@settings(max_examples=100)
@given(
    st.integers(1, 4096),
    st.integers(1, 9),
    st.sampled_from([StrategyKind.ONE_DEVICE, StrategyKind.MIRRORED]),
)
def test_that_shares_of_any_startable_plan_sum_to_the_global_batch(
    batch: int, replicas: int, kind: StrategyKind
) -> None:
    profile = cpu_profile(
        replicas,
        strategy=StrategySettings(kind=kind),
        training=TrainingSettings(global_batch_size=batch),
    )
    preparation = prepare(profile, CPU_ONLY)
    assert preparation.plan is not None
    assert sum(preparation.plan.shares) == batch
    assert preparation.is_startable


def test_that_more_micro_batches_than_are_traced_in_time_are_a_warning() -> None:
    training = TrainingSettings(global_batch_size=4_096, accumulation_steps=129)
    problem = found(cpu_profile(1, training=training), "accumulation_traced_slowly", CPU_ONLY)
    assert problem.severity is Severity.WARNING
    fewer = training.model_copy(update={"accumulation_steps": 128})
    codes = {each.code for each in prepare(cpu_profile(1, training=fewer), CPU_ONLY).problems}
    assert "accumulation_traced_slowly" not in codes

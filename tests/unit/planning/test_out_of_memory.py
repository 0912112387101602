"""What is offered after a run ran out of memory, and that planning accepts all of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.memory import CUDA_CONTEXT_MIB, LimitedMemory
from gpupanel.domain.model import MlpModel, PythonModel, ResNetModel, SavedModel
from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, DeviceState, TelemetrySample
from gpupanel.domain.training import Recompute, TrainingSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.out_of_memory import (
    halved_shares,
    out_of_memory_fixes,
    with_less_at_a_time,
)
from gpupanel.planning.prepare import prepare
from gpupanel.planning.shortage import Shortage
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

OLD = RTX_3060.model_copy(
    update={"key": "GPU-old", "name": "GTX 1080", "compute_capability": (6, 1)}
)
ONE_SMALL = DeviceInventory(devices=(RTX_3060, CPU))
SAVED = SavedModel(path="/model.keras")
MACHINES = (CPU_ONLY, ONE_SMALL, TWO_UNEQUAL, DeviceInventory(devices=(RTX_4090, OLD, CPU)))


def with_kind(kind: StrategyKind, **strategy: object) -> Profile:
    return Profile(strategy=StrategySettings(kind=kind, **strategy))


def labels(fixes: tuple[Fix, ...]) -> list[str]:
    return [fix.label for fix in fixes]


def with_free(key: str, free_mib: int | None) -> TelemetrySample:
    """A reading of what others leave free of a GPU."""
    reading = DeviceReading(key=key, memory_free_mib=free_mib)
    return TelemetrySample(time_s=0.0, readings=(reading,))


def fixes_of(
    profile: Profile,
    inventory: DeviceInventory,
    key: str | None,
    sample: TelemetrySample | None = None,
) -> tuple[Fix, ...]:
    return out_of_memory_fixes(profile, inventory, Shortage(key), sample)


def offered(profile: Profile, inventory: DeviceInventory, key: str | None) -> list[str]:
    return labels(fixes_of(profile, inventory, key))


def test_that_one_gpu_of_two_can_divide_its_work_or_leave_it_to_the_larger() -> None:
    profile = Profile(devices=DeviceSettings(visible=("GPU-3060",)))

    assert offered(profile, TWO_UNEQUAL, "GPU-3060") == [
        "Double the accumulation steps",
        "Compute activations again, block by block",
        "Use mixed precision",
        "Use RTX 4090 alone",
        "Divide the examples over 2 GPUs",
        "Divide the layers over 2 GPUs",
    ]


def test_that_mirrored_gpus_can_move_examples_and_weights() -> None:
    profile = with_kind(StrategyKind.MIRRORED, shares=(48, 16))

    fixes = fixes_of(profile, TWO_UNEQUAL, "GPU-3060")

    assert labels(fixes) == [
        "Double the accumulation steps",
        "Give RTX 3060 half its share",
        "Compute activations again, block by block",
        "Use mixed precision",
        "Use RTX 4090 alone",
        "Keep the weights on the host",
        "Divide the layers over 2 GPUs",
    ]
    assert apply_fix(profile, fixes[1]).strategy.shares == (56, 8)
    alone = apply_fix(profile, fixes[4])
    assert (alone.devices.visible, alone.strategy) == (("GPU-4090",), StrategySettings())


def test_that_the_only_gpu_is_offered_what_it_can_do_alone() -> None:
    assert offered(Profile(), ONE_SMALL, "GPU-3060") == [
        "Double the accumulation steps",
        "Compute activations again, block by block",
        "Use mixed precision",
    ]
    alone = with_kind(StrategyKind.MIRRORED)
    assert "Give RTX 3060 half its share" not in offered(alone, ONE_SMALL, "GPU-3060")
    assert offered(Profile(), ONE_SMALL, None) == [
        "Double the accumulation steps",
        "Compute activations again, block by block",
        "Use mixed precision",
    ]


def test_that_replicas_of_the_cpu_can_share_one_copy_of_the_weights() -> None:
    profile = with_kind(StrategyKind.MIRRORED).model_copy(
        update={"devices": DeviceSettings(cpu_replicas=2)}
    )

    fixes = fixes_of(profile, CPU_ONLY, "cpu")

    assert labels(fixes)[-1] == "Use one copy of the model"
    assert prepare(apply_fix(profile, fixes[-1]), CPU_ONLY).problems == ()
    workers = with_kind(StrategyKind.MULTI_WORKER, workers=2)
    assert "Use one copy of the model" in offered(workers, CPU_ONLY, "cpu")
    assert "Use one copy of the model" not in offered(Profile(), CPU_ONLY, "cpu")


def test_that_a_run_on_gpus_that_lacks_memory_of_the_host_is_offered_what_helps_there() -> None:
    images = ImagesData(path="/images", cache=DataCache.MEMORY)
    profile = Profile(data=images)

    fixes = fixes_of(profile, TWO_UNEQUAL, "cpu")

    assert labels(fixes) == ["Cache the images on disk"]
    assert apply_fix(profile, fixes[0]).data == images.model_copy(update={"cache": DataCache.DISK})
    assert offered(apply_fix(profile, fixes[0]), TWO_UNEQUAL, "cpu") == []
    assert offered(Profile(), TWO_UNEQUAL, "cpu") == []


def test_that_old_gpus_are_offered_mixed_precision() -> None:
    profile = Profile(devices=DeviceSettings(visible=("GPU-old",)))

    assert "Use mixed precision" in offered(profile, MACHINES[3], "GPU-old")


def test_that_what_is_used_already_is_not_offered_again() -> None:
    profile = with_kind(StrategyKind.MODEL_PARALLEL).model_copy(
        update={"training": TrainingSettings(mixed_precision=True, recompute="blocks")}
    )

    assert offered(profile, TWO_UNEQUAL, "GPU-4090") == ["Double the accumulation steps"]


def test_that_activations_are_computed_again_where_the_model_is_known() -> None:
    profile = Profile(model=ResNetModel())
    fix = next(each for each in fixes_of(profile, ONE_SMALL, "GPU-3060") if "again" in each.label)
    assert apply_fix(profile, fix).training.recompute is Recompute.BLOCKS
    code = Profile(model=PythonModel(path="/own.py"))
    assert "Compute activations again, block by block" not in offered(code, ONE_SMALL, "GPU-3060")


def test_that_xla_is_switched_off_where_layers_are_divided() -> None:
    profile = with_kind(StrategyKind.MIRRORED).model_copy(
        update={"training": TrainingSettings(jit_compile=True)}
    )

    fix = fixes_of(profile, TWO_UNEQUAL, "GPU-3060")[-1]

    assert fix.label == "Divide the layers over 2 GPUs"
    assert not apply_fix(profile, fix).training.jit_compile


def test_that_a_lost_gpu_is_not_offered() -> None:
    lost = TelemetrySample(
        time_s=0.0, readings=(DeviceReading(key="GPU-4090", state=DeviceState.LOST),)
    )
    profile = Profile(devices=DeviceSettings(visible=("GPU-3060",)))

    assert labels(fixes_of(profile, TWO_UNEQUAL, "GPU-3060", lost)) == [
        "Double the accumulation steps",
        "Compute activations again, block by block",
        "Use mixed precision",
    ]


@pytest.mark.parametrize(("room_mib", "raised"), [(8_000, True), (4_200, False), (None, False)])
def test_that_a_limit_is_raised_where_that_gives_more(room_mib: int | None, raised: bool) -> None:
    policy = LimitedMemory(limit_mib=4_096, growth=True)
    profile = Profile(devices=DeviceSettings(visible=("GPU-3060",)), memory={"default": policy})

    free_mib = None if room_mib is None else room_mib + CUDA_CONTEXT_MIB
    fixes = fixes_of(profile, TWO_UNEQUAL, "GPU-3060", with_free("GPU-3060", free_mib))

    assert any(fix.label == "Raise the limit to 8,000 MiB" for fix in fixes) is raised
    if raised:
        fixed = apply_fix(profile, fixes[1]).memory_policy("GPU-3060")
        assert fixed == policy.model_copy(update={"limit_mib": 8_000})


def test_that_a_saved_model_is_measured_with_half_the_examples_at_a_time() -> None:
    profile = Profile(task="evaluate", inference=InferenceSettings(batch_size=64))

    (half, *_) = out_of_memory_fixes_or_none(profile)

    assert apply_fix(profile, half).inference.batch_size == 32
    one = Profile(task="evaluate", inference=InferenceSettings(batch_size=1))
    assert "Double the accumulation steps" not in offered(one, CPU_ONLY, "cpu")


def out_of_memory_fixes_or_none(profile: Profile) -> tuple[Fix, ...]:
    """Evaluation needs a model that is there; what is offered must be startable."""
    saved = profile.model_copy(update={"model": SAVED})
    return fixes_of(saved, TWO_UNEQUAL, "GPU-4090")


def test_that_half_at_a_time_is_not_offered_where_a_share_has_one_example() -> None:
    profile = with_kind(StrategyKind.MIRRORED, shares=(63, 1))

    assert "Double the accumulation steps" not in offered(profile, TWO_UNEQUAL, "GPU-4090")
    assert "Give RTX 4090 half its share" in offered(profile, TWO_UNEQUAL, "GPU-4090")


def test_that_balanced_shares_are_left_to_the_measuring() -> None:
    profile = with_kind(StrategyKind.MIRRORED, shares="balanced")

    assert "Give RTX 3060 half its share" not in offered(profile, TWO_UNEQUAL, "GPU-3060")


profiles = st.builds(
    Profile,
    devices=st.builds(
        DeviceSettings,
        visible=st.sampled_from([(), ("GPU-3060",), ("GPU-4090", "GPU-3060"), ("cpu",)]),
        cpu_replicas=st.integers(1, 3),
    ),
    memory=st.sampled_from([{}, {"default": LimitedMemory(limit_mib=2_048)}]),
    strategy=st.builds(
        StrategySettings,
        kind=st.sampled_from(StrategyKind),
        shares=st.sampled_from(["equal", "balanced", (48, 16), (63, 1)]),
        workers=st.sampled_from([None, 2]),
    ),
    model=st.builds(MlpModel, batch_norm=st.booleans()),
    training=st.builds(
        TrainingSettings,
        accumulation_steps=st.sampled_from([1, 2, 8, 64]),
        mixed_precision=st.booleans(),
        jit_compile=st.booleans(),
    ),
)


@given(
    profile=profiles,
    inventory=st.sampled_from(MACHINES),
    key=st.sampled_from([None, "cpu", "GPU-3060", "GPU-4090", "GPU-gone"]),
    room_mib=st.sampled_from([None, 1_000, 9_000]),
)
def test_that_every_fix_makes_a_profile_that_planning_accepts(
    profile: Profile, inventory: DeviceInventory, key: str | None, room_mib: int | None
) -> None:
    before = profile.model_dump()
    sample = with_free(key or "cpu", room_mib)
    for fix in fixes_of(profile, inventory, key, sample):
        fixed = apply_fix(profile, fix)
        assert prepare(fixed, inventory).is_startable
        assert fixed.model_dump() != before
        same = ("seed", "epochs", "global_batch_size", "optimizer", "learning_rate")
        for setting in same:
            assert getattr(fixed.training, setting) == getattr(profile.training, setting)


@given(profile=profiles, inventory=st.sampled_from(MACHINES))
def test_that_half_at_a_time_is_what_planning_makes_of_twice_the_accumulation(
    profile: Profile, inventory: DeviceInventory
) -> None:
    preparation = prepare(profile, inventory)
    if preparation.plan is None or not preparation.is_startable:
        return
    less = with_less_at_a_time(profile, preparation.plan)
    if less is None:
        return
    fewer, plan = less
    assert prepare(fewer, inventory).plan == plan
    assert prepare(fewer, inventory).is_startable
    steps = profile.training.accumulation_steps
    assert plan.accumulation_steps == fewer.training.accumulation_steps == 2 * steps


def test_that_twice_the_accumulation_is_all_that_changes() -> None:
    plan = prepare(Profile(), CPU_ONLY).plan
    assert plan is not None

    less = with_less_at_a_time(Profile(), plan)

    fewer = Profile(training=TrainingSettings(accumulation_steps=2))
    assert less == (fewer, prepare(fewer, CPU_ONLY).plan)


@pytest.mark.parametrize(
    "profile",
    [
        Profile(training=TrainingSettings(global_batch_size=3, accumulation_steps=2)),
        Profile(model=MlpModel(batch_norm=True)),
        Profile(task="evaluate"),
    ],
)
def test_that_nothing_is_done_by_itself_that_would_be_another_training(profile: Profile) -> None:
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None

    assert with_less_at_a_time(profile, plan) is None


def test_that_halved_shares_keep_their_sum() -> None:
    assert halved_shares((48, 16), [0]) == (24, 40)
    assert halved_shares((10, 20, 30), [2]) == (15, 30, 15)
    assert halved_shares((64,), [0]) is None
    assert halved_shares((64, 0), [0]) is None
    assert halved_shares((63, 1), [1]) is None
    assert halved_shares((32, 32), []) is None


def test_that_a_batch_is_made_as_small_as_what_was_asked_for_has_to_be() -> None:
    """Of 16 MiB 4 were held, and 56 asked for, for 1,797 examples: an eighth has room."""
    inference = InferenceSettings(batch_size=1_797)
    model = SavedModel(path="m.keras")
    profile = Profile(task="evaluate", model=model, inference=inference)
    mib = 2**20
    seen = {
        (60 * mib, 56 * mib, 16 * mib): "Use a batch size of 224",
        (20 * mib, 16 * mib, 16 * mib): "Halve the batch size",
        (17 * mib, 1 * mib, 16 * mib): "Halve the batch size",
        (None, None, None): "Halve the batch size",
    }
    for (needed, asked, limit), label in seen.items():
        shortage = Shortage(RTX_3060.key, needed_bytes=needed, asked_bytes=asked, limit_bytes=limit)
        assert out_of_memory_fixes(profile, TWO_UNEQUAL, shortage)[0].label == label

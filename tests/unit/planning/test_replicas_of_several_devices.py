"""Replicas whose layers are on several devices: planned, estimated, refused by name, offered."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.model import ResNetModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.stages import placement_of
from gpupanel.domain.step_memory import StepVariant
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known, planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.ladder.rungs import ladder
from gpupanel.planning.memory_estimate import memory_estimate, with_data_placed
from gpupanel.planning.prepare import prepare
from gpupanel.planning.step_time import step_seconds
from gpupanel.planning.tensorflow_calls import tensorflow_calls
from tests.fakes.devices import CPU, RTX_3060, RTX_4090
from tests.fakes.step_variants import LARGE, VARIANTS

ANOTHER_4090 = RTX_4090.model_copy(update={"key": "GPU-4090-2"})
ANOTHER_3060 = RTX_3060.model_copy(update={"key": "GPU-3060-2"})
FOUR = DeviceInventory(
    driver="580.65", devices=(RTX_4090, ANOTHER_4090, RTX_3060, ANOTHER_3060, CPU)
)
ALL = DeviceSettings(visible=tuple(gpu.key for gpu in FOUR.gpus))
KNOWN = Known(step=LARGE, variants=VARIANTS)


def profile(batch: int = 64, *, accumulation_steps: int = 1, **strategy: object) -> Profile:
    chosen = {"kind": "model_parallel", "devices_per_replica": 2, **strategy}
    return Profile(
        devices=ALL,
        strategy=StrategySettings.model_validate(chosen),
        training=TrainingSettings(
            global_batch_size=batch, accumulation_steps=accumulation_steps, jit_compile=False
        ),
        model=ResNetModel(),
    )


def planned(one: Profile, inventory: DeviceInventory = FOUR) -> LaunchPlan:
    plan = prepare(one, inventory, KNOWN).plan
    assert plan is not None
    return plan


def refused(one: Profile, inventory: DeviceInventory = FOUR) -> Problem:
    (problem,) = [each for each in prepare(one, inventory).problems if each.is_error]
    return problem


def test_that_devices_that_follow_each_other_make_a_replica() -> None:
    plan = planned(profile(shares=(48, 16)))
    assert [each.device_key for each in plan.replicas] == [RTX_4090.key, RTX_3060.key]
    assert plan.shares == (48, 16)
    assert plan.stage_count == 2
    keys = [[place.device_key for place in plan.places_of(number)] for number in range(2)]
    assert keys == [[RTX_4090.key, ANOTHER_4090.key], [RTX_3060.key, ANOTHER_3060.key]]
    assert plan.devices_of_stage(1) == (ANOTHER_4090.key, ANOTHER_3060.key)
    assert plan.devices_of_replica(0) == (RTX_4090.key, ANOTHER_4090.key)
    assert plan.replicas_on(ANOTHER_3060.key) == [1]
    assert plan.divides_batches


def test_that_copies_on_several_devices_each_are_divided_by_layers() -> None:
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED, devices_per_replica=2)
    assert mirrored.kind is StrategyKind.MODEL_PARALLEL
    assert StrategySettings(kind=StrategyKind.MIRRORED, devices_per_replica=1).kind == "mirrored"


def test_that_a_replica_without_examples_is_left_out_with_its_devices() -> None:
    plan = planned(profile(shares=(0, 64))).without_idle_replicas()
    assert [each.device_key for each in plan.places] == [RTX_3060.key, ANOTHER_3060.key]
    assert not plan.divides_batches


def test_that_places_that_no_replica_has_are_no_plan() -> None:
    plan = planned(profile())
    with pytest.raises(ValueError, match="cannot be divided among the replicas"):
        LaunchPlan.model_validate({**plan.model_dump(), "places": plan.model_dump()["places"][:3]})


@pytest.mark.parametrize(("each", "near"), [(3, 2), (5, 2)])
def test_that_devices_that_would_be_left_over_are_refused(each: int, near: int) -> None:
    problem = refused(profile(devices_per_replica=each))
    assert problem.code == "devices_left_over"
    assert "4 logical devices cannot be divided" in problem.message
    assert problem.fix is not None
    assert apply_fix(profile(), problem.fix).strategy.devices_per_replica == near


def test_that_shares_are_no_problem_where_there_are_no_replicas_to_share() -> None:
    assert refused(profile(devices_per_replica=3, shares=(40, 24))).code == "devices_left_over"


def test_that_gradients_are_summed_where_each_layer_is() -> None:
    hints = prepare(profile(all_reduce="nccl"), FOUR).problems
    (hint,) = [each for each in hints if each.code == "all_reduce_unused"]
    assert "by replicas of several devices" in hint.message


def test_that_all_devices_make_one_replica_where_nothing_divides_their_number() -> None:
    three = DeviceInventory(devices=FOUR.devices[:3])
    chosen = profile().model_copy(update={"devices": DeviceSettings(visible=ALL.visible[:3])})
    problem = refused(chosen, three)
    assert problem.fix is not None
    assert apply_fix(chosen, problem.fix).strategy.devices_per_replica is None


def test_that_one_device_for_each_replica_is_no_division() -> None:
    problem = refused(profile(devices_per_replica=1))
    assert problem.code == "replica_of_one_device"
    mirrored = apply_fix(profile(devices_per_replica=1), problem.fix).strategy
    assert (mirrored.kind, mirrored.devices_per_replica) == (StrategyKind.MIRRORED, None)


@pytest.mark.parametrize("kind", ["one_device", "central_storage", "multi_worker"])
def test_that_strategies_that_keep_a_model_whole_refuse_several_devices(kind: str) -> None:
    problem = refused(profile(kind=kind))
    assert problem.code == "replica_not_divided"
    assert apply_fix(profile(), problem.fix).strategy.kind is StrategyKind.MODEL_PARALLEL
    assert prepare(profile(kind=kind, devices_per_replica=1), FOUR).is_startable


def test_that_shares_are_of_replicas_and_not_of_devices() -> None:
    assert refused(profile(shares=(16, 16, 16, 16))).code == "shares_do_not_fit"
    whole = prepare(profile(devices_per_replica=None, shares=(32, 32)), FOUR)
    assert "shares_unused" in [each.code for each in whole.problems]
    assert whole.plan is not None
    assert whole.plan.shares == (64,)


def test_that_each_device_holds_the_layers_and_examples_of_its_replica() -> None:
    names = [layer.name for layer in LARGE.layers]
    chosen = profile(
        accumulation_steps=4,
        shares=(48, 16),
        placement={names[0]: 0, names[5]: 1},
        pipeline=True,
    )
    memory = {each.device: each for each in memory_estimate(planning_context(chosen, FOUR, KNOWN))}
    assert [memory[gpu.key].examples for gpu in FOUR.gpus] == [12, 12, 4, 4]
    assert [round(memory[gpu.key].weights_mib) for gpu in FOUR.gpus] == [375, 1125, 375, 1125]
    alone = chosen.model_copy(
        update={
            "devices": DeviceSettings(visible=ALL.visible[:2]),
            "strategy": chosen.strategy.model_copy(
                update={"shares": "equal", "devices_per_replica": None}
            ),
            "training": chosen.training.model_copy(update={"global_batch_size": 48}),
        }
    )
    first = memory_estimate(planning_context(alone, FOUR, KNOWN))[0]
    assert memory[RTX_4090.key].activations_mib == first.activations_mib


def test_that_examples_are_kept_by_the_first_device_of_each_replica_that_has_room() -> None:
    step = LARGE.model_copy(update={"feature_bytes": 1_000, "kept_bytes": 1_000_000})
    variants = (StepVariant(mixed_precision=False, recomputes=False, step=step),)
    images = DataPreview(
        example_count=10_000, training_count=9_000, trained_count=9_000, feature_shape=(8, 8)
    )
    known = Known(step=step, variants=variants, preview=images)
    plan = with_data_placed(planning_context(profile(batch=8, placement="auto"), FOUR, known))
    assert plan is not None
    # 24 GiB have room for 9 GB beside some layers and what a step holds, and 12 have not.
    assert [each.data_on_host for each in plan.replicas] == [False, True]
    memory = prepare(profile(batch=8, placement="auto"), FOUR, known).memory
    assert [each.data_mib > 5_000 for each in memory] == [True, False, False, False]


def test_that_the_layers_on_each_device_are_known_and_balanced_by_the_slower_replica() -> None:
    found = prepare(profile(batch=8, placement="auto"), FOUR, KNOWN)
    assert [stage.device_keys for stage in found.stages] == [
        (RTX_4090.key, RTX_3060.key),
        (ANOTHER_4090.key, ANOTHER_3060.key),
    ]
    assert found.balanced_placement == placement_of(found.stages, (10, 10))
    speeds = {gpu.key: 300.0 for gpu in FOUR.gpus} | {ANOTHER_3060.key: 100.0}
    slower = Known(step=LARGE, variants=VARIANTS, speeds=speeds)
    uneven = prepare(profile(batch=8, placement="auto"), FOUR, slower)
    assert uneven.balanced_placement == placement_of(found.stages, (15, 5))
    # A replica without examples waits for nothing and holds nothing.
    idle = prepare(profile(batch=8, placement="auto", shares=(8, 0)), FOUR, slower)
    assert idle.balanced_placement == placement_of(found.stages, (10, 10))


def test_that_replicas_wait_for_the_slowest_and_sum_their_gradients() -> None:
    def seconds(one: Profile) -> float:
        found = step_seconds(planning_context(one, FOUR, KNOWN))
        assert found is not None
        return found

    even, uneven = (seconds(profile(batch=8, shares=shares)) for shares in ((4, 4), (7, 1)))
    assert even < uneven
    assert seconds(profile(batch=8, shares=(8, 0))) < seconds(profile(batch=16, shares=(8, 8)))


def test_that_replicas_of_several_devices_are_a_way_to_fit() -> None:
    chosen = profile(batch=64, devices_per_replica=None, placement="auto")
    found = ladder(chosen, FOUR, KNOWN)
    way = next(each for each in found.rungs if "over 2 x 2 devices" in each.title)
    changed = apply_fix(chosen, way.fix)
    assert changed.strategy.devices_per_replica == 2
    memory = memory_estimate(planning_context(changed, FOUR, KNOWN))
    assert memory == way.memory
    assert len(memory) == 4
    again = ladder(profile(batch=64, placement="auto"), FOUR, KNOWN)
    assert any("over 4 devices" in each.title for each in again.rungs)


def test_that_the_calls_of_tensorflow_name_the_devices_of_each_layer() -> None:
    text = tensorflow_calls(planned(profile()))
    assert '    ("/device:GPU:0", "/device:GPU:2"),' in text
    assert '    ["/device:GPU:0", "/device:GPU:2"],' in text
    assert "cross_device_ops=tf.distribute.ReductionToOneDevice()," in text

"""Who keeps how much of the optimizer's state: by quotas that are given, or by memory."""

from typing import Any

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import LimitedMemory, SplitMemory
from gpupanel.domain.model import MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.plan import LaunchPlan, parse_plan
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.step_memory import MemoryPeak, StepMemory
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import Preparation, prepare
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL, sample_with

MIB = 2**20
STEP = StepMemory(
    peaks=(MemoryPeak(fixed_bytes=100 * MIB, bytes_per_example=MIB),),
    example_bytes=0,
    weight_bytes=110 * MIB,
    trainable_bytes=100 * MIB,
)
BOTH = DeviceSettings(visible=(RTX_4090.key, RTX_3060.key))
THREE_CPUS = DeviceSettings(visible=(CPU.key,), cpu_replicas=3)


def divided(
    state: str | tuple[int, ...] = "sharded",
    kind: str = "mirrored",
    shares: str | tuple[int, ...] = "equal",
    **parts: Any,
) -> Profile:
    strategy = StrategySettings(kind=kind, optimizer_state=state, shares=shares)
    return Profile(**{"devices": BOTH, "strategy": strategy, **parts})


def prepared(
    profile: Profile, inventory: DeviceInventory = TWO_UNEQUAL, known: Known | None = None
) -> Preparation:
    return prepare(profile, inventory, known or Known())


def plan_of(*arguments: Any, **known: Any) -> LaunchPlan:
    plan = prepared(*arguments, **known).plan
    assert plan is not None
    return plan


def problem(profile: Profile, code: str, inventory: DeviceInventory = TWO_UNEQUAL) -> Problem:
    (found,) = (each for each in prepared(profile, inventory).problems if each.code == code)
    return found


@pytest.mark.parametrize("kind", ["mirrored", "multi_worker"])
def test_that_it_is_divided_by_what_tensorflow_can_have_of_each_device(kind: str) -> None:
    quotas = plan_of(divided(kind=kind)).optimizer_quotas
    assert quotas is not None
    large, small = quotas
    # Of 24,564 and 12,288 MiB the context and what is left to others go off.
    assert large / small == pytest.approx((24_564 - 2_036) / (12_288 - 2_036), rel=0.01)


def test_that_what_others_hold_counts_and_limits_do() -> None:
    busy = sample_with(gpu_4090=16_384)
    assert plan_of(divided(), known=Known(busy)).optimizer_quotas == (96, 160)

    memory = {"default": LimitedMemory(limit_mib=6_400)}
    assert plan_of(divided(memory=memory)).optimizer_quotas == (100, 100)


def test_that_parts_of_a_split_have_what_their_limits_say() -> None:
    memory = {RTX_4090.key: SplitMemory(split_mib=(6_400, 1_280))}
    alone = DeviceSettings(visible=(RTX_4090.key,))
    plan = plan_of(divided(devices=alone, memory=memory))
    assert plan.optimizer_quotas == (100, 20)
    assert plan.optimizer_parts == (pytest.approx(5 / 6), pytest.approx(1 / 6))


def test_that_equal_parts_are_kept_where_the_memory_of_one_is_not_known() -> None:
    unknown = RTX_3060.model_copy(update={"memory_total_mib": None})
    inventory = DeviceInventory(devices=(RTX_4090, unknown))
    assert plan_of(divided(), inventory).optimizer_quotas == (1, 1)


def test_that_replicas_of_one_device_have_equal_parts() -> None:
    first, *others = plan_of(divided(devices=THREE_CPUS), CPU_ONLY).optimizer_quotas or ()
    assert others == [first, first]


def test_that_quotas_are_taken_as_they_are_given() -> None:
    plan = plan_of(divided((3, 1)))
    assert plan.optimizer_quotas == (3, 1)
    assert parse_plan(plan.model_dump_json().encode()) == plan


@pytest.mark.parametrize(
    "profile",
    [
        divided("replicated"),
        divided(kind="central_storage"),
        divided(devices=DeviceSettings(visible=(RTX_4090.key,))),
        divided(shares=(64, 0)),
        divided(task="evaluate"),
    ],
)
def test_that_every_replica_keeps_all_where_nothing_is_to_be_divided(profile: Profile) -> None:
    plan = plan_of(profile)
    assert plan.optimizer_quotas is None
    assert set(plan.optimizer_parts) == {1.0}


def test_that_a_replica_without_examples_keeps_nothing_in_one_process() -> None:
    profile = divided((1, 2, 3), devices=THREE_CPUS, shares=(32, 32, 0))
    assert plan_of(profile, CPU_ONLY).optimizer_quotas == (1, 2, 0)


def test_that_quotas_of_another_number_of_replicas_are_refused() -> None:
    found = problem(divided((1, 2, 3)), "quotas_do_not_fit")
    assert found.is_error
    assert found.message == "3 quotas of the optimizer's state are given for 2 replicas."
    assert found.fix is not None
    assert prepared(apply_fix(divided((1, 2, 3)), found.fix)).is_startable


def test_that_quotas_of_nobody_are_refused() -> None:
    found = problem(divided((0, 0)), "quotas_of_nobody")
    assert found.is_error
    profile = divided((0, 0, 1), devices=THREE_CPUS, shares=(32, 32, 0))
    assert problem(profile, "quotas_of_nobody", CPU_ONLY).is_error


def test_that_shares_that_do_not_fit_are_named_first() -> None:
    codes = {each.code for each in prepared(divided((1, 2, 3), shares=(1, 2))).problems}
    assert "shares_do_not_fit" in codes
    assert "quotas_do_not_fit" not in codes


def test_that_quotas_are_nobodys_problem_where_nothing_is_divided() -> None:
    for profile in (divided((1, 2, 3), kind="one_device"), divided((1, 2, 3), task="evaluate")):
        codes = {each.code for each in prepared(profile).problems}
        assert not codes & {"quotas_do_not_fit", "quotas_of_nobody", "no_optimizer_state"}


def test_that_an_optimizer_without_state_has_nothing_to_divide() -> None:
    plain = TrainingSettings(optimizer=Optimizer.SGD)
    found = problem(divided(training=plain), "no_optimizer_state")
    assert found.severity is Severity.HINT
    assert found.fix is not None
    mended = apply_fix(divided(training=plain), found.fix)
    assert mended.strategy.optimizer_state == "replicated"

    momentum = TrainingSettings(optimizer=Optimizer.SGD, momentum=0.9)
    codes = {each.code for each in prepared(divided(training=momentum)).problems}
    assert "no_optimizer_state" not in codes


def test_that_the_estimate_counts_what_each_device_keeps() -> None:
    training = TrainingSettings(ema=0.9)
    known = Known(step=STEP)
    whole = prepared(divided("replicated", training=training), known=known).memory
    parts = prepared(divided((3, 1), training=training), known=known).memory
    # Adam keeps two numbers for each of 100 MiB, and an average stays on every device.
    assert [each.optimizer_mib for each in whole] == [300, 300]
    assert [each.optimizer_mib for each in parts] == [250, 150]


def test_that_updated_weights_are_counted_until_all_have_them() -> None:
    step = STEP.model_copy(update={"peaks": (MemoryPeak(fixed_bytes=0, bytes_per_example=0),)})
    updates = [
        [each.update_mib for each in prepared(divided(state, kind), known=Known(step=step)).memory]
        for state, kind in (
            ("replicated", "mirrored"),
            ((3, 1), "mirrored"),
            ((3, 1), "multi_worker"),
        )
    ]
    # Adam in one operation needs nothing; a sum of gradients that is freed makes room for 100 MiB.
    assert updates == [[0, 0], [75, 25], [175, 125]]


def test_that_a_model_whose_state_fits_only_when_it_is_divided_may_start() -> None:
    # 2 GiB of weights: with two numbers for each 6 GiB, and the smaller GPU would have 12 GiB.
    model = MlpModel(hidden=(23_000, 23_000, 23_000))
    refused = {each.code for each in prepared(divided("replicated", model=model)).problems}
    found = prepared(divided((1, 0), model=model)).problems
    assert "model_above_memory" in refused
    assert "model_above_memory" not in {each.code for each in found}


def test_that_a_plan_is_like_one_that_was_made_when_other_memory_was_free() -> None:
    busy = Known(sample_with(gpu_4090=16_384))
    before, after = plan_of(divided()), plan_of(divided(), known=busy)
    assert before.optimizer_quotas != after.optimizer_quotas
    assert before.is_like(after)
    assert not before.is_like(plan_of(divided("replicated")))


def test_that_a_plan_divides_the_state_among_all_of_its_replicas() -> None:
    plan = plan_of(divided((3, 1)))
    for quotas in ((None, 1), (0, 0)):
        replicas = [
            {**each.model_dump(), "optimizer_quota": quota}
            for each, quota in zip(plan.replicas, quotas, strict=True)
        ]
        with pytest.raises(ValueError, match="divide it among no replica"):
            LaunchPlan.model_validate({**plan.model_dump(), "replicas": replicas})

"""Why a training is slow, from where its time goes: windows of real runs, and silence."""

from dataclasses import replace

import pytest

from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.data import DataCache, DataSettings, ImagesData, NpzData, PythonData
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.problem import Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.planning.findings.context import FindingContext
from gpupanel.planning.fixes import apply_fix
from tests.fakes.devices import CPU, CPU_ONLY, RTX_4090, TWO_UNEQUAL
from tests.unit.planning.findings.recorded import (
    START_S,
    context_of,
    found_in,
    on_gpu,
    profile_of,
    reading,
    recorded,
    reports_of,
    spent,
)

UNCACHED = PythonData(path="/data.py", cache=DataCache.NONE)
TWO_ON_CPU = profile_of(StrategyKind.MIRRORED, batch=64, replicas=2)
FREE = DeviceReading(key=CPU_KEY, memory_free_mib=8_000)


def with_data(data: DataSettings, **facts: object) -> FindingContext:
    """A training that waits for 40 % of the time."""
    waits = spent(1.0, ReplicaTime(computing_s=0.6, waiting_for_data_s=0.4))
    profile = profile_of().model_copy(update={"data": data})
    return context_of(profile, CPU_ONLY, reports=reports_of(lambda _: waits), **facts)


def test_that_a_training_that_computes_has_no_findings() -> None:
    assert found_in(recorded("clean", profile_of())) == {}


def test_that_waiting_for_a_reader_that_sleeps_is_found_with_its_cost_and_a_cache() -> None:
    profile = profile_of(batch=64).model_copy(update={"data": UNCACHED})
    context = recorded("slow_reader", profile)
    context = replace(context, samples=(TelemetrySample(time_s=START_S, readings=(FREE,)),))

    finding = found_in(context)["training_waits_for_data"]

    assert finding.problem.severity is Severity.HINT
    assert "wait for examples in 98 % of the training time" in finding.problem.message
    assert finding.cost_fraction == pytest.approx(0.98, abs=0.01)
    assert finding.since_s == pytest.approx(context.reports[0].begun_s)
    assert finding.device_key is None
    assert finding.problem.fix is not None
    assert apply_fix(profile, finding.problem.fix).data.cache is DataCache.MEMORY


def test_that_nothing_is_cached_in_memory_that_does_not_fit_there() -> None:
    profile = profile_of(batch=64).model_copy(update={"data": UNCACHED})
    context = recorded("slow_reader", profile)
    assert context.data is not None
    large = context.data.model_copy(update={"feature_shape": (512, 512, 3)})
    context = replace(
        context, data=large, samples=(TelemetrySample(time_s=START_S, readings=(FREE,)),)
    )

    assert found_in(context)["training_waits_for_data"].problem.fix is None


@pytest.mark.parametrize(
    ("data", "words", "fixes"),
    [
        (
            ImagesData(path="/i", cache=DataCache.NONE, image_size=(128, 160)),
            'Set data.cache to "memory" or "disk"',
            ["Cache on disk", "Use 64x80 pixels"],
        ),
        (
            ImagesData(path="/i", image_size=(128, 128)),
            "data.image_size smaller",
            ["Use 64x64 pixels"],
        ),
        (ImagesData(path="/i", image_size=(32, 32)), "faster disk", []),
        (NpzData(path="/x.npy", cache=DataCache.NONE), 'data.cache to "memory" if', []),
        (NpzData(path="/x.npy", cache=DataCache.DISK), "Put the data on a faster disk.", []),
    ],
    ids=["images", "cached images", "small images", "arrays", "arrays on disk"],
)
def test_that_what_to_change_is_something_that_can_be_changed(
    data: DataSettings, words: str, fixes: list[str]
) -> None:
    problem = found_in(with_data(data))["training_waits_for_data"].problem
    offered = [] if problem.fix is None else [problem.fix, *problem.alternatives]

    assert words in problem.hint
    assert [fix.label for fix in offered] == fixes
    assert "in 40 % of the training time" in problem.message


def test_that_an_epoch_that_fills_the_cache_says_nothing_about_those_after_it() -> None:
    data = ImagesData(path="/i", cache=DataCache.DISK)

    assert found_in(with_data(data, first_epoch=2)) == {}
    assert "training_waits_for_data" in found_in(with_data(data, first_epoch=1))
    # Nothing is decoded into a cache in memory by the way.
    in_memory = data.model_copy(update={"cache": DataCache.MEMORY})
    assert "training_waits_for_data" in found_in(with_data(in_memory, first_epoch=2))


@pytest.mark.parametrize(
    ("waited_s", "count"), [(0.099, 30), (0.9, 9)], ids=["less than a tenth", "the first seconds"]
)
def test_that_little_waiting_is_not_worth_a_word(waited_s: float, count: int) -> None:
    waits = spent(1.0, ReplicaTime(computing_s=1.0 - waited_s, waiting_for_data_s=waited_s))
    context = context_of(profile_of(), CPU_ONLY, reports=reports_of(lambda _: waits, count))
    assert found_in(context) == {}


def test_that_validation_and_checkpoints_do_not_hide_that_a_training_waits() -> None:
    half = TimeSpent(
        seconds=2.0,
        validating_s=1.0,
        saving_s=0.5,
        replicas=(ReplicaTime(computing_s=0.4, waiting_for_data_s=0.1),),
    )
    context = context_of(profile_of(), CPU_ONLY, reports=reports_of(lambda _: half))
    assert "in 20 % of" in found_in(context)["training_waits_for_data"].problem.message


def test_that_a_tiny_batch_on_a_processor_is_found_with_a_larger_one() -> None:
    profile = profile_of(batch=2)

    finding = found_in(recorded("tiny_batch", profile))["batch_too_small"]

    assert "A step computes for 0." in finding.problem.message
    assert "a batch of 2." in finding.problem.message
    assert finding.device_key == CPU_KEY
    assert finding.problem.fix is not None
    assert apply_fix(profile, finding.problem.fix).training.global_batch_size == 64


def test_that_a_batch_is_not_too_small_where_a_larger_one_leaves_few_updates() -> None:
    context = recorded("tiny_batch", profile_of(batch=2))
    assert context.data is not None
    few = replace(context, data=context.data.model_copy(update={"training_examples": 20}))
    assert found_in(few) == {}
    assert found_in(replace(context, data=None)) == {}


def test_that_a_step_that_lasts_is_not_blamed_on_its_batch() -> None:
    long = recorded("clean", profile_of(batch=2))
    assert found_in(long) == {}


@pytest.mark.parametrize(
    ("step_ms", "batch", "is_found"),
    [(0.39, 16, True), (0.45, 16, False), (0.39, 17, False), (0.39, 15, True)],
)
def test_that_only_short_steps_of_few_examples_are_too_small_for_a_processor(
    step_ms: float, batch: int, is_found: bool
) -> None:
    data = recorded("clean", profile_of()).data
    steps = round(1_000 / step_ms)
    reports = reports_of(lambda _: spent(1.0), steps=steps)
    context = context_of(profile_of(batch=batch), CPU_ONLY, reports=reports, data=data)
    assert ("batch_too_small" in found_in(context)) is is_found


@pytest.mark.parametrize(("step_ms", "is_found"), [(19, True), (21, False)])
def test_that_only_short_steps_leave_a_gpu_waiting_for_the_host(
    step_ms: float, is_found: bool
) -> None:
    data = recorded("clean", profile_of()).data
    reports = reports_of(lambda _: spent(step_ms / 10), steps=100)
    idle = on_gpu(lambda _: reading(gpu_utilization_percent=31.0), data=data, reports=reports)
    assert ("batch_too_small" in found_in(idle)) is is_found


def test_that_a_gpu_that_idles_between_short_steps_is_found_with_a_larger_batch() -> None:
    data = recorded("clean", profile_of()).data
    idle = on_gpu(lambda _: reading(gpu_utilization_percent=31.0), data=data)

    finding = found_in(idle)["batch_too_small"]

    assert "RTX 4090 is busy for 31 % of the time" in finding.problem.message
    assert finding.cost_fraction == pytest.approx(0.69)
    assert finding.problem.fix is not None
    changed = apply_fix(idle.profile, finding.problem.fix)
    assert changed.training.global_batch_size == 1_024


@pytest.mark.parametrize("percent", [97.0, None], ids=["busy", "not known"])
def test_that_a_gpu_that_is_busy_or_does_not_say_is_not_blamed(percent: float | None) -> None:
    data = recorded("clean", profile_of()).data
    assert found_in(on_gpu(lambda _: reading(gpu_utilization_percent=percent), data=data)) == {}


@pytest.mark.parametrize(("waited_s", "is_found"), [(0.15, True), (0.25, False)])
def test_that_a_batch_is_blamed_where_little_waits_for_something_else(
    waited_s: float, is_found: bool
) -> None:
    data = recorded("clean", profile_of()).data
    waits = spent(1.0, ReplicaTime(computing_s=1.0 - waited_s, waiting_for_data_s=waited_s))
    idle = on_gpu(
        lambda _: reading(gpu_utilization_percent=31.0),
        data=data,
        reports=reports_of(lambda _: waits),
    )
    assert ("batch_too_small" in found_in(idle)) is is_found


def test_that_a_gpu_that_waits_for_something_else_has_no_small_batch() -> None:
    data = recorded("clean", profile_of()).data
    waits = spent(1.0, ReplicaTime(computing_s=0.5, waiting_for_data_s=0.5))
    idle = on_gpu(
        lambda _: reading(gpu_utilization_percent=31.0),
        data=data,
        reports=reports_of(lambda _: waits),
    )
    assert set(found_in(idle)) == {"training_waits_for_data"}


def test_that_a_replica_that_sleeps_is_found_by_its_place_with_balanced_shares() -> None:
    finding = found_in(recorded("sleeping_replica", TWO_ON_CPU))["straggler"]

    assert finding.problem.message.startswith("Replica 1 \N{MIDDLE DOT} a CPU takes ")
    assert finding.cost_fraction is not None
    assert finding.cost_fraction > 0.5
    assert finding.problem.fix is not None
    assert apply_fix(TWO_ON_CPU, finding.problem.fix).strategy.shares == "balanced"


def both(first_s: float, second_s: float, exchanging_s: float | None = 0.0) -> TimeSpent:
    """A second of two replicas."""
    left = 1.0 - (exchanging_s or 0.0)
    return spent(
        1.0,
        *(
            ReplicaTime(
                computing_s=each_s,
                exchanging_s=exchanging_s,
                waiting_for_replicas_s=left - each_s,
            )
            for each_s in (first_s, second_s)
        ),
    )


def two(spent: TimeSpent, kind: StrategyKind = StrategyKind.MIRRORED, **facts: object):
    profile = profile_of(kind, visible=tuple(each.key for each in TWO_UNEQUAL.gpus))
    data = recorded("clean", profile_of()).data
    given = {"reports": reports_of(lambda _: spent), "data": data, **facts}
    return context_of(profile, TWO_UNEQUAL, **given)


def test_that_a_slower_gpu_is_named_with_what_the_other_waits() -> None:
    finding = found_in(two(both(0.4, 0.96)))["straggler"]

    assert "Replica 1 \N{MIDDLE DOT} RTX 3060 takes 2.4 times as long for its 128 examples" in (
        finding.problem.message
    )
    assert "waits for 60 % of the time" in finding.problem.message
    # 256 examples at 320 and 133.3 a second take 0.565 s, not 0.96.
    assert finding.cost_fraction == pytest.approx(1.0 - 0.565 / 0.96, abs=0.01)
    assert finding.device_key == "GPU-3060"


def test_that_processors_of_two_nodes_are_two_devices_and_the_slow_node_is_named() -> None:
    nodes = DeviceInventory(
        devices=tuple(
            CPU.model_copy(update={"key": f"cpu@{name}", "node": name}) for name in ("a", "b")
        )
    )
    profile = profile_of(StrategyKind.MULTI_WORKER).model_copy(
        update={"cluster": ClusterSettings()}
    )
    reports = reports_of(lambda _: both(0.6, 0.96))
    finding = found_in(context_of(profile, nodes, reports=reports))["straggler"]
    assert f"Replica 1 \N{MIDDLE DOT} {CPU.name} of b takes 1.6 times" in finding.problem.message
    assert finding.problem.fix is not None
    # On one machine the same is two that take turns.
    here = context_of(profile_of(StrategyKind.MULTI_WORKER), CPU_ONLY, reports=reports)
    assert "straggler" not in found_in(here)


def test_that_a_step_that_hardly_computes_has_no_straggler() -> None:
    # The times as of two nodes, of which the exchange takes most.
    assert "straggler" not in found_in(two(both(0.1, 0.24, exchanging_s=0.7)))


def test_that_replicas_that_are_nearly_alike_are_no_stragglers() -> None:
    assert found_in(two(both(0.85, 0.98))) == {}


@pytest.mark.parametrize(
    "facts",
    [
        {"reports": reports_of(lambda _: both(0.4, 0.96), count=9)},
        {"shares": (256, 0)},
        {"reports": reports_of(lambda _: both(0.0, 0.96))},
    ],
    ids=["the first seconds", "one replica works", "not measured"],
)
def test_that_a_straggler_is_not_guessed(facts: dict[str, object]) -> None:
    assert "straggler" not in found_in(two(both(0.4, 0.96), **facts))


def test_that_balanced_shares_are_not_balanced_again() -> None:
    context = two(both(0.4, 0.96))
    balanced = replace(context, plan=context.plan.model_copy(update={"balanced": True}))
    assert found_in(balanced) == {}


def test_that_workers_that_take_turns_have_no_straggler() -> None:
    assert found_in(two(both(0.4, 0.96), StrategyKind.PARAMETER_SERVER)) == {}


def test_that_exchanging_for_long_is_found_with_a_larger_batch_and_other_ways_to_sum() -> None:
    context = two(both(0.6, 0.6, exchanging_s=0.4))

    finding = found_in(context)["exchange_bound"]

    assert "over 2 replicas takes 40 % of the training time" in finding.problem.message
    assert finding.cost_fraction == pytest.approx(0.4)
    problem = finding.problem
    assert problem.fix is not None
    assert [problem.fix.label, *(each.label for each in problem.alternatives)] == [
        "Use a batch of 512",
        "Accumulate 512 in 2 steps",
        "Use Hierarchical copy",
    ]
    accumulating = apply_fix(context.profile, problem.alternatives[0]).training
    assert (accumulating.global_batch_size, accumulating.accumulation_steps) == (512, 2)


def test_that_a_large_network_with_a_tiny_batch_is_bound_by_its_exchange_and_no_straggler() -> None:
    # Its replicas take turns on two busy processors: one seems slower than the other.
    profile = profile_of(StrategyKind.MIRRORED, batch=4, replicas=2)
    assert set(found_in(recorded("large_exchange", profile))) == {"exchange_bound"}


@pytest.mark.parametrize("exchanging_s", [0.29, None], ids=["little", "not measured"])
def test_that_an_exchange_that_is_short_or_not_known_is_no_finding(
    exchanging_s: float | None,
) -> None:
    assert found_in(two(both(0.6, 0.6, exchanging_s))) == {}


def test_that_since_is_where_it_began_and_one_lapse_is_forgiven() -> None:
    def waiting(second: int) -> TimeSpent:
        waited_s = 0.5 if second >= 12 and second != 20 else 0.0
        return spent(1.0, ReplicaTime(computing_s=1.0 - waited_s, waiting_for_data_s=waited_s))

    context = context_of(profile_of(), CPU_ONLY, reports=reports_of(waiting))

    assert found_in(context)["training_waits_for_data"].since_s == START_S + 12


def test_that_nothing_is_found_where_nothing_is_known() -> None:
    for profile, inventory in (
        (Profile(), CPU_ONLY),
        (profile_of(StrategyKind.MIRRORED, visible=(RTX_4090.key,)), TWO_UNEQUAL),
    ):
        assert found_in(context_of(profile, inventory)) == {}

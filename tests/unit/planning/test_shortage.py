"""What helps a run that ran out of memory, with figures of TensorFlow's own GPU code."""

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import (
    AllMemory,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
)
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.step_memory import MeasuredStep, MemoryPeak, StepMemory, StepVariant
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.out_of_memory import out_of_memory_fixes, with_less_at_a_time
from gpupanel.planning.prepare import prepare
from gpupanel.planning.shortage import Prospect, Prospects, Shortage
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

MIB = 2**20
SMALL, LARGE = RTX_3060.key, RTX_4090.key
UNUSED = TelemetrySample(
    time_s=0.0,
    readings=(
        DeviceReading(key=LARGE, memory_free_mib=24_164),
        DeviceReading(key=SMALL, memory_free_mib=11_888),
    ),
)


def step_of(weights_mib: float, each_mib: float, largest_mib: float | None = None) -> StepMemory:
    """A step that learns so many MiB of weights, and holds so many for each example."""
    weights = round(weights_mib * MIB)
    return StepMemory(
        peaks=(MemoryPeak(fixed_bytes=weights, bytes_per_example=round(each_mib * MIB)),),
        example_bytes=0,
        weight_bytes=weights,
        trainable_bytes=weights,
        largest_weight_bytes=weights if largest_mib is None else round(largest_mib * MIB),
    )


def on_the_small(policy: MemoryPolicy, **training: object) -> Profile:
    return Profile(
        devices=DeviceSettings(visible=(SMALL,)),
        memory={SMALL: policy},
        training=TrainingSettings(**training),
    )


def offered(
    profile: Profile,
    shortage: Shortage,
    inventory: DeviceInventory = TWO_UNEQUAL,
    sample: TelemetrySample = UNUSED,
) -> list[str]:
    return [fix.label for fix in out_of_memory_fixes(profile, inventory, shortage, sample)]


def test_that_weights_that_alone_do_not_fit_are_offered_no_smaller_step() -> None:
    """Two layers of 8,192: 258 MiB, of which Adam keeps twice as much, under 512 MiB."""
    profile = on_the_small(LimitedMemory(limit_mib=512))
    weights = step_of(258, 0.1, 256)
    shortage = Shortage(SMALL, "/device:GPU:0", 514 * MIB, in_step=False, step=weights)
    assert offered(profile, shortage) == [
        "Raise the limit to 11,388 MiB",
        "Use RTX 4090 alone",
    ]
    # Nor where that is met within a step only.
    assert offered(profile, Shortage(SMALL, step=weights)) == [
        "Raise the limit to 11,388 MiB",
        "Use RTX 4090 alone",
    ]


def test_that_a_step_that_holds_hardly_anything_is_not_made_smaller() -> None:
    """20 MiB of weights make 83 with all that Adam and gradients take; activations are 0.1."""
    profile = on_the_small(LimitedMemory(limit_mib=83))
    step = step_of(20.7, 0.1 / 64)
    prospects = Prospects(profile, TWO_UNEQUAL, UNUSED, Shortage(SMALL, step=step))
    half = Profile(**{**dict(profile), "training": TrainingSettings(accumulation_steps=2)})
    assert prospects.of(half) is Prospect.NONE
    labels = offered(profile, Shortage(SMALL, step=step))
    assert "Double the accumulation steps" not in labels
    assert "Use mixed precision" not in labels
    assert labels[:2] == ["Raise the limit to 11,388 MiB", "Use RTX 4090 alone"]


def test_that_a_smaller_step_is_offered_where_activations_are_what_is_too_much() -> None:
    profile = on_the_small(LimitedMemory(limit_mib=640), optimizer="sgd")
    shortage = Shortage(SMALL, "/device:GPU:0", 700 * MIB, step=step_of(20, 10))
    assert offered(profile, shortage)[:2] == [
        "Double the accumulation steps",
        "Raise the limit to 11,388 MiB",
    ]


def test_that_as_many_accumulation_steps_are_offered_as_are_enough() -> None:
    """Twice as many leave 16.8 MiB of 16: 3.3 of weights, twice that of gradients, and the step."""
    profile = on_the_small(LimitedMemory(limit_mib=16), optimizer="sgd", global_batch_size=1_400)
    step = step_of(3.3, 13.9 / 1_400)
    shortage = Shortage(SMALL, "/device:GPU:0", 17 * MIB, step=step)
    assert offered(profile, shortage)[0] == "Use 4 accumulation steps"
    plan = prepare(profile, TWO_UNEQUAL).plan
    assert plan is not None
    prospects = Prospects(profile, TWO_UNEQUAL, UNUSED, shortage)
    less = with_less_at_a_time(profile, plan, prospects)
    assert less is not None
    assert less[0].training.accumulation_steps == less[1].accumulation_steps == 4
    full = Shortage(SMALL, "/device:GPU:0", in_step=False, step=step)
    never = Prospects(profile, TWO_UNEQUAL, UNUSED, full)
    assert with_less_at_a_time(profile, plan, never) is None


def test_that_a_share_becomes_as_small_as_it_has_to() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=(LARGE, SMALL)),
        memory={
            LARGE: LimitedMemory(limit_mib=4_096, growth=True),
            SMALL: LimitedMemory(limit_mib=100, growth=True),
        },
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(32, 32)),
    )
    labels = offered(profile, Shortage(SMALL, step=step_of(10, 3.5)))
    assert "Use shares 56 + 8" in labels


def test_that_the_estimate_is_taken_for_too_small_where_the_run_has_shown_it() -> None:
    """By the estimate 360 MiB of the limit; what was held and asked for was 900."""
    profile = on_the_small(LimitedMemory(limit_mib=640), optimizer="sgd")
    step = step_of(20, 5)
    seen = Shortage(SMALL, "/device:GPU:0", 900 * MIB, step=step)
    assert offered(profile, seen)[0] == "Use 16 accumulation steps"
    # Of a device that is not known nothing was shown.
    assert "Double the accumulation steps" in offered(profile, Shortage(step=step))


def test_that_what_a_run_held_at_least_corrects_the_estimate_from_then_on() -> None:
    profile = on_the_small(LimitedMemory(limit_mib=640), optimizer="sgd")
    step = step_of(20, 5)
    seen = Shortage(SMALL, "/device:GPU:0", 900 * MIB, step=step)
    measured = Prospects(profile, TWO_UNEQUAL, UNUSED, seen).measured
    assert measured is not None
    assert measured.is_least
    corrected = step.model_copy(update={"measured": (measured,)})
    (memory,) = prepare(profile, TWO_UNEQUAL, Known(UNUSED, step=corrected)).memory
    assert memory.counted_mib == pytest.approx(900, rel=0.05)
    assert not memory.is_measured
    # More is seen with less at a time: what was known before counts, too.
    again = Shortage(SMALL, "/device:GPU:0", 1_800 * MIB, step=corrected)
    more = Prospects(profile, TWO_UNEQUAL, UNUSED, again).measured
    assert more is not None
    assert more.ratio == pytest.approx(2 * measured.ratio, rel=0.1)


def test_that_nothing_is_learned_where_nothing_was_missed() -> None:
    profile = on_the_small(LimitedMemory(limit_mib=640), optimizer="sgd")
    step = step_of(20, 5)
    for seen in (Shortage(step=step), Shortage(SMALL, step=None), Shortage("cpu", step=step)):
        assert Prospects(profile, TWO_UNEQUAL, UNUSED, seen).measured is None


def test_that_other_ways_are_estimated_by_what_each_of_them_holds() -> None:
    profile = on_the_small(LimitedMemory(limit_mib=640), optimizer="sgd")
    large, less = step_of(20, 5), step_of(20, 1)
    found = MeasuredStep(device=SMALL, ratio=2.0)
    variants = (
        StepVariant(
            mixed_precision=False,
            recomputes=False,
            step=large.model_copy(update={"measured": (found,)}),
        ),
        StepVariant(mixed_precision=True, recomputes=False, step=less),
        StepVariant(mixed_precision=True, recomputes=True, step=None),
    )
    shortage = Shortage(SMALL, step=large, variants=variants)
    prospects = Prospects(profile, TWO_UNEQUAL, UNUSED, shortage)
    mixed = apply_fix(profile, Fix.of("", "training.mixed_precision", value=True))
    assert prospects.of(mixed) is Prospect.FITS
    both = apply_fix(mixed, Fix.of("", "training.recompute", "blocks"))
    assert prospects.of(both) is Prospect.UNKNOWN
    # What was measured of one way is more than was estimated: so it may be of another.
    known = Known(UNUSED, variants=variants)
    (memory,) = prepare(mixed, TWO_UNEQUAL, known).memory
    assert memory.activations_mib == pytest.approx(2 * 64, abs=1)
    assert not memory.is_measured


def test_that_the_examples_are_not_divided_over_gpus_of_which_one_cannot_hold_the_weights() -> None:
    sample = UNUSED.model_copy(
        update={"readings": (UNUSED.readings[0], DeviceReading(key=SMALL, memory_free_mib=2_000))}
    )
    step = step_of(700, 0.1)
    labels = offered(on_the_small(GrowingMemory()), Shortage(SMALL, step=step), sample=sample)
    assert "Divide the examples over 2 GPUs" not in labels
    assert labels == ["Use RTX 4090 alone", "Divide the layers over 2 GPUs"]


@pytest.mark.parametrize(
    ("weights", "largest", "helps"),
    [(9_000, 2_000, True), (9_000, 8_000, False), (11_000, 2_000, False)],
    ids=["fits", "one weight is larger than any GPU", "together they are too much"],
)
def test_that_layers_are_divided_where_each_weight_and_all_together_fit(
    weights: int, largest: int, helps: bool
) -> None:
    """The 4090 gives 22,128 MiB, and the 3060 9,852."""
    shortage = Shortage(SMALL, step=step_of(weights, 0.1, largest))
    momentum = TrainingSettings(optimizer="sgd", momentum=0.9)
    profile = on_the_small(GrowingMemory()).model_copy(update={"training": momentum})
    labels = offered(profile, shortage)
    assert ("Divide the layers over 2 GPUs" in labels) is helps


def test_that_layers_may_be_divided_where_a_gpu_does_not_tell_its_memory() -> None:
    silent = RTX_4090.model_copy(update={"memory_total_mib": None})
    inventory = DeviceInventory(devices=(silent, RTX_3060, CPU))
    sample = TelemetrySample(time_s=0.0, readings=UNUSED.readings[1:])
    shortage = Shortage(SMALL, step=step_of(90_000, 0.1))
    labels = offered(on_the_small(GrowingMemory()), shortage, inventory, sample)
    assert labels == ["Divide the layers over 2 GPUs"]


def test_that_mixed_precision_is_offered_where_it_may_be_enough() -> None:
    profile = on_the_small(LimitedMemory(limit_mib=640), optimizer="sgd", accumulation_steps=64)
    shortage = Shortage(SMALL, step=step_of(20, 600))
    labels = offered(profile, shortage)
    assert labels.index("Use mixed precision") > labels.index("Use RTX 4090 alone")


@pytest.mark.parametrize(("example_mib", "is_offered"), [(2_000, True), (4_000, False)])
def test_that_activations_are_computed_again_where_a_fifth_of_them_may_be_enough(
    example_mib: int, is_offered: bool
) -> None:
    profile = on_the_small(LimitedMemory(limit_mib=640), optimizer="sgd", accumulation_steps=64)
    labels = offered(profile, Shortage(SMALL, step=step_of(20, example_mib)))
    assert ("Compute activations again, block by block" in labels) == is_offered
    assert "Use mixed precision" not in labels


def limited(policy: MemoryPolicy, **devices: object) -> Fix | None:
    profile = on_the_small(policy)
    profile = profile.model_copy(
        update={"devices": profile.devices.model_copy(update=devices)} if devices else {}
    )
    shortage = Shortage(SMALL, step=step_of(2_780, 0.1))
    fixes = out_of_memory_fixes(profile, TWO_UNEQUAL, shortage, UNUSED)
    return next((fix for fix in fixes if "limit" in fix.label), None)


@pytest.mark.parametrize("policy", [GrowingMemory(), AllMemory()])
def test_that_a_limit_gives_back_what_is_kept_aside_without_one(policy: MemoryPolicy) -> None:
    """Of 11,888 MiB 9,852 are given without a limit, and 11,388 with one."""
    fix = limited(policy)
    assert fix is not None
    assert fix.label == "Set a limit of 11,388 MiB, more than TensorFlow takes without one"
    fixed = apply_fix(on_the_small(policy), fix).memory_policy(SMALL)
    grows = isinstance(policy, GrowingMemory)
    assert fixed == LimitedMemory(limit_mib=11_388, growth=grows)


def test_that_the_parts_of_a_split_gpu_become_larger() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=(SMALL,)),
        memory={SMALL: SplitMemory(split_mib=(15, 73))},
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    )
    full = Shortage(SMALL, "/device:GPU:0", 18 * MIB, in_step=False, step=step_of(4.3, 0.01))
    fix, *_ = out_of_memory_fixes(profile, TWO_UNEQUAL, full, UNUSED)
    assert fix.label == "Give each part 5,650 MiB more"
    assert apply_fix(profile, fix).memory_policy(SMALL) == SplitMemory(split_mib=(5_665, 5_723))


def test_that_no_limit_is_offered_where_it_gives_nothing_or_is_none() -> None:
    assert limited(GrowingMemory(), allocator=Allocator.CUDA_MALLOC_ASYNC) is None
    assert limited(SplitMemory(split_mib=(5_500, 5_500))) is None
    assert limited(LimitedMemory(limit_mib=11_000)) is None


def test_that_of_equal_gpus_the_one_that_is_given_more_is_offered_by_its_number() -> None:
    second = RTX_4090.model_copy(update={"key": "GPU-second"})
    inventory = DeviceInventory(devices=(RTX_4090, second, CPU))
    profile = Profile(
        devices=DeviceSettings(visible=(LARGE, "GPU-second")),
        memory={
            LARGE: SplitMemory(split_mib=(100, 412)),
            "GPU-second": LimitedMemory(limit_mib=15),
        },
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(20, 20, 24)),
    )
    weights = offered(profile, Shortage("GPU-second", step=step_of(4.3, 0.01)), inventory)
    assert weights[0] == "Use RTX 4090 #1 alone"
    assert "Give RTX 4090 #2 half its share" not in weights
    activations = offered(profile, Shortage("GPU-second", step=step_of(1, 0.5)), inventory)
    assert "Give RTX 4090 #2 half its share" in activations


def test_that_processes_that_share_a_gpu_share_what_a_limit_gives() -> None:
    profile = Profile(
        devices=DeviceSettings(visible=(SMALL,)),
        memory={SMALL: LimitedMemory(limit_mib=1_000, growth=True)},
        strategy=StrategySettings(kind=StrategyKind.MULTI_WORKER, workers=2),
    )
    labels = offered(profile, Shortage(SMALL))
    assert not any("11388" in label for label in labels)


def test_that_nothing_is_denied_where_no_step_is_known_but_smaller_steps_before_the_first() -> None:
    profile = on_the_small(LimitedMemory(limit_mib=512))
    assert "Double the accumulation steps" in offered(profile, Shortage(SMALL))
    before = offered(profile, Shortage(SMALL, in_step=False))
    assert before == [
        "Raise the limit to 11,388 MiB",
        "Use RTX 4090 alone",
    ]


def test_that_the_estimate_of_the_host_is_left_as_it_is() -> None:
    prospects = Prospects(
        Profile(), CPU_ONLY, None, Shortage("cpu", None, 2**40, step=step_of(9, 1))
    )
    assert prospects.of(Profile(training=TrainingSettings(epochs=3))) is Prospect.FITS
    assert Shortage(preview=DataPreview()).step is None


def test_that_a_gpu_that_others_have_filled_is_left_for_the_one_that_is_free() -> None:
    """The larger one: neither it alone nor layers on both can be had."""
    profile = Profile(
        devices=DeviceSettings(visible=(LARGE, SMALL)),
        memory={"default": LimitedMemory(limit_mib=80, growth=True)},
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
        training=TrainingSettings(out_of_memory_retries=0),
    )
    readings = (
        DeviceReading(key=LARGE, memory_free_mib=4),
        DeviceReading(key=SMALL, memory_free_mib=11_888),
    )
    full = TelemetrySample(time_s=0.0, readings=readings)
    shortage = Shortage(LARGE, in_step=False, step=step_of(1, 0.01))
    labels = offered(profile, shortage, sample=full)
    assert labels[0] == "Use RTX 3060 alone"
    assert not any(label.startswith("Divide the layers") for label in labels)

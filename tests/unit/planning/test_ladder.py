"""The ways in which a training fits: which there are, in which order, and what they change."""

import pytest

from gpupanel.domain.data import DigitsData, ImagesData
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.ladder import Ladder, Rung
from gpupanel.domain.model import MlpModel, ModelSettings, PythonModel, ResNetModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.stages import placement_of
from gpupanel.domain.step_memory import LayerMemory, MemoryPeak, StepMemory, StepVariant
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import Recompute, TrainingSettings
from gpupanel.planning.context import Known, planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.ladder.rungs import ladder
from gpupanel.planning.memory_estimate import memory_estimate
from gpupanel.planning.prepare import prepare
from gpupanel.planning.stage_memory import stage_step
from gpupanel.planning.step_time import step_seconds
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.step_variants import LARGE, VARIANTS, large_step

BOTH = DeviceSettings(visible=(RTX_4090.key, RTX_3060.key))
KNOWN = Known(step=LARGE, variants=VARIANTS)


def profile(kind: str = "mirrored", batch: int = 128, **parts: object) -> Profile:
    given = {
        "devices": BOTH,
        "strategy": StrategySettings(kind=StrategyKind(kind)),
        "training": TrainingSettings(global_batch_size=batch),
        "model": MlpModel(),
        "data": DigitsData(),
        **parts,
    }
    return Profile(**given)


def ways(
    profile: Profile, known: Known = KNOWN, inventory: DeviceInventory = TWO_UNEQUAL
) -> Ladder:
    return ladder(profile, inventory, known)


def titles(rungs: tuple[Rung, ...]) -> list[str]:
    return [rung.title for rung in rungs]


def test_that_each_way_fits_starts_and_holds_what_is_said() -> None:
    chosen = profile()
    found = ways(chosen)
    as_it_is, *others = found.rungs
    assert (as_it_is.title, as_it_is.fits, as_it_is.fix, as_it_is.time) == (
        "As it is",
        False,
        None,
        1.0,
    )
    fitting = [rung for rung in others if rung.fits]
    assert fitting
    assert [rung.fits for rung in others] == sorted((rung.fits for rung in others), reverse=True)
    for rung in fitting:
        assert rung.fix is not None
        changed = apply_fix(chosen, rung.fix)
        context = planning_context(changed, TWO_UNEQUAL, KNOWN)
        assert memory_estimate(context) == rung.memory
        assert all(memory.fits for memory in rung.memory)
        assert prepare(changed, TWO_UNEQUAL, KNOWN).is_startable
        assert changed.training.global_batch_size == 128


def test_that_the_quickest_stands_first_and_nothing_is_done_that_is_not_needed() -> None:
    found = ways(profile()).fitting
    times = [rung.time for rung in found]
    assert times == sorted(times)
    parts = [frozenset(rung.title.lower().split(" + ")) for rung in found]
    for place, some in enumerate(parts):
        assert not any(quicker <= some for quicker in parts[:place])


def _seconds(step: StepMemory, parts: int) -> float:
    training = TrainingSettings(global_batch_size=64, accumulation_steps=parts)
    context = planning_context(
        profile("one_device", training=training), TWO_UNEQUAL, Known(step=step)
    )
    found = step_seconds(context)
    assert found is not None
    return found


def test_that_parts_of_a_batch_take_longer_the_more_weights_they_read() -> None:
    convolutions = large_step(1, 4, operations=2_000_000_000, layers=4)
    assert 1.0 < _seconds(convolutions, 8) / _seconds(convolutions, 1) < 1.3
    # Dense layers: each weight is read, and computes once, for each example.
    dense = large_step(1, 40, operations=6 * 10_000_000, layers=3)
    assert _seconds(dense, 8) / _seconds(dense, 1) > 2.0


def test_that_every_kind_of_way_is_tried() -> None:
    found = " ".join(titles(ways(profile(batch=64)).rungs)).lower()
    for part in ("recomputed activations", "mixed precision", "shares", "weights on the host"):
        assert part in found
    found = " ".join(titles(ways(profile(model=ResNetModel())).rungs)).lower()
    assert "pipeline over 2 devices" in found
    alone = " ".join(titles(ways(profile("one_device", batch=100)).rungs)).lower()
    assert "accumulation steps" in alone
    assert "a copy on each device" in alone


def test_that_a_batch_normalisation_that_sees_less_is_said() -> None:
    model: ModelSettings = ResNetModel()
    found = ways(profile("one_device", model=model)).fitting
    smaller = [rung for rung in found if "micro-batches" in rung.title or "steps" in rung.title]
    assert smaller
    assert all("batch normalisation" in rung.result for rung in smaller)
    mixed = [rung for rung in found if "ixed precision" in rung.title]
    assert all("16 bits" in rung.result for rung in mixed)
    plain = ways(profile("one_device")).fitting
    assert any(not rung.result for rung in plain)


def test_that_what_is_chosen_already_is_not_offered_again() -> None:
    training = TrainingSettings(
        global_batch_size=128, recompute=Recompute.BLOCKS, mixed_precision=True
    )
    found = " ".join(titles(ways(profile(training=training)).rungs)).lower()
    assert "recomputed" not in found
    assert "mixed" not in found


def test_that_nothing_fits_where_no_example_does() -> None:
    huge = large_step(40_000, 10)
    only = (StepVariant(mixed_precision=False, recomputes=False, step=huge),)
    found = ways(profile("one_device", batch=8), Known(step=huge, variants=only))
    assert found.fitting == ()
    assert found.rungs[0].largest_batch == 0


def test_that_the_larger_card_alone_is_a_way_where_one_example_fits_nowhere_else() -> None:
    large = large_step(12_000, 10, layers=0)
    only = (StepVariant(mixed_precision=False, recomputes=False, step=large),)
    for shares in ((3, 1), "equal"):
        strategy = StrategySettings(kind=StrategyKind.MULTI_WORKER, shares=shares)
        found = ways(profile(batch=4, strategy=strategy), Known(step=large, variants=only))
        assert "RTX 4090 alone" in found.fitting[0].title
    alone = profile("one_device", batch=4, model=ResNetModel(batch_norm_synchronized=True))
    (first, *_) = ways(alone, Known(step=large, variants=only)).fitting
    assert first.title == "4 accumulation steps"


def test_that_workers_that_never_wait_take_smaller_parts() -> None:
    server = StrategySettings(kind=StrategyKind.PARAMETER_SERVER)
    found = ways(profile(batch=64, strategy=server))
    assert any("accumulation steps" in rung.title for rung in found.fitting)


def test_that_nothing_is_said_where_the_step_is_not_known() -> None:
    assert ways(profile(), Known()) == Ladder()
    unknown = tuple(each.model_copy(update={"step": None}) for each in VARIANTS)
    assert ways(profile(), Known(variants=unknown)) == Ladder()
    assert ways(profile(devices=DeviceSettings(visible=("GPU-none",)))) == Ladder()


def test_that_a_model_without_blocks_is_not_recomputed() -> None:
    kept = tuple(
        each.model_copy(update={"step": None}) if each.recomputes else each for each in VARIANTS
    )
    found = ways(profile(), Known(step=LARGE, variants=kept))
    assert not any("ecomputed" in title for title in titles(found.rungs))
    code = profile(model=PythonModel(path="/m.py"))
    assert not any("ecomputed" in title for title in titles(ways(code).rungs))


def test_that_placed_layers_are_placed_anew() -> None:
    assert ways(profile("model_parallel", batch=8, model=ResNetModel())).rungs[0].fits
    chosen = profile("model_parallel", batch=64, model=ResNetModel())
    found = ways(chosen)
    pipeline = next(rung for rung in found.fitting if "ipeline" in rung.title)
    changed = apply_fix(chosen, pipeline.fix)
    assert changed.strategy.pipeline
    assert isinstance(changed.strategy.placement, dict)
    assert set(changed.strategy.placement.values()) == {0, 1}
    unknown = tuple(
        each.model_copy(update={"step": each.step and each.step.model_copy(update={"layers": ()})})
        for each in VARIANTS
    )
    assert ways(chosen, Known(step=LARGE, variants=unknown)).fitting == ()


def test_that_the_largest_images_are_told() -> None:
    data = ImagesData(path="/images", image_size=(64, 64))
    preview = DataPreview(feature_shape=(64, 64, 3), training_count=1_000, example_count=1_000)
    chosen = profile("one_device", batch=32, data=data, model=ResNetModel())
    found = ladder(chosen, TWO_UNEQUAL, Known(preview=preview, step=LARGE, variants=VARIANTS))
    assert found.largest_side is not None
    # 64 examples of 300 MiB fill the card: those of 32 may be about as much larger.
    assert 64 < found.largest_side < 128
    flat = ladder(
        chosen.model_copy(update={"model": MlpModel()}),
        TWO_UNEQUAL,
        Known(preview=preview, step=LARGE, variants=VARIANTS),
    )
    assert flat.largest_side is None
    digits = ways(chosen.model_copy(update={"data": DigitsData()}))
    assert digits.largest_side is None


def test_that_the_processor_is_no_graphics_card() -> None:
    chosen = profile("one_device", batch=8, devices=DeviceSettings(visible=("cpu",)))
    found = ways(chosen, inventory=CPU_ONLY)
    mixed = [rung for rung in found.rungs if rung.title == "Mixed precision"]
    assert all(rung.time is not None and rung.time > 1.0 for rung in mixed)


def test_that_a_device_without_examples_takes_no_time() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(128, 0))
    found = ways(profile(strategy=strategy))
    assert found.rungs[0].time == 1.0
    assert {each.device for each in found.rungs[0].memory} == {RTX_4090.key}


def test_that_devices_are_named() -> None:
    assert ways(profile()).device_names[RTX_4090.key] == "RTX 4090"


def test_that_layers_given_by_hand_are_estimated_one_by_one() -> None:
    names, bare = [layer.name for layer in LARGE.layers], large_step(1, 1, layers=0)
    strategy = StrategySettings(
        kind=StrategyKind.MODEL_PARALLEL,
        placement={names[0]: 0, names[5]: 1},
        pipeline=True,
    )
    training = TrainingSettings(global_batch_size=32, accumulation_steps=8)
    chosen = profile(strategy=strategy, training=training, model=ResNetModel())
    first, second = memory_estimate(planning_context(chosen, TWO_UNEQUAL, KNOWN))
    assert (first.weights_mib, second.weights_mib) == (
        pytest.approx(1_500 / 4, abs=1),
        pytest.approx(1_500 * 3 / 4, abs=1),
    )
    assert (first.examples, second.examples) == (4, 4)
    # When its last gradients come the first device holds another micro-batch of its five layers.
    kept_mib = 0.8 * 300 / 20
    assert first.activations_mib == pytest.approx(4 * (5 + 2) * kept_mib, rel=0.02)
    in_turn = chosen.model_copy(
        update={"strategy": strategy.model_copy(update={"pipeline": False})}
    )
    alone, _ = memory_estimate(planning_context(in_turn, TWO_UNEQUAL, KNOWN))
    assert alone.activations_mib < first.activations_mib
    assert memory_estimate(planning_context(in_turn, TWO_UNEQUAL, Known(step=bare))) == ()
    wrong = strategy.model_copy(update={"placement": {"none": 0}})
    refused = chosen.model_copy(update={"strategy": wrong})
    assert memory_estimate(planning_context(refused, TWO_UNEQUAL, KNOWN)) == ()


def test_that_activations_that_are_computed_again_are_there_with_those_of_their_block() -> None:
    kept = MemoryPeak(fixed_bytes=0, bytes_per_example=1)
    again = MemoryPeak(fixed_bytes=0, bytes_per_example=10)
    most = (MemoryPeak(fixed_bytes=0, bytes_per_example=20),)
    layers = [
        LayerMemory(name=f"{number}", kept=kept, again=again, most=most, block=number // 2)
        for number in range(4)
    ]
    step = large_step(1, 1, layers=0)
    part = stage_step(step, layers, received=100, at_once=1, is_first=False)
    # The last one: two of another block, one of its own, itself, and what came in.
    assert max(peak.bytes_per_example for peak in part.peaks) == 100 + 2 * 1 + 10 + 20
    assert (part.example_bytes, step.example_bytes) == (0, 600_000)


def test_that_stages_are_the_layers_on_each_device() -> None:
    names = [layer.name for layer in LARGE.layers]
    strategy = StrategySettings(
        kind=StrategyKind.MODEL_PARALLEL, placement={names[0]: 0, names[15]: 1}
    )
    chosen = profile(strategy=strategy, batch=8, model=ResNetModel())
    found = prepare(chosen, TWO_UNEQUAL, KNOWN)
    assert [stage.layers for stage in found.stages] == [tuple(names[:15]), tuple(names[15:])]
    assert [stage.work for stage in found.stages] == [0.75, 0.25]
    assert found.balanced_placement == placement_of(found.stages, (10, 10))
    assert prepare(chosen, TWO_UNEQUAL).stages == ()
    assert prepare(profile(), TWO_UNEQUAL, KNOWN).stages == ()


def test_that_a_slower_device_gets_fewer_layers_and_needs_longer() -> None:
    speeds = {RTX_4090.key: 300.0, RTX_3060.key: 100.0}
    known = Known(step=LARGE, variants=VARIANTS, speeds=speeds)
    strategy = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement="auto")
    chosen = profile(strategy=strategy, batch=8, model=ResNetModel())
    found = prepare(chosen, TWO_UNEQUAL, known)
    assert found.balanced_placement == placement_of(found.stages, (15, 5))
    even = StrategySettings(kind=StrategyKind.MIRRORED, shares=(64, 64))
    more = StrategySettings(kind=StrategyKind.MIRRORED, shares=(96, 32))
    evenly, mostly = (
        step_seconds(planning_context(profile(strategy=each), TWO_UNEQUAL, known))
        for each in (even, more)
    )
    assert evenly is not None
    assert mostly is not None
    assert mostly < 0.8 * evenly


def test_that_the_optimizers_state_is_divided_where_replicas_keep_the_same() -> None:
    # Of 5 GiB of weights Adam keeps 10: neither card has room for all, and half of it fits both.
    heavy = large_step(1, 2_400, layers=0)
    only = (StepVariant(mixed_precision=False, recomputes=False, step=heavy),)
    chosen = profile(batch=8)
    found = ways(chosen, Known(step=heavy, variants=only))
    divided = next(rung for rung in found.fitting if "ptimizer state divided" in rung.title)
    assert divided.result == ""
    changed = apply_fix(chosen, divided.fix)
    assert changed.strategy.optimizer_state == "sharded"
    large, small = divided.memory
    assert large.optimizer_mib > small.optimizer_mib > 0
    assert large.optimizer_mib + small.optimizer_mib == pytest.approx(2 * 2_400, rel=0.01)
    sgd = TrainingSettings(global_batch_size=8, optimizer="sgd")
    plain = ways(profile(training=sgd), Known(step=heavy, variants=only))
    assert not any("divided" in title for title in titles(plain.rungs))

"""The examples that a GPU gets a copy of are counted, and stay on the host where they do not fit.

The figures are of TensorFlow's own GPU code: 12,000 images of 28 x 28, whose pixels are halves
there, under a limit of 20 MiB, where the copy left no room for a batch of any size.
"""

import pytest

from gpupanel.domain.data import DataCache, DataSettings, DigitsData, KerasData
from gpupanel.domain.data_on_device import fits_on_device
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.step_memory import MemoryPeak, StepMemory
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.batch_targets import batch_targets
from gpupanel.planning.context import Known, planning_context
from gpupanel.planning.memory_estimate import with_data_placed
from gpupanel.planning.prepare import Preparation, prepare
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

MIB = 2**20
SMALL, LARGE = RTX_3060.key, RTX_4090.key
STEP = StepMemory(
    peaks=(MemoryPeak(fixed_bytes=203_560, bytes_per_example=3_976),),
    example_bytes=788,
    feature_bytes=784,
    kept_bytes=2 * 784 + 4,
    weight_bytes=203_560,
    trainable_bytes=203_560,
)
IMAGES = DataPreview(
    example_count=12_000,
    training_count=9_600,
    trained_count=9_600,
    held_out_count=2_400,
    feature_shape=(28, 28),
)
COPY_MIB = 12_000 * (2 * 784 + 4) / MIB


def profile(limit_mib: int = 20, **parts: object) -> Profile:
    given = {
        "devices": DeviceSettings(visible=(SMALL,)),
        "memory": {SMALL: LimitedMemory(limit_mib=limit_mib, growth=True)},
        "training": TrainingSettings(global_batch_size=100),
        "data": DigitsData(validation_fraction=0.2),
        **parts,
    }
    return Profile(**given)


def prepared(
    profile: Profile,
    preview: DataPreview | None = IMAGES,
    inventory: DeviceInventory = TWO_UNEQUAL,
    step: StepMemory = STEP,
) -> Preparation:
    return prepare(profile, inventory, Known(preview=preview, step=step))


def on_host(preparation: Preparation) -> list[bool | None]:
    assert preparation.plan is not None
    return [replica.data_on_host for replica in preparation.plan.replicas]


def test_that_a_copy_that_fits_is_counted() -> None:
    roomy = prepared(profile(100))
    assert on_host(roomy) == [False]
    assert roomy.memory[0].data_mib == pytest.approx(COPY_MIB)
    without = prepared(profile(100), None)
    more = roomy.memory[0].total_mib - without.memory[0].total_mib
    assert more == pytest.approx(COPY_MIB)
    assert roomy.problems == ()


def test_that_a_copy_that_does_not_fit_stays_on_the_host_and_is_said_so() -> None:
    tight = prepared(profile())
    assert on_host(tight) == [True]
    # Those of a call and of the next one are brought there.
    assert tight.memory[0].data_mib == 2 * 20 / 16
    (hint,) = tight.problems
    assert (hint.code, hint.is_error) == ("data_left_on_host", False)
    assert hint.message == (
        "The examples stay in the host's memory: a copy takes 18 MiB, too much of what weights "
        "leave of RTX 3060."
    )
    assert tight.largest_batch == 2_746


def test_that_each_gpu_is_asked_for_itself() -> None:
    memory = {
        LARGE: LimitedMemory(limit_mib=512, growth=True),
        SMALL: LimitedMemory(limit_mib=20, growth=True),
    }
    both = profile(
        devices=DeviceSettings(visible=(LARGE, SMALL)),
        memory=memory,
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=(75, 25)),
    )
    found = prepared(both)
    assert on_host(found) == [False, True]
    assert [round(each.data_mib) for each in found.memory] == [18, 2]
    assert on_host(prepared(profile(memory={}))) == [False]


@pytest.mark.parametrize(
    ("data", "preview", "copied"),
    [
        (DigitsData(validation_fraction=0.2), IMAGES, 12_000),
        (
            DigitsData(validation_fraction=0.2),
            IMAGES.model_copy(update={"test_example_count": 2_000}),
            14_000,
        ),
        (
            DigitsData(validation_fraction=0.2),
            IMAGES.model_copy(update={"training_count": 400_000}),
            402_400,
        ),
    ],
    ids=["training and validation", "a test set", "a large set"],
)
def test_that_every_set_that_is_kept_counts(
    data: DataSettings, preview: DataPreview, copied: int
) -> None:
    (memory,) = prepared(profile(2_000, data=data), preview).memory
    assert memory.data_mib == pytest.approx(copied * STEP.kept_bytes / MIB)


def test_that_a_test_set_that_validates_counts_once() -> None:
    preview = IMAGES.model_copy(update={"test_example_count": 2_400})
    validating = KerasData(source="mnist")
    assert validating.may_validate_on_test_set
    (memory,) = prepared(profile(2_000, data=validating), preview).memory
    assert memory.data_mib == pytest.approx(12_000 * STEP.kept_bytes / MIB)


def test_that_neither_the_cpu_nor_workers_of_a_parameter_server_get_a_copy() -> None:
    cpu = profile(devices=DeviceSettings(visible=("cpu",)), memory={})
    assert on_host(prepared(cpu, inventory=CPU_ONLY)) == [None]
    assert prepared(cpu, inventory=CPU_ONLY).memory[0].data_mib == 0.0
    served = profile(strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER), memory={})
    assert {each.data_mib for each in prepared(served).memory} == {0.0}


def test_that_a_gpu_that_does_not_tell_its_memory_gets_a_copy() -> None:
    silent = RTX_3060.model_copy(update={"memory_total_mib": None})
    inventory = DeviceInventory(devices=(silent, CPU))
    assert on_host(prepared(profile(memory={}), inventory=inventory)) == [False]


def test_that_weights_on_the_host_leave_more_room() -> None:
    strategy = StrategySettings(kind=StrategyKind.CENTRAL_STORAGE)
    step = STEP.model_copy(update={"weight_bytes": 10 * MIB, "trainable_bytes": 10 * MIB})
    chosen = profile(97, strategy=strategy)
    assert on_host(prepared(chosen, step=step)) == [False]
    assert on_host(prepared(profile(97), step=step)) == [True]  # Adam takes 20 MiB more


def test_that_a_batch_is_looked_for_beside_the_copy() -> None:
    def rooms(preview: DataPreview | None, limit_mib: int = 1_000) -> list[int]:
        chosen = profile(limit_mib)
        context = planning_context(chosen, TWO_UNEQUAL, Known(preview=preview, step=STEP))
        return [target.room_mib for target in batch_targets(context)]

    assert rooms(None) == [1_000]
    assert rooms(IMAGES) == [1_000 - 18]
    assert rooms(IMAGES, 70) == [70]  # it is not copied there
    nothing = planning_context(
        Profile(), DeviceInventory(devices=()), Known(preview=IMAGES, step=STEP)
    )
    assert with_data_placed(nothing) is None


def test_that_examples_that_are_read_step_by_step_take_two_calls() -> None:
    streamed = DigitsData(cache=DataCache.NONE)
    roomy = profile(memory={}, data=streamed)
    (memory,) = prepared(roomy).memory
    assert memory.data_mib == pytest.approx(2 * 9_600 * 784 / MIB)
    many = IMAGES.model_copy(update={"training_count": 10**6})
    assert prepared(roomy, many).memory[0].data_mib == 2 * 128
    # Under a limit a call carries less, so that its steps have room.
    assert prepared(profile(64, data=streamed), many).memory[0].data_mib == 2 * 4
    # A step that alone carries more is brought while the one before it computes, too.
    batch = TrainingSettings(global_batch_size=20_000)
    large = prepared(profile(64, data=streamed, training=batch), many)
    assert large.memory[0].data_mib == pytest.approx(2 * 20_000 * STEP.feature_bytes / MIB)
    cpu = profile(devices=DeviceSettings(visible=("cpu",)), memory={}, data=streamed)
    assert prepared(cpu, inventory=CPU_ONLY).memory[0].data_mib == 0.0


def test_that_data_takes_a_quarter_of_what_is_left_where_nobody_knows_what_a_step_holds() -> None:
    assert fits_on_device(25 * MIB, 100 * MIB)
    assert not fits_on_device(26 * MIB, 100 * MIB)
    assert not fits_on_device(1, -5.0)


def test_that_data_takes_what_a_step_is_estimated_to_leave() -> None:
    assert fits_on_device(836 * MIB, 1_000 * MIB, 80 * MIB)
    assert not fits_on_device(837 * MIB, 1_000 * MIB, 80 * MIB)


def test_that_a_large_set_stays_on_a_gpu_as_long_as_the_batch_leaves_room_for_it() -> None:
    many = IMAGES.model_copy(update={"training_count": 400_000})
    copy_mib = 402_400 * STEP.kept_bytes / MIB
    for batch, kept in ((100, True), (40_000, True), (100_000, False)):
        chosen = profile(1_000, training=TrainingSettings(global_batch_size=batch))
        found = prepared(chosen, many)
        assert on_host(found) == [not kept]
        assert (found.memory[0].data_mib == pytest.approx(copy_mib)) == kept
        assert found.memory[0].fits

"""Hypothesis strategies for the values that the panels edit, and plans to be shown."""

from hypothesis import strategies as st

from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.data import (
    MOST_CLASSES,
    DataCache,
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    TableData,
    Target,
)
from gpupanel.domain.decoded_images import GREATEST_SIDE
from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.model import CnnModel, MlpModel, PythonModel, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.schedule import ScheduleKind, ScheduleSettings
from gpupanel.domain.strategy import AllReduce, OptimizerState, StrategyKind, StrategySettings
from gpupanel.domain.training import (
    CheckpointPace,
    HalfPrecision,
    Loss,
    Recompute,
    TrainingSettings,
)
from gpupanel.domain.value import GREATEST_COUNT

COUNTS = st.integers(1, GREATEST_COUNT)
FRACTIONS = st.floats(0.0, 1.0, exclude_max=True)
BETAS = st.floats(0.0, 1.0, exclude_min=True, exclude_max=True)
UNITS = st.lists(st.integers(1, 4096), max_size=5).map(tuple)

SCHEDULES = st.builds(
    ScheduleSettings,
    kind=st.sampled_from(ScheduleKind),
    every_epochs=COUNTS,
    factor=BETAS,
    warmup_epochs=st.floats(0.0, 1e6),
    rise=BETAS,
    least=FRACTIONS,
    patience_epochs=COUNTS,
)
TRAININGS = st.builds(
    TrainingSettings,
    epochs=COUNTS,
    global_batch_size=COUNTS,
    accumulation_steps=COUNTS,
    optimizer=st.sampled_from(Optimizer),
    learning_rate=st.floats(1e-30, 1e30),
    schedule=SCHEDULES,
    momentum=FRACTIONS,
    nesterov=st.booleans(),
    weight_decay=st.none() | st.floats(0.0, 1e3),
    beta_1=st.none() | BETAS,
    beta_2=st.none() | BETAS,
    epsilon=st.none() | st.floats(1e-30, 1e30),
    ema=st.none() | BETAS,
    loss=st.sampled_from(Loss),
    focal_gamma=st.floats(0.0, 10.0, exclude_min=True),
    label_smoothing=FRACTIONS,
    clip_norm=st.none() | st.floats(1e-30, 1e30),
    max_restarts=st.integers(0, 100),
    out_of_memory_retries=st.integers(0, 10),
    checkpoint_every_minutes=st.none() | st.floats(0.0, 1e6, exclude_min=True),
    checkpoints_kept=COUNTS,
    keep=st.none() | st.sampled_from(Keep),
    best_metric=st.sampled_from(BestMetric),
    keep_best_checkpoint=st.booleans(),
    mixed_precision=st.booleans(),
    half_precision=st.sampled_from(HalfPrecision),
    recompute=st.sampled_from(Recompute) | st.lists(st.text(), max_size=9).map(tuple),
    jit_compile=st.booleans(),
    deterministic=st.booleans(),
    seed=st.integers(0, 2**31 - 1),
    validate_every=COUNTS,
    checkpoint_every_epochs=st.sampled_from(CheckpointPace) | st.integers(0, 100),
    early_stopping_patience=st.none() | COUNTS,
    tensorboard=st.booleans(),
)
_NORMED = {
    "hidden": UNITS,
    "dropout": FRACTIONS,
    "batch_norm": st.booleans(),
    "batch_norm_synchronized": st.booleans(),
}
MODELS = (
    st.builds(MlpModel, **_NORMED)
    | st.builds(CnnModel, filters=UNITS.filter(bool), **_NORMED)
    | st.builds(SavedModel, path=st.text())
    | st.builds(PythonModel, path=st.text())
)
STRATEGIES = st.builds(
    StrategySettings,
    kind=st.sampled_from(StrategyKind),
    shares=st.sampled_from(["equal", "balanced"])
    | st.lists(st.integers(0, 4096), max_size=9).map(tuple),
    all_reduce=st.sampled_from(AllReduce),
    workers=st.none() | st.integers(1, 9),
    parameter_servers=st.none() | st.integers(1, 9),
    optimizer_state=st.sampled_from(OptimizerState)
    | st.lists(st.integers(0, 99), min_size=1, max_size=9).map(tuple),
    pipeline=st.booleans(),
    devices_per_replica=st.none() | st.integers(1, 9),
    placement=st.none() | st.just("auto") | st.dictionaries(st.text(), st.integers(0, 9)),
)
_COMMON = {
    "validation_fraction": st.none() | FRACTIONS,
    "shuffle": st.booleans(),
    "cache": st.sampled_from(DataCache),
}
DATA = (
    st.builds(DigitsData, **_COMMON)
    | st.builds(KerasData, source=st.sampled_from(["mnist", "cifar100", "imdb"]), **_COMMON)
    | st.builds(
        NpzData,
        path=st.text(),
        features=st.text(),
        labels=st.text(),
        class_count=st.none() | st.integers(1, MOST_CLASSES),
        **_COMMON,
    )
    | st.builds(
        ImagesData,
        path=st.text(),
        image_size=st.tuples(*[st.integers(1, GREATEST_SIDE)] * 2),
        color=st.sampled_from(["rgb", "grayscale"]),
        **_COMMON,
    )
    | st.builds(
        TableData,
        path=st.text(),
        target=st.none() | st.text(min_size=1) | st.lists(st.text(min_size=1), max_size=3),
        ignore=st.lists(st.text(min_size=1), max_size=3).map(tuple),
        delimiter=st.sampled_from([None, ";", "\t"]),
        **_COMMON,
    )
    | st.builds(PythonData, path=st.text(), predicts=st.sampled_from(Target), **_COMMON)
)


def gpu(number: int, name: str, memory_total_mib: int = 24576) -> PhysicalDevice:
    """A GPU that is only known, not there."""
    return PhysicalDevice(
        key=f"GPU-{number}", kind=DeviceKind.GPU, name=name, memory_total_mib=memory_total_mib
    )


CPU = PhysicalDevice(key="cpu", kind=DeviceKind.CPU, name="A Processor", memory_total_mib=65536)
TWO_GPUS = DeviceInventory(
    driver="560.1",
    devices=(
        gpu(0, "NVIDIA GeForce RTX 4090"),
        gpu(1, "NVIDIA GeForce RTX 3060", 12288),
        CPU,
    ),
)


def mirrored(shares: str | tuple[int, ...] = "equal", batch: int = 64) -> Profile:
    """Training on all devices with these shares."""
    return Profile(
        strategy=StrategySettings(kind=StrategyKind.MIRRORED, shares=shares),
        training=TrainingSettings(global_batch_size=batch),
        devices=DeviceSettings(),
    )

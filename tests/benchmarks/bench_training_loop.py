"""The loop against Keras's ``fit``, and against a loop that does nothing but steps.

``python bench_training_loop.py [CASE]...``: each case in a process of its own; within it the sides
take turns, and the ratios are medians over the rounds. Examples per second are those of training,
graphs traced and optimised.

``fit`` is written as people write it: ``compile``, a ``tf.data`` pipeline with ``batch``, ``fit``.
Nothing but steps means a hand-written ``tf.function`` that does a hundred steps a call on data in
memory, in the data's own order. Wanted for the small networks: 2.0 times ``fit`` with the same loss
to 1 %, 0.85 of nothing but steps; the loop reports, and saves a checkpoint an epoch. Steps of the
architectures take so long that a loop can add little to them or take from them.
"""

import dataclasses
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpupanel.domain.data import NpzData
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.events import CheckpointSaved, EpochDone, KnownEvent, StepsDone
from gpupanel.domain.model import ApplicationModel, CnnModel, MlpModel
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedReplica
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.training import TrainingSettings

ENVIRONMENT = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}


@dataclass(frozen=True)
class Case:
    """What is trained, and on how many logical devices of the CPU."""

    title: str
    model: MlpModel | CnnModel | ApplicationModel
    shape: tuple[int, ...]
    examples: int
    batch: int
    replicas: int = 1
    epochs: int = 3
    rounds: int = 5


def architecture(name: str, replicas: int = 1) -> Case:
    """One of ``keras.applications``; batch normalisation as ``fit`` has it, on each replica."""
    model = ApplicationModel(source=name, batch_norm_synchronized=False)
    title = f"{name} 64x64, batch 16, {replicas} logical device{'s' if replicas > 1 else ''}"
    # Few: they take long, and hardly depend on the loop.
    return Case(title, model, (64, 64, 3), 96, 16, replicas=replicas, epochs=2, rounds=1)


MLP = MlpModel(hidden=(128,))
CNN = CnnModel(filters=(32,))
CASES = {
    "dense": Case("784-128-10, batch 64, one device", MLP, (784,), 60_000, 64),
    "cnn": Case("CNN 28x28, batch 32, one device", CNN, (28, 28, 1), 9_600, 32),
    "cnn-mirrored": Case(
        "CNN 28x28, batch 32, two logical devices", CNN, (28, 28, 1), 9_600, 32, replicas=2
    ),
    "ResNet50": architecture("ResNet50"),
    "ResNet50-mirrored": architecture("ResNet50", replicas=2),
    "EfficientNetB0": architecture("EfficientNetB0"),
    "EfficientNetB0-mirrored": architecture("EfficientNetB0", replicas=2),
}


@dataclass(frozen=True)
class Result:
    """Of one side in one round.

    Attributes:
        loss: Mean of the last epoch's steps.
    """

    examples_per_second: float
    loss: float


Side = Callable[[], Result]


def learnable(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Classes that can be told apart but for a fifth of the labels, which are drawn by lot."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 10, case.examples)
    centres = random.uniform(60.0, 190.0, (10, *case.shape))
    pixels = centres[labels] + random.normal(0.0, 60.0, (case.examples, *case.shape))
    by_lot = random.random(case.examples) < 0.2
    labels[by_lot] = random.integers(0, 10, by_lot.sum())
    return pixels.clip(0.0, 255.0).astype(np.uint8), labels


def plan_of(case: Case) -> LaunchPlan:
    """As planning makes it for the CPU."""
    several = case.replicas > 1
    cpu = PlannedDevice(key="cpu", kind=DeviceKind.CPU, name="the CPU", index=0)
    if several:
        cpu = cpu.model_copy(update={"logical_limits_mib": (None,) * case.replicas})
    return LaunchPlan(
        environment={},
        devices=(cpu,),
        strategy=StrategyKind.MIRRORED if several else StrategyKind.ONE_DEVICE,
        replicas=tuple(
            PlannedReplica(
                index=index,
                device_key="cpu",
                logical_device=f"/device:CPU:{index}",
                share=case.batch // case.replicas,
            )
            for index in range(case.replicas)
        ),
        global_batch_size=case.batch,
    )


def write_run(folder: Path, case: Case, data: Path) -> RunLayout:
    """A run's directory as the launcher writes it."""
    layout = RunLayout(folder)
    layout.requests.mkdir(parents=True)
    profile = Profile(
        data=NpzData(path=str(data), validation_fraction=0.0),
        model=case.model,
        training=TrainingSettings(
            epochs=case.epochs,
            global_batch_size=case.batch,
        ),
    )
    layout.profile.write_text(dump_profile(profile), encoding="utf-8")
    layout.plan.write_text(plan_of(case).model_dump_json(), encoding="utf-8")
    return layout


def sides_of(case: Case, folder: Path) -> dict[str, Side]:
    """What takes turns; devices are configured and TensorFlow is imported here."""
    import keras
    import tensorflow as tf

    from gpupanel.trainer.datasets.source import Reading, read_data
    from gpupanel.trainer.datasets.split import split
    from gpupanel.trainer.device_configuration import configure_devices
    from gpupanel.trainer.event_writer import EventWriter
    from gpupanel.trainer.interruptions import Interruptions
    from gpupanel.trainer.progress import TrainingRecord
    from gpupanel.trainer.started_run import read_started_run
    from gpupanel.trainer.strategies.make_strategy import make_strategy
    from gpupanel.trainer.training import train

    pixels, labels = learnable(case)
    data = folder / "data.npz"
    np.savez(data, x=pixels, y=labels)
    plan = plan_of(case)
    configure_devices(plan)
    strategy = make_strategy(plan)

    class Watch(EventWriter):
        """Notes when steps began to be reported and when the last epoch was done and saved."""

        def __init__(self, path: Path) -> None:
            super().__init__(path)
            self.first: tuple[float, int] | None = None
            self.last_s = 0.0
            self.loss = 0.0

        def write(self, event: KnownEvent) -> None:
            if isinstance(event, StepsDone) and self.first is None:
                self.first = time.perf_counter(), event.step * case.batch
            super().write(event)
            if isinstance(event, EpochDone | CheckpointSaved):
                self.last_s = time.perf_counter()
            if isinstance(event, EpochDone):
                self.loss = event.metrics.loss

    def loop() -> Result:
        with tempfile.TemporaryDirectory(dir=folder) as name:
            layout = write_run(Path(name) / "run", case, data)
            run = read_started_run(layout)
            parts = split(
                read_data(run.profile.data, Reading(print)),
                run.profile.data,
                run.profile.training.seed,
            )
            with Watch(layout.events) as events:
                train(
                    run,
                    parts,
                    events,
                    Interruptions(layout.requests, events),
                    TrainingRecord(),
                    strategy,
                )
        assert events.first is not None
        first_s, done = events.first
        return Result((case.epochs * case.examples - done) / (events.last_s - first_s), events.loss)

    def architecture_network(model: ApplicationModel) -> keras.Model:
        application = model.application
        family = importlib.import_module(f"keras.applications.{application.family.module}")
        inputs = keras.Input(case.shape)
        base = getattr(keras.applications, application.name)(
            include_top=False, weights=None, input_shape=case.shape
        )
        hidden = keras.layers.GlobalAveragePooling2D()(base(family.preprocess_input(inputs)))
        return keras.Model(inputs, keras.layers.Dense(10, activation="softmax")(hidden))

    def network() -> keras.Model:
        if isinstance(case.model, ApplicationModel):
            return architecture_network(case.model)
        if isinstance(case.model, MlpModel):
            hidden = [keras.layers.Dense(128, activation="relu")]
        else:
            hidden = [
                keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
                keras.layers.MaxPooling2D(2),
                keras.layers.Flatten(),
            ]
        return keras.Sequential(
            [keras.Input(case.shape), *hidden, keras.layers.Dense(10, activation="softmax")]
        )

    # An architecture scales its images itself.
    divisor = 1.0 if isinstance(case.model, ApplicationModel) else 255.0
    scaled = (pixels / divisor).astype(np.float32)

    def fit() -> Result:
        with strategy.scope():
            model = network()
            model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        batches = tf.data.Dataset.from_tensor_slices((scaled, labels)).batch(case.batch)
        warm = tf.data.Dataset.from_tensor_slices((scaled[: case.batch], labels[: case.batch]))
        model.fit(warm.batch(case.batch), verbose=0)
        start_s = time.perf_counter()
        history = model.fit(batches, epochs=case.epochs, verbose=0).history
        took_s = time.perf_counter() - start_s
        return Result(case.epochs * case.examples / took_s, history["loss"][-1])

    def nothing_but_steps() -> Result:
        with strategy.scope():
            model = network()
            optimizer = keras.optimizers.Adam()
            optimizer.build(model.trainable_variables)
        features, targets = tf.constant(scaled), tf.constant(labels, tf.int32)
        part = case.batch // case.replicas

        def replica_step(first: tf.Tensor) -> tf.Tensor:
            replica = tf.distribute.get_replica_context().replica_id_in_sync_group
            begin = first + part * replica
            x, y = features[begin : begin + part], targets[begin : begin + part]
            with tf.GradientTape() as tape:
                outputs = model(x, training=True)
                losses = keras.losses.sparse_categorical_crossentropy(y, outputs)
                loss = tf.reduce_sum(losses) / case.batch
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        @tf.function
        def steps(first: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
            total = tf.constant(0.0)
            for step in tf.range(count):
                loss = strategy.run(replica_step, args=(first + step * case.batch,))
                total += strategy.reduce(tf.distribute.ReduceOp.SUM, loss, axis=None)
            return total

        def epoch() -> float:
            whole = case.examples // case.batch
            calls = [(begin, min(100, whole - begin)) for begin in range(0, whole, 100)]
            sums = [
                float(steps(tf.constant(begin * case.batch), tf.constant(count)))
                for begin, count in calls
            ]
            return sum(sums) / whole

        steps(tf.constant(0), tf.constant(1))
        start_s = time.perf_counter()
        loss = [epoch() for _ in range(case.epochs)][-1]
        return Result(case.epochs * case.examples / (time.perf_counter() - start_s), loss)

    return {
        "fit": fit,
        "loop": loop,
        "nothing but steps": nothing_but_steps,
    }


def measure(case: Case) -> None:
    """Let the sides take turns and print."""
    done: dict[str, list[Result]] = {}
    with tempfile.TemporaryDirectory() as folder:
        sides = sides_of(case, Path(folder))
        for turn in range(case.rounds + 1):
            for name, side in sides.items():
                result = side()
                if turn > 0:
                    # The first round warms up the machine.
                    done.setdefault(name, []).append(result)

    def ratio(over: str, under: str) -> float:
        pairs = zip(done[over], done[under], strict=True)
        return statistics.median(a.examples_per_second / b.examples_per_second for a, b in pairs)

    print(f"{case.title}, {case.examples:,} examples, {case.epochs} epochs")
    for name, results in done.items():
        speed = statistics.median(result.examples_per_second for result in results)
        loss = statistics.median(result.loss for result in results)
        print(f"  {name:<18} {speed:>9,.0f} examples/s, loss {loss:.4f}")
    # Only of small networks is it the loop that decides.
    is_small = not isinstance(case.model, ApplicationModel)
    wanted = ("  (at least 2.0)", "  (at least 0.85)") if is_small else ("", "")
    print(f"  loop over fit                  {ratio('loop', 'fit'):.2f}{wanted[0]}")
    print(f"  loop over nothing but steps    {ratio('loop', 'nothing but steps'):.2f}{wanted[1]}")


def main() -> None:
    """Measure the cases, each in a process of its own."""
    names = sys.argv[1:] or list(CASES)
    if len(names) == 1:
        rounds = os.environ.get("ROUNDS")
        case = CASES[names[0]]
        measure(case if rounds is None else dataclasses.replace(case, rounds=int(rounds)))
        return
    for name in names:
        subprocess.run([sys.executable, __file__, name], env=ENVIRONMENT, check=True)


if __name__ == "__main__":
    main()

"""What it costs to measure where the time of steps goes: under 1 % of the throughput is wanted.

``python bench_time_spent.py [CASE]...``: each case in a process of its own. The same steps are done
by calls whose graph has clocks where there are several replicas, as in a run, with the account of
the loop fed by each; and by calls whose graph has none. They take turns, several hundred
milliseconds each, and who begins changes from pair to pair; medians over the pairs.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from bench_training_loop import ENVIRONMENT, Case, plan_of

from gpupanel.domain.model import CnnModel, MlpModel

CASES = {
    "dense": Case("784-128-10, batch 64, one device", MlpModel(hidden=(128,)), (784,), 6_400, 64),
    "dense-mirrored": Case(
        "784-128-10, batch 64, two logical devices",
        MlpModel(hidden=(128,)),
        (784,),
        6_400,
        64,
        replicas=2,
    ),
    "cnn-mirrored": Case(
        "CNN 28x28, batch 32, two logical devices",
        CnnModel(filters=(32,)),
        (28, 28, 1),
        3_200,
        32,
        replicas=2,
    ),
}
PAIRS = 41
BLOCK_S = 0.4
CALL_S = 0.05
BOUND = 1.0


def measure(name: str) -> None:
    """Train and print."""
    import keras
    import tensorflow as tf

    from gpupanel.trainer.event_writer import EventWriter
    from gpupanel.trainer.loop.time_account import TimeAccount
    from gpupanel.trainer.models.objectives import Classification
    from gpupanel.trainer.progress import TrainingRecord
    from gpupanel.trainer.steps.calls import Calls
    from gpupanel.trainer.steps.feeds import ResidentFeed
    from gpupanel.trainer.steps.replica_steps import TrainingStep
    from gpupanel.trainer.strategies.make_strategy import make_strategy

    case = CASES[name]
    if case.replicas > 1:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0],
            [tf.config.LogicalDeviceConfiguration()] * case.replicas,
        )
    plan = plan_of(case)
    strategy = make_strategy(plan)
    random = np.random.default_rng(0)
    features = random.normal(size=(case.examples, *case.shape)).astype(np.float32)
    labels = random.integers(0, 10, case.examples).astype(np.int32)
    with strategy.scope():
        layers: list[keras.layers.Layer] = [keras.Input(case.shape)]
        if isinstance(case.model, CnnModel):
            layers += [keras.layers.Conv2D(32, 3, activation="relu"), keras.layers.MaxPooling2D()]
        layers += [
            keras.layers.Flatten(),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(10),
        ]
        model = keras.Sequential(layers)
        optimizer = keras.optimizers.SGD(0.001)
        optimizer.build(model.trainable_variables)
    feed = ResidentFeed(features, labels, plan)

    def calls(*, timed: bool) -> Calls:
        step = TrainingStep(
            model, Classification(), optimizer, micro_batches=1, jit_compile=False, timed=timed
        )
        return Calls(strategy, feed, plan.shares, Classification.size, step, timed=timed)

    plain, timed = calls(timed=False), calls(timed=case.replicas > 1)
    rows = np.arange(case.examples, dtype=np.int32).reshape(-1, case.batch)
    with tempfile.TemporaryDirectory() as folder, EventWriter(Path(folder) / "events") as events:
        account = TimeAccount(events, TrainingRecord(), case.replicas)
        account.restart()
        steps = 1
        for _ in range(3):
            for each in (plain, timed):
                start_s = time.perf_counter()
                each(rows[:steps])
                took_s = time.perf_counter() - start_s
            steps = max(1, min(len(rows), int(CALL_S * steps / took_s)))

        def block(*, measured: bool) -> tuple[float, float]:
            """Steps a second, and steps a second of the processors."""
            done, start_s, start_cpu_s = 0, time.perf_counter(), time.process_time()
            while (seconds := time.perf_counter() - start_s) < BLOCK_S:
                sums = (timed if measured else plain)(rows[:steps])
                if measured:
                    account.add(sums)
                    account.report(done)
                done += steps
            return done / seconds, done / (time.process_time() - start_cpu_s)

        ratios, of_processors = [], []
        for pair in range(PAIRS):
            order = (True, False) if pair % 2 else (False, True)
            rates = {measured: block(measured=measured) for measured in order}
            ratios.append(rates[True][0] / rates[False][0])
            of_processors.append(rates[True][1] / rates[False][1])
    cost = 100.0 * (1.0 - statistics.median(ratios))
    spread = statistics.quantiles(ratios, n=4)
    verdict = "within" if cost < BOUND else "beyond"
    print(
        f"{case.title}: {cost:+.2f} % of the throughput ({verdict} {BOUND:.0f} %; quarters "
        f"{100 * (1 - spread[2]):+.1f} to {100 * (1 - spread[0]):+.1f} %), "
        f"{100 * (1 - statistics.median(of_processors)):+.2f} % of the processors' time",
        flush=True,
    )


def main() -> None:
    names = sys.argv[1:] or list(CASES)
    for name in names:
        subprocess.run([sys.executable, __file__, "--here", name], env=ENVIRONMENT, check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        measure(sys.argv[2])
    else:
        main()

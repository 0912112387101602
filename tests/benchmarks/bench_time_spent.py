"""What it costs to measure where the time of steps goes: under 1 % of the throughput is wanted.

``python bench_time_spent.py [CASE]...``: each case in many processes of its own, as one graph may
be faster than its twin by some percent from the start of a process to its end. The same steps are
done by calls that measure as a run does, with the account of the loop fed by each, and by calls
whose graph has no clocks. They take turns, some hundred milliseconds each, and who begins changes;
medians over the turns of a process, then over the processes. Beside it stands what the same
comparison gives of two calls without clocks: what is below that is noise.
"""

import json
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
PROCESSES = 11
PAIRS = 6
BLOCK_S = 0.3
CALL_S = 0.05
BOUND = 1.0


def measure(name: str) -> None:
    """Train and print."""
    import keras
    import tensorflow as tf

    from gpupanel.trainer.datasets.examples import HeldRows
    from gpupanel.trainer.event_writer import EventWriter
    from gpupanel.trainer.loop.time_account import TimeAccount
    from gpupanel.trainer.models.objectives import Classification
    from gpupanel.trainer.progress import TrainingRecord
    from gpupanel.trainer.steps.calls import Calls
    from gpupanel.trainer.steps.data_copies import DataCopies
    from gpupanel.trainer.steps.replica_steps import TrainingStep
    from gpupanel.trainer.steps.resident_feed import ResidentFeed
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
    feed = ResidentFeed(HeldRows(features), labels, plan, DataCopies())
    several = case.replicas > 1

    def calls(*, timed: bool) -> Calls:
        step = TrainingStep(
            model,
            Classification(),
            optimizer,
            seed=7,
            micro_batches=1,
            jit_compile=False,
            timed=timed,
        )
        return Calls(strategy, feed, plan.shares, Classification.size, step, timed=timed)

    plain, plain_too, measuring = (calls(timed=timed) for timed in (False, False, several))
    rows = np.arange(case.examples, dtype=np.int32).reshape(-1, case.batch)
    with tempfile.TemporaryDirectory() as folder, EventWriter(Path(folder) / "events") as events:
        account = TimeAccount(events, TrainingRecord(), case.replicas)
        account.restart()
        steps = 1
        for _ in range(3):
            plain(rows[:steps])
            start_s = time.perf_counter()
            plain(rows[:steps])
            took_s = time.perf_counter() - start_s
            steps = max(1, min(len(rows), int(CALL_S * steps / took_s)))
        for each in (plain_too, measuring):
            for _ in range(3):
                each(rows[:steps])

        def block(calls: Calls) -> float:
            """Steps a second."""
            done, start_s = 0, time.perf_counter()
            while (seconds := time.perf_counter() - start_s) < BLOCK_S:
                begun_s = time.perf_counter()
                sums = calls(rows[:steps])
                if calls is measuring:
                    account.add(sums, time.perf_counter() - begun_s)
                    account.report(done)
                done += steps
            return done / seconds

        rates = []
        for pair in range(PAIRS):
            order = [plain, plain_too, measuring]
            order = order[pair % 3 :] + order[: pair % 3]
            rate = {id(each): block(each) for each in order}
            rates.append([rate[id(each)] for each in (plain, plain_too, measuring)])
    print(json.dumps({"steps_a_call": steps, "rates": rates}))


def report(name: str) -> None:
    """Measure in many processes, and print the medians over them."""
    costs, noises = [], []
    for _ in range(PROCESSES):
        done = subprocess.run(
            [sys.executable, __file__, "--here", name],
            env=ENVIRONMENT,
            check=True,
            capture_output=True,
            text=True,
        )
        answer = json.loads(done.stdout.splitlines()[-1])
        plain, plain_too, measuring = (
            statistics.median(each) for each in zip(*answer["rates"], strict=True)
        )
        costs.append(100.0 * (1.0 - measuring / ((plain + plain_too) / 2)))
        noises.append(100.0 * (1.0 - plain_too / plain))
    lower, cost, upper = statistics.quantiles(costs, n=4)
    noise_lower, noise, noise_upper = statistics.quantiles(noises, n=4)
    verdict = "within" if cost < BOUND else "beyond"
    print(
        f"{CASES[name].title}, {answer['steps_a_call']} steps a call: {cost:+.2f} % of the "
        f"throughput ({verdict} {BOUND:.0f} %; quarters {lower:+.1f} to {upper:+.1f} %); two "
        f"calls without clocks differ by {noise:+.2f} % ({noise_lower:+.1f} to "
        f"{noise_upper:+.1f} %)",
        flush=True,
    )


def main() -> None:
    names = sys.argv[1:] or list(CASES)
    for name in names:
        report(name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        measure(sys.argv[2])
    else:
        main()

"""The one loop against Keras's ``fit``: 784-128-10 network, 60,000 examples, batch 64, one CPU.

Both train for the same number of epochs in a process of their own, one after the other; examples
per second are those of training alone, the first epoch left out on both sides.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from gpupanel.domain.data import NpzData
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.events import TrainingEnded, decode_event
from gpupanel.domain.model import MlpModel
from gpupanel.domain.plan import LaunchPlan, PlannedDevice, PlannedReplica
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.training import TrainingSettings

EPOCHS = 4
BATCH = 64
ENVIRONMENT = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
FIT = """
import sys, time
import numpy as np, keras

arrays = np.load(sys.argv[1])
model = keras.Sequential([
    keras.Input((784,)), keras.layers.Rescaling(1 / 255),
    keras.layers.Dense(128, activation="relu"), keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(arrays["x"], arrays["y"], batch_size=int(sys.argv[3]), verbose=0)
start = time.perf_counter()
epochs = int(sys.argv[2]) - 1
model.fit(arrays["x"], arrays["y"], batch_size=int(sys.argv[3]), epochs=epochs, verbose=0)
print(epochs * len(arrays["y"]) / (time.perf_counter() - start))
"""


def of_fit(data: Path) -> float:
    """Examples per second of Keras's ``fit`` as it is usually written."""
    command = [sys.executable, "-c", FIT, str(data), str(EPOCHS), str(BATCH)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def of_loop(data: Path, root: Path, shares: tuple[int, ...]) -> float:
    """Examples per second of the trainer."""
    layout = RunLayout(root)
    layout.requests.mkdir(parents=True)
    profile = Profile(
        data=NpzData(path=str(data)),
        model=MlpModel(hidden=(128,)),
        training=TrainingSettings(epochs=EPOCHS, global_batch_size=BATCH),
    )
    layout.profile.write_text(dump_profile(profile), encoding="utf-8")
    layout.plan.write_text(plan(shares).model_dump_json(), encoding="utf-8")
    command = [sys.executable, "-m", "gpupanel.trainer", str(root)]
    subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True)
    end = decode_event(layout.events.read_text(encoding="utf-8").splitlines()[-1])
    assert isinstance(end, TrainingEnded)
    assert end.examples_per_second is not None
    return end.examples_per_second


def plan(shares: tuple[int, ...]) -> LaunchPlan:
    """One logical CPU device for each share."""
    several = len(shares) > 1
    device = PlannedDevice(
        key="cpu",
        kind=DeviceKind.CPU,
        name="the CPU",
        index=0,
        logical_limits_mib=tuple(None for _ in shares) if several else (),
    )
    return LaunchPlan(
        environment={},
        devices=(device,),
        strategy=StrategyKind.MIRRORED if several else StrategyKind.ONE_DEVICE,
        replicas=tuple(
            PlannedReplica(
                index=index, device_key="cpu", logical_device=f"/device:CPU:{index}", share=share
            )
            for index, share in enumerate(shares)
        ),
        global_batch_size=BATCH,
    )


def main() -> None:
    """Measure and print."""
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        pixels = random.integers(0, 256, (60_000, 784), dtype=np.uint8)
        np.savez(data, x=pixels, y=random.integers(0, 10, 60_000))
        fit = of_fit(data)
        print(f"Keras fit, one device      {fit:>9,.0f} examples/s")
        for shares in ((64,), (32, 32)):
            loop = of_loop(data, Path(folder) / str(shares), shares)
            print(
                f"the loop, shares {shares!s:<9} {loop:>9,.0f} examples/s, {loop / fit:.1f} x fit"
            )


if __name__ == "__main__":
    main()

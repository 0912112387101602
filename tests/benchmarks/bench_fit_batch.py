"""How long the search for a batch takes, and what it finds, with an artificial budget of memory.

A small convolutional network and a dense one on 6,000 images of 64 x 64 pixels, on the CPU, as
``gpupanel fit-batch`` would try them if so little of the host's memory was free.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

from gpupanel.domain.data import NpzData
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.runs.readiness import Machine, read_machine
from gpupanel.runs.tools.batch_search.search import find_batches

FREE_MIB = (1_900, None)
"""What is free; ``None``: as it is."""
MODELS = {"cnn": CnnModel(filters=(16, 32)), "mlp": MlpModel(hidden=(512,))}


def main() -> None:
    """A line for each network and budget."""
    random = np.random.default_rng(0)
    real = read_machine()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "images.npz"
        images = random.integers(0, 255, (6_000, 64, 64, 3), dtype=np.uint8)
        np.savez(path, x=images, y=random.integers(0, 4, 6_000).astype(np.int32))
        for name, model in MODELS.items():
            for free_mib in FREE_MIB:
                machine = real
                if free_mib is not None:
                    reading = DeviceReading(key=CPU_KEY, memory_free_mib=free_mib)
                    sample = TelemetrySample(time_s=time.time(), readings=(reading,))
                    machine = Machine(real.inventory, sample)
                profile = Profile(
                    devices=DeviceSettings(visible=(CPU_KEY,)),
                    data=NpzData(path=str(path)),
                    model=model,
                )
                start = time.perf_counter()
                found = find_batches(profile, machine, 120.0)
                seconds = time.perf_counter() - start
                (device,) = found.devices
                refused = sum(not trial.fits for trial in device.trials)
                print(
                    f"{name}: {device.room_mib:,} MiB to try in, {seconds:.0f} s, "
                    f"{len(device.trials)} numbers tried, {refused} refused; largest "
                    f"{device.largest:,} ({device.stopped}), fastest {device.fastest or 0:,}, "
                    f"measured over estimated {device.ratio}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

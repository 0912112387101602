"""Ways to fit: whether the quicker of two that are predicted to differ is the quicker one.

Each way of a model is a run of its own on the CPU, all of them in turn, so that what else the
machine does meets each; of each the least time of a step counts. Pairs whose predicted times differ
by less than a tenth are no pairs. Without names as arguments a few models are tried: all of them
(``all``) take hours. Beside it stands the peak of the trainer's process, of which
TensorFlow itself takes most where a model is small.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.step_memory import StepVariant
from gpupanel.planning.context import Known, planning_context
from gpupanel.planning.step_time import step_seconds
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.readiness import read_machine

MODELS = {
    "ResNet": ('source = "resnet"', "images.npz", 64),
    "CNN": ('source = "cnn"\nfilters = [32, 64, 128]\nhidden = [256]', "images.npz", 64),
    "MLP": ('source = "mlp"\nhidden = [2048, 2048]', "images.npz", 64),
    "MobileNetV2": ('source = "MobileNetV2"', "images.npz", 64),
    "EfficientNetB0": ('source = "EfficientNetB0"', "images.npz", 64),
    "ResNet50": ('source = "ResNet50"', "images.npz", 32),
    "DenseNet121": ('source = "DenseNet121"', "images.npz", 32),
    "ConvNeXtTiny": ('source = "ConvNeXtTiny"', "images.npz", 32),
    "VGG16": ('source = "VGG16"', "images.npz", 32),
    "Xception": ('source = "Xception"', "large.npz", 16),
}
WAYS = {
    "as it is": "",
    "8 accumulation steps": "accumulation_steps = 8\n",
    "recomputed": 'recompute = "blocks"\n',
    "recomputed, 8 accumulation steps": 'recompute = "blocks"\naccumulation_steps = 8\n',
}
QUICK = ("ResNet", "CNN", "MLP")
ROUNDS = 2
DIFFERS, RIGHT = 0.1, 0.9


def write_data(folder: Path) -> None:
    drawn = np.random.default_rng(0)
    for name, side in (("images", 32), ("large", 72)):
        pixels = drawn.integers(0, 256, (256, side, side, 3), dtype=np.uint8)
        np.savez(folder / f"{name}.npz", x=pixels, y=np.arange(256) % 2)


def profile_of(folder: Path, model: str, way: str) -> Profile:
    settings, data, batch = MODELS[model]
    return parse_profile(
        'schema_version = 1\ntask = "train"\n[devices]\nvisible = ["cpu"]\n'
        f'[data]\nsource = "npz"\npath = "{folder / data}"\nvalidation_fraction = 0.0\n'
        f"[model]\n{settings}\n[training]\nepochs = 4\nglobal_batch_size = {batch}\n"
        f"{WAYS[way]}checkpoint_every_epochs = 100\n"
    )


def predicted(folder: Path, model: str, way: str) -> float:
    """Seconds of a step."""
    profile = profile_of(folder, model, way)
    file = folder / "asked.toml"
    write_profile(file, profile)
    answer = subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", "summary", file, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    step = json.loads(answer.stdout)["step"]
    variant = StepVariant.model_validate(
        {
            "mixed_precision": False,
            "recomputes": profile.training.recomputes,
            "step": step,
        }
    )
    context = planning_context(profile, read_machine().inventory, Known(variants=(variant,)))
    seconds = step_seconds(context)
    assert seconds is not None
    return seconds


def measured(folder: Path, model: str, way: str) -> tuple[float, float]:
    """Seconds of the quickest step, and MiB that the trainer's process held at the most."""
    runs = Path(tempfile.mkdtemp(dir=folder))
    file = runs / "profile.toml"
    write_profile(file, profile_of(folder, model, way))
    command = [sys.executable, "-P", "-m", "gpupanel", "run", file]
    environment = {**os.environ, "GPUPANEL_RUNS_DIR": str(runs / "runs")}
    held_mib = 0.0
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None:
            held_mib = max(held_mib, trainer_mib(runs))
            time.sleep(0.2)
    assert run.returncode == 0
    (events,) = (runs / "runs").glob("*/events.jsonl")
    found = [json.loads(line) for line in events.read_text().splitlines()]
    times = [
        each["step_time_ms"]
        for each in found
        if each["kind"] == "steps_done" and each["epoch"] > 1 and each.get("step_time_ms")
    ]
    return min(times) / 1000.0, held_mib


def trainer_mib(runs: Path) -> float:
    """What the trainer of a run in that folder holds now."""
    for process in psutil.process_iter(["cmdline", "memory_info"]):
        words = process.info["cmdline"] or ()
        if "gpupanel.trainer" in words and any(str(runs) in word for word in words):
            return process.info["memory_info"].rss / 2**20
    return 0.0


def main() -> int:
    named = sys.argv[1:] or QUICK
    chosen = list(MODELS) if "all" in named else named
    right = pairs = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_data(folder)
        for model in chosen:
            expected = {way: predicted(folder, model, way) for way in WAYS}
            took, held = dict.fromkeys(WAYS, float("inf")), dict.fromkeys(WAYS, 0.0)
            for _ in range(ROUNDS):
                for way in WAYS:
                    seconds, mib = measured(folder, model, way)
                    took[way], held[way] = min(took[way], seconds), max(held[way], mib)
            first, of_first = took["as it is"], expected["as it is"]
            told = "; ".join(
                f"{way} {took[way] / first:.2f} ({expected[way] / of_first:.2f}), "
                f"{held[way]:,.0f} MiB"
                for way in WAYS
            )
            print(
                f"{model}: {1000 * first:.0f} ms; measured (predicted), peak: {told}",
                flush=True,
            )
            for one, other in itertools.combinations(WAYS, 2):
                if abs(expected[one] / expected[other] - 1.0) >= DIFFERS:
                    pairs += 1
                    right += (expected[one] < expected[other]) == (took[one] < took[other])
    print(f"the order of {right} of {pairs} pairs is right")
    return 0 if right >= RIGHT * pairs else 1


if __name__ == "__main__":
    sys.exit(main())

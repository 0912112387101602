"""A run's model, exported and used without gpupanel, predicts what `gpupanel run` predicts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.forked.terminal import answered, gpupanel

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PROFILE = """
schema_version = 1
name = "{task}"
task = "{task}"
[devices]
visible = ["cpu"]
[data]
{data}
[model]
{model}
[training]
epochs = 2
global_batch_size = 16
learning_rate = 0.01
tensorboard = false
[inference]
examples = "all"
output = "npz"
"""


def images(folder: Path) -> tuple[str, list[Path]]:
    random = np.random.default_rng(1)
    for number, name in enumerate(("blue", "green", "red")):
        place = folder / "images" / name
        place.mkdir(parents=True)
        for each in range(12):
            pixels = random.integers(0, 90, (60 + each, 50, 3), np.uint8)
            pixels[..., 2 - number] += 20
            Image.fromarray(pixels).save(place / f"{each:02}.{'jpg' if each % 2 else 'png'}")
    paths = sorted((folder / "images").rglob("*.*"))
    return f'source = "images"\npath = "{folder / "images"}"\nimage_size = [32, 32]', paths


def table(folder: Path) -> tuple[str, list[Path]]:
    random = np.random.default_rng(2)
    lines = ["length,colour,seen,kind"]
    for row in range(80):
        kind = row % 3
        length = "" if row % 9 == 4 else f"{kind + random.random():.4f}"
        colour = ("red", "blue", "green")[random.integers(3)]
        lines.append(f"{length},{colour},2024-0{1 + row % 9}-1{row % 10},{'abc'[kind]}")
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return f'source = "table"\npath = "{path}"\ntarget = "kind"', [path]


def texts(folder: Path) -> tuple[str, list[Path]]:
    random = np.random.default_rng(3)
    for name, words in (("good", "fine great Nice, film"), ("poor", "bad Dull. awful film")):
        place = folder / "texts" / name
        place.mkdir(parents=True)
        for each in range(20):
            chosen = random.choice(words.split(), 2 + each % 9)
            (place / f"{each:02}.txt").write_text(" ".join(chosen))
    paths = sorted((folder / "texts").rglob("*.txt"))
    return f'source = "text"\npath = "{folder / "texts"}"\nvocabulary = 50\nlength = 12', paths


CASES = {
    "images": (images, 'source = "cnn"'),
    "table": (table, 'source = "table"'),
    "texts": (texts, 'source = "transformer"'),
    "mlp of texts": (texts, 'source = "mlp"'),
}


@pytest.mark.parametrize("name", CASES)
def test_that_an_export_predicts_what_the_run_does(tmp_path: Path, name: str) -> None:
    make, model = CASES[name]
    data, paths = make(tmp_path)
    profile = tmp_path / "train.toml"
    profile.write_text(PROFILE.format(task="train", data=data, model=model))
    run = answered(gpupanel("run", profile, "--json"))["run"]
    saved = f'source = "saved"\npath = "{Path(run) / "model.keras"}"'
    profile = tmp_path / "predict.toml"
    profile.write_text(PROFILE.format(task="predict", data=data, model=saved))
    predicted = Path(answered(gpupanel("run", profile, "--json"))["run"]) / "predictions.npz"
    with np.load(predicted) as arrays:
        expected, names = arrays["probabilities"], arrays["class_names"].tolist()
    for form, most in (("savedmodel", 1e-5), ("tflite", 1e-5), ("float16", 2e-2)):
        output = tmp_path / form / ("saved" if form == "savedmodel" else "m.tflite")
        output.parent.mkdir()
        quantize = ("--quantize", form) if form == "float16" else ()
        file_format = "savedmodel" if form == "savedmodel" else "tflite"
        exported = answered(
            gpupanel("export", run, "-o", output, "--format", file_format, *quantize, "--json")
        )
        assert exported["of_data"]
        folder = output if form == "savedmodel" else output.parent
        done = subprocess.run(
            [sys.executable, "-P", str(folder / "predict.py"), "--json", *map(str, paths)],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(done.stdout)
        numbers = np.array([[number for _, number in each["outputs"]] for each in found])
        assert [each for each, _ in found[0]["outputs"]] == names
        assert numbers.shape == expected.shape
        difference = float(np.abs(numbers - expected).max())
        print(f"{name} {form}: {difference:.1e}, largest {exported['largest_difference']:.1e}")
        assert difference < most

"""Training from a folder of JPEGs, against Keras's own way of doing it.

``python bench_image_folder.py [CASE]... [--images N] [--rounds N]``: sides take turns, each in a
process of its own; figures are medians over the rounds of the seconds of an epoch, and their
ratios. Keras's way is ``keras.utils.image_dataset_from_directory`` with ``fit``, as its
documentation writes it. Decoding before the first step counts into the first epoch. Wanted: 1.3
times as fast in the first epoch and 2 times in those that follow; photos 1.6 times in the first.
As many images as are made unless somebody says otherwise take some ten minutes on two cores.

On a CPU most of an epoch is computing: what that takes by itself is an epoch that follows with
``cache = "disk"``, as far as it does not wait. The light case has little to compute: its first
convolution takes every fourth pixel of 7x7, as networks for large images begin. Photos
take so long to decode that making the graphs is a small part of their first epoch. What an image
takes of the processor, which other work on the machine changes less, ``bench_image_processor.py``
measures.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.domain.events import DataProgressed, EpochDone, TrainingEnded, decode_event
from gpupanel.domain.images_data import JpegDecoding
from gpupanel.domain.model import PythonModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.training import TrainingSettings

_EPOCHS = 3
_BATCH = 32
_DIFFERENT_BYTES = 300 * 2**20
"""Of images that are drawn; more are copies of these, which both sides decode as often."""
_SIDE = 224

KERAS = """
import json, sys, time
import keras

class Seconds(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.began_s = time.monotonic()
    def on_epoch_end(self, epoch, logs=None):
        seconds.append(time.monotonic() - self.began_s)
        print("epoch", epoch, "done", flush=True)

seconds, (folder, side, batch, epochs) = [], json.loads(sys.argv[1])
data = keras.utils.image_dataset_from_directory(
    folder, image_size=(side, side), batch_size=batch, verbose=False
).prefetch(2)
model = keras.Sequential([keras.Input((side, side, 3)), keras.layers.Rescaling(1 / 255)])
model.add(build_model((side, side, 3), 10))
model.add(keras.layers.Softmax())
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(data, epochs=epochs, verbose=0, callbacks=[Seconds()])
print(json.dumps(seconds))
"""


SMALL = """
import keras
def build_model(input_shape, outputs):
    return keras.Sequential([
        keras.Input(input_shape),
        keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(outputs),
    ])
"""
STRIDED = SMALL.replace('(8, 3, padding="same"', '(16, 7, strides=4, padding="same"')


@dataclass(frozen=True)
class Case:
    """Images of one size.

    Attributes:
        images: How many, if nobody says otherwise.
        model: Python code of the network.
    """

    title: str
    width: int
    height: int
    images: int
    model: str = SMALL


CASES = {
    "pictures": Case("JPEGs of 500x400", 500, 400, 3_000),
    "light": Case("JPEGs of 500x400, strided network", 500, 400, 3_000, STRIDED),
    "photos": Case("photos of 3000x2000", 3000, 2000, 500),
    "light photos": Case("photos of 3000x2000, strided network", 3000, 2000, 500, STRIDED),
}


@dataclass(frozen=True)
class Epochs:
    """Seconds of one side in one round.

    Attributes:
        waiting: The share of the training time in which steps waited for data, where it is known.
    """

    first_s: float
    following_s: float
    waiting: float | None = None


def make_images(folder: Path, case: Case, count: int) -> None:
    """So many JPEGs in ten classes, which compress as photographs do: shapes and some noise."""
    random = np.random.default_rng(0)
    drawn: list[bytes] = []
    for number in range(count):
        if sum(map(len, drawn)) < _DIFFERENT_BYTES:
            drawn.append(_draw(random, case.width, case.height))
        path = folder / f"class_{number % 10}" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(drawn[number % len(drawn)])


def _draw(random: np.random.Generator, width: int, height: int) -> bytes:
    small = random.integers(0, 255, (height // 20, width // 20, 3), np.uint8)
    large = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
    noise = random.integers(-6, 7, (height, width, 1))
    pixels = (np.asarray(large, np.int16) + noise).clip(0, 255).astype(np.uint8)
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, "JPEG", quality=85)
    return content.getvalue()


def environment(folder: Path) -> dict[str, str]:
    """Nothing of the user's is touched, and no round finds what another one kept."""
    places = {f"GPUPANEL_{name}_DIR": str(folder / name) for name in ("RUNS", "CACHE", "STATE")}
    return {**os.environ, **places, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}


def with_keras(images: Path, model: str) -> Epochs:
    """An epoch of Keras's ``fit``."""
    script = model + KERAS
    asked = json.dumps([str(images), _SIDE, _BATCH, _EPOCHS])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", script, asked],
            env=environment(Path(folder)),
            capture_output=True,
            check=True,
        )
    first_s, *following_s = json.loads(done.stdout.splitlines()[-1])
    return Epochs(first_s, statistics.median(following_s))


def with_gpupanel(images: Path, model: str, cache: DataCache) -> Epochs:
    """An epoch of a run."""
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder) / "model.py"
        code.write_text(model)
        return _with_gpupanel(Path(folder), images, code, cache)


def profile_of(
    images: Path,
    code: Path,
    cache: DataCache,
    *,
    decode: JpegDecoding = JpegDecoding.EXACT,
    epochs: int = _EPOCHS,
) -> Profile:
    """What trains a network of Python code on the processor."""
    return Profile(
        devices=DeviceSettings(visible=("cpu",)),
        data=ImagesData(
            path=str(images),
            image_size=(_SIDE, _SIDE),
            cache=cache,
            decode=decode,
            validation_fraction=0.0,
        ),
        model=PythonModel(path=str(code)),
        training=TrainingSettings(
            epochs=epochs, global_batch_size=_BATCH, tensorboard=False, checkpoint_every_epochs=0
        ),
    )


def _with_gpupanel(folder: Path, images: Path, code: Path, cache: DataCache) -> Epochs:
    profile = profile_of(images, code, cache)
    path = folder / "profile.toml"
    path.write_text(dump_profile(profile))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gpupanel", "run", "--trust", "--json", str(path)],
        env=environment(folder),
        capture_output=True,
        check=True,
    )
    run = Path(json.loads(done.stdout)["run"])
    events = [decode_event(line) for line in (run / "events.jsonl").read_text().splitlines()]
    epochs = [event.seconds for event in events if isinstance(event, EpochDone)]
    decoding = [event.time_s for event in events if isinstance(event, DataProgressed)]
    (ended,) = [event for event in events if isinstance(event, TrainingEnded)]
    decoding_s = decoding[-1] - decoding[0] if decoding else 0.0
    return Epochs(
        decoding_s + epochs[0], statistics.median(epochs[1:]), waiting=ended.waiting_for_data
    )


def compare(case: Case, count: int, rounds: int) -> None:
    """Print the figures of one case."""
    print(f"{case.title}, {count:,} of them to {_SIDE}x{_SIDE}, {rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder)
        make_images(images, case, count)
        found: dict[str, list[Epochs]] = {}
        for _ in range(rounds):
            found.setdefault("Keras", []).append(with_keras(images, case.model))
            for cache in (DataCache.NONE, DataCache.DISK):
                sides = found.setdefault(f'cache = "{cache.value}"', [])
                sides.append(with_gpupanel(images, case.model, cache))
    for name, sides in found.items():
        first, following = (
            statistics.median(values)
            for values in zip(*((each.first_s, each.following_s) for each in sides), strict=True)
        )
        ratios = [
            (keras.first_s / side.first_s, keras.following_s / side.following_s)
            for keras, side in zip(found["Keras"], sides, strict=True)
        ]
        of_first, of_following = (statistics.median(each) for each in zip(*ratios, strict=True))
        waits = [each.waiting for each in sides if each.waiting is not None]
        waiting = f", {statistics.median(waits):.0%} waiting for data" if waits else ""
        print(
            f"  {name:16} first epoch {first:7.1f} s ({of_first:.2f}), "
            f"following {following:7.1f} s ({of_following:.2f}){waiting}"
        )


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], default=[])
    parser.add_argument("--images", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for name in asked.cases or CASES:
        compare(CASES[name], asked.images or CASES[name].images, asked.rounds)


if __name__ == "__main__":
    main()

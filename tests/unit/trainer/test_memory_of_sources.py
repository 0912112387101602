"""A set that is decoded into memory is there once: to read, divide and measure it adds nothing."""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

MIB = 2**20
SMALL, LARGE = 128 * MIB, 320 * MIB
"""Bytes of features: what is loaded to read them is the same for both."""
ROUNDS = 3
"""Threads that decode leave up to 20 MiB from time to time: it only adds, so the least counts."""
LEAST, MOST = 0.9, 1.1


def write_doubles(path: Path, size: int) -> None:
    count = size // (256 * 4)
    numbers = np.random.default_rng(0).random((count, 256))
    np.savez(path, x=numbers, y=np.arange(count) % 2)


def write_pixels(path: Path, size: int) -> None:
    count = size // (64 * 64 * 3)
    pixels = np.random.default_rng(0).integers(0, 256, (count, 3, 64, 64), np.uint8)
    np.savez_compressed(path, x=pixels // 64, y=np.arange(count) % 2)


def write_images(path: Path, size: int) -> None:
    count = size // (256 * 256 * 3)
    for number in range(count):
        folder = path / f"class {number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (64, 64), (number % 256, 0, 0)).save(folder / f"{number}.png")


def write_table(path: Path, size: int) -> None:
    count = size // (64 * 4)
    drawn = np.random.default_rng(0)
    columns = {f"c{number}": drawn.random(count) for number in range(64)}
    parquet.write_table(pa.table({**columns, "y": np.arange(count) % 2}), path)


def write_texts(path: Path, size: int) -> None:
    count = size // (512 * 4)
    lines = (f'"word{number % 997} and word{number % 31}",{number % 2}' for number in range(count))
    path.write_text("\n".join(["text,label", *lines]))


SOURCES: dict[str, tuple[Callable[[Path, int], None], str]] = {
    "doubles": (write_doubles, ".npz"),
    "packed pixels": (write_pixels, ".npz"),
    "images": (write_images, ""),
    "table": (write_table, ".parquet"),
    "texts": (write_texts, ".csv"),
}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("kind", SOURCES)
def test_that_a_set_in_memory_is_there_once(kind: str, tmp_path: Path) -> None:
    write, suffix = SOURCES[kind]
    places = [tmp_path / f"data_{size}{suffix}" for size in (SMALL, LARGE)]
    for place, size in zip(places, (SMALL, LARGE), strict=True):
        write(place, size)
    peaks = dict.fromkeys(places, math.inf)
    for _ in range(ROUNDS):
        features = []
        for place in places:
            held, peak = held_and_peak(kind, place)
            features.append(held)
            peaks[place] = min(peaks[place], peak)
        small, large = (peaks[place] for place in places)
        grown = (large - small) / (features[1] - features[0])
        if LEAST < grown < MOST:
            return
    pytest.fail(f"{grown:.2f} of its features, at the least in {ROUNDS} rounds")


def held_and_peak(kind: str, place: Path) -> tuple[int, int]:
    """Bytes of the features, and those that a process that read them had more at the most."""
    answer = subprocess.run(
        [sys.executable, "-m", "tests.unit.trainer.hold_data", kind, place],
        capture_output=True,
        check=True,
    )
    features, peak = json.loads(answer.stdout)
    return features, peak

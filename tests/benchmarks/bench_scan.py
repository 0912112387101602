"""A scan of a folder of 100,000 images: its first look, the whole, and the next one.

``python bench_scan.py [--images N] [--rounds N]``: each scan is a process of its own, as the window
and ``gpupanel scan`` start it; figures are medians over the rounds. Wanted: a first look (classes
with their counts) in under a second from the start of the process. The next scan finds in the cache
what the one before saw of each file. Memory is the greatest ``RssAnon`` of the process.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
from PIL import Image

from gpupanel.domain.data import ImagesData
from gpupanel.domain.scan import DataScan, ScanRequest
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.runs.questions.data_scan import scan_data
from gpupanel.trainer.datasets.images.sets import list_sets

_CLASSES = 10
_LOOK_S = 0.02


def main() -> None:
    """Make the folder, and scan it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = _make(Path(place, "images"), arguments.images)
        data = ImagesData(path=str(folder), validation_fraction=0.2)
        listing = statistics.median(_listing_s(data) for _ in range(arguments.rounds))
        print(f"listing the folder        {listing:6.2f} s")
        firsts, wholes, agains, memories = [], [], [], []
        for number in range(arguments.rounds):
            os.environ[CACHE_DIR_VARIABLE] = str(Path(place, f"cache-{number}"))
            first_s, whole_s, memory, found = _scanned(data)
            assert found.is_complete
            assert sum(each.examples for each in found.sets) == arguments.images
            firsts.append(first_s)
            wholes.append(whole_s)
            memories.append(memory)
            agains.append(_scanned(data)[1])
    print(f"first look                {statistics.median(firsts):6.2f} s (wanted: under 1)")
    print(f"whole scan                {statistics.median(wholes):6.1f} s")
    print(f"the next scan             {statistics.median(agains):6.2f} s")
    print(
        f"memory of the process     {max(memories) / 2**20:6.0f} MiB, of which "
        f"{max(memories) / arguments.images:,.0f} bytes a file at most"
    )


def _make(folder: Path, count: int) -> Path:
    generator = np.random.default_rng(0)
    for number in range(_CLASSES):
        (folder / f"class {number}").mkdir(parents=True)
    for number in range(count):
        pixels = generator.integers(0, 255, (32, 32, 3), np.uint8)
        name = f"class {number % _CLASSES}/{number:06}.{'jpg' if number % 2 else 'png'}"
        Image.fromarray(pixels).save(folder / name)
    # The cache trusts no file that was changed a moment ago.
    time.sleep(2.5)
    return folder


def _listing_s(data: ImagesData) -> float:
    began_s = time.monotonic()
    list_sets(data)
    return time.monotonic() - began_s


def _scanned(data: ImagesData) -> tuple[float, float, int, DataScan]:
    """Seconds until the first look and the end, the greatest memory, and what was found."""
    looks: list[float] = []
    done, most = threading.Event(), [0]
    watcher = threading.Thread(target=_watch, args=(done, most))
    watcher.start()
    began_s = time.monotonic()
    found = scan_data(
        ScanRequest(data=data, seed=7),
        on_progress=lambda news: (
            looks.append(time.monotonic() - began_s) if isinstance(news, DataScan) else None
        ),
    )
    whole_s = time.monotonic() - began_s
    done.set()
    watcher.join()
    return looks[0], whole_s, most[0], found


def _watch(done: threading.Event, most: list[int]) -> None:
    while not done.wait(_LOOK_S):
        for child in psutil.Process().children(recursive=True):
            try:
                lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
            except OSError:
                continue
            anonymous = [line for line in lines if line.startswith("RssAnon:")]
            most[0] = max(most[0], *(int(line.split()[1]) * 1024 for line in anonymous), 0)


if __name__ == "__main__":
    main()

"""So many images in folders of classes: listed, and known again, as a run does first."""

import os
import time
from pathlib import Path

from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.trainer.datasets.fingerprint import Fingerprint, compare, take_fingerprint
from gpupanel.trainer.datasets.sources.images import read_images
from tests.benchmarks.growth.measuring import peak_mib, process_cpu_s

SIZES = (10_000, 100_000, 1_000_000)
_CLASSES = 100


def measure(count: int, folder: Path) -> dict[str, float]:
    """List them, keep what shows that they are the same, and compare that with what they are."""
    root = folder / "images"
    _write(root, count)
    data = ImagesData(path=str(root), cache=DataCache.NONE)
    before_mib, begun_s = peak_mib(), time.perf_counter()
    found = read_images(data)
    listed_s, listed_mib = time.perf_counter() - begun_s, peak_mib() - before_mib
    assert found.files is not None
    assert len(found.training) == count
    files, record = found.files, folder / "data.json"

    def keep() -> None:
        with record.open("wb") as kept:
            kept.writelines(take_fingerprint(found).to_json())

    def compare_again() -> None:
        before = Fingerprint.from_json(record.read_bytes())
        assert not compare(before, take_fingerprint(found), files)[0].changed

    return {
        "listed_s": listed_s,
        "listed_mib": listed_mib,
        "kept_cpu_s": process_cpu_s(keep),
        "compared_cpu_s": process_cpu_s(compare_again),
    }


def _write(root: Path, count: int) -> None:
    """Empty files: none is opened before its turn comes."""
    for number in range(_CLASSES):
        place = root / f"class_{number:03d}"
        place.mkdir(parents=True)
        for image in range(number, count, _CLASSES):
            name = f"{place}{os.sep}image_{image:07d}.jpg"
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY))

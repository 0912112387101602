"""Decodes each image of a folder by itself, and many at once by TensorFlow.

``python decode_both.py FOLDER``: for each name, number of channels, size
and way of unpacking how many pixels differ
or the codes of the problems of both; and whether TensorFlow decoded it.
"""

import json
import sys
from itertools import product
from pathlib import Path

import numpy as np

from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.images.decoding import ImageDecoding
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.images.jpeg_decoder import make_jpeg_decoder
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.parts.image_pixels import WantedPixels


class Counting:
    """Counts what is decoded by TensorFlow."""

    def __init__(self) -> None:
        self.decoder = make_jpeg_decoder()
        self.count = 0

    def decode(self, jpegs, wanted):  # type: ignore[no-untyped-def]
        assert self.decoder is not None
        found = self.decoder.decode(jpegs, wanted)
        self.count += sum(len(part.places) for part in found)
        return found


def read(path: Path, wanted: WantedPixels, decoding: ImageDecoding) -> object:
    try:
        files = ImageFiles((str(path),), wanted, decoding=decoding)
        return files.read(np.array([0], np.int32))[0]
    except ProblemError as error:
        return [problem.code for problem in error.problems]


def main() -> None:
    counting, paths = Counting(), sorted(Path(sys.argv[1]).iterdir())
    found: dict[str, object] = {}
    asked = product((1, 3), paths, ((48, 60), (33, 25)), (False, True))
    for channels, path, size, is_fast in asked:
        wanted = WantedPixels(size, channels, is_fast=is_fast)
        before = counting.count
        by_itself = read(path, wanted, ImageDecoding())
        at_once = read(path, wanted, ImageDecoding(counting))
        differ: object = [by_itself, at_once]
        if isinstance(by_itself, np.ndarray) and isinstance(at_once, np.ndarray):
            differ = int((by_itself != at_once).sum())
        found[f"{path.name} {channels} {size} {is_fast}"] = [differ, counting.count > before]
    everything = np.arange(len(paths), dtype=np.int32)
    both = []
    for decoding in (ImageDecoding(), ImageDecoding(counting)):
        skipped = SkippedFiles(len(paths), 0.9)
        names = tuple(map(str, paths))
        files = ImageFiles(names, WantedPixels((48, 60), 3), skipped=skipped, decoding=decoding)
        pixels, errors = files.read_readable(everything)
        both.append((pixels, sorted(errors)))
    are_same = bool((both[0][0] == both[1][0]).all()) and both[0][1] == both[1][1]
    many = [Path(sys.argv[1]) / name for name in ("444", "422", "420", "junk_after")] * 13
    many.append(many[0])
    damaged = [*many[:3], Path(sys.argv[1]) / "half", *many[4:]]
    print(
        json.dumps(
            {
                "each": found,
                "together": are_same,
                "unreadable": both[0][1],
                "many": read_many(many, counting),
                "many_with_one_damaged": read_many(damaged, counting),
            }
        )
    )


def read_many(paths: list[Path], counting: Counting) -> dict[str, object]:
    """Which of them TensorFlow's way and the other one do not agree about, and how many it took."""
    before, both = counting.count, []
    for decoding in (ImageDecoding(), ImageDecoding(counting)):
        files = ImageFiles(
            tuple(map(str, paths)),
            WantedPixels((48, 60), 3),
            skipped=SkippedFiles(len(paths), 0.9),
            decoding=decoding,
        )
        both.append(files.read_readable(np.arange(len(paths), dtype=np.int32)))
    (one, unreadable), (other, also_unreadable) = both
    return {
        "different": np.flatnonzero((one != other).any(axis=(1, 2, 3))).tolist(),
        "unreadable": [sorted(unreadable), sorted(also_unreadable)],
        "by_tensorflow": counting.count - before,
    }


if __name__ == "__main__":
    main()

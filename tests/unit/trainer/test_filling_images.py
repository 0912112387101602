"""Images that are decoded while they are trained on fill the cache for everybody who needs them."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.problem import ProblemError
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.files.locks import lock_in_folder
from gpupanel.trainer.datasets import file_prints
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.images import decoded_file
from gpupanel.trainer.datasets.images import files as image_files
from gpupanel.trainer.datasets.images.decoded import (
    DecodedImages,
    decode_into_memory,
    decode_onto_disk,
)
from gpupanel.trainer.datasets.images.decoding import DecodedPart, ImageDecoding
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.images.pixels import PlainJpeg
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.parts.image_pixels import WantedPixels

COUNT = 6
EVERYTHING = [0, 10, 20, 30, 40, 50]

IN_ANOTHER_PROCESS = """
import json, sys
from pathlib import Path
import numpy as np
from gpupanel.trainer.datasets.images.decoded import decode_onto_disk
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets import file_prints
from gpupanel.trainer.parts.image_pixels import WantedPixels
file_prints._RECENT_NS = 0
root = Path(sys.argv[1])
files = ImageFiles(tuple(map(str, sorted(root.iterdir()))), WantedPixels((4, 4), 1))
images = decode_onto_disk(files, root, lambda *_: None, all_now=False)
for line in sys.stdin:
    rows = json.loads(line)
    read = images.read(np.array(rows, np.int32))
    print(json.dumps(read[:, 0, 0, 0].tolist()), flush=True)
"""


class StoppedError(Exception):
    pass


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "cache"
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(folder))
    # The images of these tests are younger than what is taken for settled.
    monkeypatch.setattr(file_prints, "_RECENT_NS", 0)
    return folder / "images"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pictures").mkdir()
    for number in range(COUNT):
        draw(tmp_path / "pictures" / f"{number}.png", 10 * number)
    return tmp_path / "pictures"


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The numbers of what is decoded, in this order."""
    names: list[str] = []
    read = ImageFiles.read_readable

    def noted(files: ImageFiles, indices: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
        names.extend(Path(files.paths[index]).stem for index in indices)
        return read(files, indices)

    monkeypatch.setattr(ImageFiles, "read_readable", noted)
    return names


def draw(path: Path, brightness: int) -> None:
    Image.new("L", (8, 8), brightness).save(path, compress_level=0)


def opened(root: Path, skipped: SkippedFiles | None = None) -> DecodedImages:
    """As a run opens them: nothing is decoded."""
    paths = tuple(map(str, sorted(root.iterdir())))
    files = ImageFiles(paths, WantedPixels((4, 4), 1), skipped=skipped)
    return decode_onto_disk(files, root, no_progress, all_now=False)


def no_progress(_doing: str, _done: int, _total: int) -> None:
    raise AssertionError("nothing is to be waited for")


def values(images: DecodedImages, *numbers: int) -> list[int]:
    """The brightness of these images, or of all."""
    rows = np.array(numbers or range(images.shape[0]), np.int32)
    return [int(each.mean()) for each in images.read(rows)]


def endings(cache: Path) -> list[str]:
    return sorted(path.suffix for path in cache.iterdir())


def test_that_an_image_is_decoded_when_it_is_asked_for_first(
    root: Path, cache: Path, decoded: list[str]
) -> None:
    images = opened(root)
    assert decoded == []
    assert values(images, 4, 1) == [40, 10]
    assert values(images, 1, 2, 1) == [10, 20, 10]
    assert decoded == ["4", "1", "2"]
    assert values(images) == EVERYTHING
    assert len(decoded) == COUNT
    # The next run finds a complete file, and nothing of what was there on the way to it.
    assert values(opened(root)) == EVERYTHING
    assert len(decoded) == COUNT
    assert endings(cache) == [".json", ".lock", ".pixels"]


def test_that_two_runs_fill_one_file(root: Path, cache: Path, decoded: list[str]) -> None:
    one, other = opened(root), opened(root)
    assert values(one, 0, 1, 2) == [0, 10, 20]
    assert values(other, 2, 3) == [20, 30]
    assert values(one) == EVERYTHING
    assert values(other) == EVERYTHING
    assert sorted(decoded) == ["0", "1", "2", "3", "4", "5"]
    assert endings(cache) == [".json", ".lock", ".pixels"]


def test_that_processes_of_a_run_decode_each_image_once(root: Path, decoded: list[str]) -> None:
    images = opened(root)
    assert values(images, 0, 1) == [0, 10]
    with subprocess.Popen(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for rows in ([1, 5], [3]):
            process.stdin.write(json.dumps(rows) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == [10 * row for row in rows]
        # Killed, as by the kernel: what it has kept is there.
        process.kill()
    assert values(images) == EVERYTHING
    assert decoded == ["0", "1", "2", "4"]


def test_that_many_threads_fill_it(root: Path) -> None:
    random = np.random.default_rng(1)
    images = opened(root)
    chosen = [random.permutation(COUNT).tolist() for _ in range(40)]
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda rows: values(images, *rows), chosen))
    assert read == [[10 * row for row in rows] for rows in chosen]
    assert values(opened(root)) == EVERYTHING


def test_that_a_stopped_run_goes_on_with_what_it_had_decoded(
    root: Path, decoded: list[str]
) -> None:
    values(opened(root), 3, 1, 5)
    decoded.clear()
    assert values(opened(root)) == EVERYTHING
    assert decoded == ["0", "2", "4"]


def test_that_who_needs_all_at_once_decodes_only_what_a_run_has_not(
    root: Path, decoded: list[str]
) -> None:
    training = opened(root)
    values(training, 3, 1)
    decoded.clear()
    files = training.file.files
    images = decode_onto_disk(files, root, lambda *_: None)
    assert values(images) == EVERYTHING
    assert decoded == ["0", "2", "4", "5"]
    # The run goes on where it was, and finds them there.
    assert values(training) == EVERYTHING
    assert len(decoded) == 4


def test_that_what_was_not_forced_to_the_disk_is_nothing_to_a_system_that_started_anew(
    root: Path, cache: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values(opened(root), 0, 1, 2)
    decoded.clear()
    monkeypatch.setattr(decoded_file, "system_start", lambda: "another")
    assert values(opened(root)) == EVERYTHING
    assert len(decoded) == COUNT
    # Nothing of before lies around.
    assert endings(cache) == [".json", ".lock", ".pixels"]
    # What is complete holds for every system.
    monkeypatch.setattr(decoded_file, "system_start", lambda: "a third one")
    assert values(opened(root)) == EVERYTHING
    assert len(decoded) == COUNT


def test_that_a_row_without_its_time_is_decoded_again(
    root: Path, cache: Path, decoded: list[str]
) -> None:
    values(opened(root), 0, 1, 2)
    (filling,) = cache.glob("*.filling")
    with filling.open("r+b") as file:
        file.seek(4 * 16)
        file.write(b"\xff" * 7)  # killed in the middle of a row
    decoded.clear()
    assert values(opened(root)) == EVERYTHING
    assert decoded == ["3", "4", "5"]


@pytest.mark.parametrize("damage", ["rows", "times", "gone", "link", "fifo", "longer"])
def test_that_a_damaged_file_is_begun_anew(
    root: Path, cache: Path, tmp_path: Path, decoded: list[str], damage: str
) -> None:
    values(opened(root), 0, 1, 2)
    (filling,), (times,) = cache.glob("*.filling"), cache.glob("*.times")
    victim = tmp_path / "victim"
    victim.write_bytes(bytes(6 * 16))
    chosen = times if damage == "times" else filling
    if damage in ("rows", "times"):
        os.truncate(chosen, chosen.stat().st_size - 1)
    elif damage == "longer":
        os.truncate(chosen, 2**30)
    else:
        chosen.unlink()
    if damage == "link":
        chosen.symlink_to(victim)
    elif damage == "fifo":
        os.mkfifo(chosen)
    decoded.clear()
    assert values(opened(root)) == EVERYTHING
    assert len(decoded) == COUNT
    assert victim.read_bytes() == bytes(6 * 16)


def test_that_a_file_that_is_cut_short_under_a_run_is_a_problem(root: Path, cache: Path) -> None:
    images = opened(root)
    values(images, 5)
    (filling,) = cache.glob("*.filling")
    os.truncate(filling, 20)
    with pytest.raises(ProblemError) as caught:
        values(images, 5)
    assert caught.value.problems[0].code == "decoded_images_unreadable"


def test_that_an_image_that_is_changed_meanwhile_is_decoded_again_by_the_next_run(
    root: Path, decoded: list[str]
) -> None:
    first = opened(root)
    values(first, 0, 1)
    draw(root / "1.png", 99)
    draw(root / "5.png", 77)
    # A run keeps to what it has seen.
    assert values(first) == [0, 10, 20, 30, 40, 77]
    decoded.clear()
    assert values(opened(root)) == [0, 99, 20, 30, 40, 77]
    assert decoded == ["1", "5"]


def test_that_what_was_decoded_just_after_a_change_is_relied_upon_by_nobody_else(
    root: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_prints, "_RECENT_NS", 3600 * 10**9)
    one, other = opened(root), opened(root)
    assert values(one, 0, 1) == values(one, 0, 1) == [0, 10]
    assert decoded == ["0", "1"]
    assert values(other, 0, 1) == [0, 10]
    assert decoded == ["0", "1"] * 2


def test_that_only_what_is_new_is_decoded_beside_a_complete_file(
    root: Path, cache: Path, decoded: list[str]
) -> None:
    values(opened(root))
    (before,) = cache.glob("*.pixels")
    draw(root / "new.png", 70)
    (root / "0.png").unlink()
    decoded.clear()
    images = opened(root)
    assert values(images, 5, 0) == [70, 10]
    assert before.exists()
    assert values(images) == [10, 20, 30, 40, 50, 70]
    assert decoded == ["new"]
    assert not before.exists()
    assert values(opened(root)) == [10, 20, 30, 40, 50, 70]
    assert decoded == ["new"]


def test_that_what_cannot_be_read_keeps_the_file_from_nothing(
    root: Path, cache: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoded_file, "_LOOK_S", 0.0)
    (root / "2.png").write_text("no image")
    images = opened(root, SkippedFiles(COUNT, 0.5))
    pixels, errors = images.read_readable(np.arange(COUNT, dtype=np.int32))
    assert [int(each.mean()) for each in pixels] == [0, 10, 0, 30, 40, 50]
    assert [*errors] == [2]
    images.read_readable(np.array([0], np.int32))
    assert endings(cache) == [".json", ".lock", ".pixels"]
    decoded.clear()
    # Tried by each run, which reports it.
    skipped = SkippedFiles(COUNT, 0.5)
    _, errors = opened(root, skipped).read_readable(np.arange(COUNT, dtype=np.int32))
    assert [*errors] == [2]
    assert (len(skipped), decoded) == (1, ["2"])


@pytest.mark.parametrize("is_whole", [True, False], ids=["complete", "begun"])
def test_that_who_is_killed_between_pixels_and_record_leaves_nothing_that_stays(
    root: Path, cache: Path, is_whole: bool
) -> None:
    values(opened(root))
    (record,) = cache.glob("*.json")
    record.unlink()
    (orphan,) = cache.glob("*.pixels")

    images = opened(root)
    if is_whole:
        values(images)

    assert not orphan.exists()
    assert len(list(cache.glob("*.pixels"))) == is_whole


def test_that_a_disk_that_is_full_meanwhile_is_a_problem(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = opened(root)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(ProblemError) as caught:
        values(images, 0)
    assert caught.value.problems[0].code == "decoded_images_no_space"


def test_that_a_run_waits_for_nobody_to_complete_the_file(
    root: Path, cache: Path, decoded: list[str]
) -> None:
    images = opened(root)
    (lock,) = cache.glob("*.lock")
    with lock_in_folder(lock):
        assert values(images) == EVERYTHING
    assert endings(cache) == [".filling", ".lock", ".times"]
    assert values(opened(root)) == EVERYTHING
    assert endings(cache) == [".json", ".lock", ".pixels"]
    assert len(decoded) == COUNT


def test_that_a_run_goes_on_though_the_cache_is_emptied(root: Path, cache: Path) -> None:
    images = opened(root)
    values(images, 0, 1)
    shutil.rmtree(cache)
    assert values(images) == EVERYTHING
    assert values(images) == EVERYTHING
    assert values(opened(root)) == EVERYTHING


@pytest.mark.parametrize("onto_disk", [False, True])
def test_that_decoding_all_at_once_waits_for_who_decodes_faster_and_hears_a_stop(
    root: Path, decoded: list[str], onto_disk: bool
) -> None:
    decoding = ImageDecoding(comes_later=True)
    files = ImageFiles(
        tuple(map(str, sorted(root.iterdir()))), WantedPixels((4, 4), 1), decoding=decoding
    )
    seen: list[tuple[object, ...]] = []

    def decode(is_stopped: bool) -> None:
        def progress(*how_far: object) -> None:
            seen.append(how_far)
            if is_stopped:
                raise StoppedError
            decoding.settle()

        if onto_disk:
            decode_onto_disk(files, root, progress)
        else:
            decode_into_memory(files, progress)

    with pytest.raises(StoppedError):
        decode(is_stopped=True)
    assert (seen, decoded) == ([("decoding images", 0, COUNT)], [])
    seen.clear()
    decode(is_stopped=False)
    assert len(decoded) == COUNT
    # Once while it waited, then as it decoded.
    assert [done for _, done, _ in seen] == [0, 0, COUNT]


def test_that_parts_of_the_images_are_such_images(root: Path, decoded: list[str]) -> None:
    images = opened(root)
    part = images.subset(np.array([5, 1], np.int32))
    assert part.shape == (2, 4, 4, 1)
    assert values(part) == [50, 10]
    assert values(images, 1, 5) == [10, 50]
    assert decoded == ["5", "1"]


class _NoBatches:
    def decode(self, jpegs: Sequence[PlainJpeg], wanted: WantedPixels) -> list[DecodedPart]:
        pixels = np.zeros((len(jpegs), *wanted.size, wanted.channels), np.uint8)
        return [DecodedPart(range(len(jpegs)), pixels)]


def test_that_threads_take_turns_to_look_at_files_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looking, most = list[str](), list[int]()

    def look(path: str, _wanted: WantedPixels) -> PlainJpeg:
        looking.append(path)
        time.sleep(0.0002)  # as a call into the system, which lets others run
        most.append(len(looking))
        looking.remove(path)
        return PlainJpeg(b"", 1)

    monkeypatch.setattr(image_files, "usual_jpeg_of", look)
    # However busy this machine is, these are files in memory.
    monkeypatch.setattr(image_files, "_SLOW_S", 60.0)
    paths = tuple(f"{number}.jpg" for number in range(64))
    images = ImageFiles(paths, WantedPixels((4, 4), 1), decoding=ImageDecoding(_NoBatches()))
    with ThreadPoolExecutor(2) as pool:
        for read in [pool.submit(images.read, np.arange(64, dtype=np.int32)) for _ in range(2)]:
            read.result()
    assert len(most) == 2 * len(paths)
    assert set(most) == {1}

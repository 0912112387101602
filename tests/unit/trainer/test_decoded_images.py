"""Decoded images in the cache: found by later runs, and never stale."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.problem import ProblemError
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from gpupanel.files.locks import lock_in_folder
from gpupanel.trainer.datasets import file_prints
from gpupanel.trainer.datasets.examples import Array, Indices
from gpupanel.trainer.datasets.images.decoded import DecodedImages, decode_onto_disk
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.parts.image_pixels import WantedPixels

_EVERYTHING = np.arange(100, dtype=np.int32)


class Stopped(Exception):  # noqa: N818 - somebody asked
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
    for number in range(5):
        _draw(tmp_path / "pictures" / f"{number}.png", 10 * number)
    return tmp_path / "pictures"


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is decoded, in this order."""
    names: list[str] = []
    read = ImageFiles.read_readable

    def noted(files: ImageFiles, indices: Indices) -> tuple[Array, Mapping[int, ProblemError]]:
        names.extend(Path(files.paths[index]).name for index in indices)
        return read(files, indices)

    monkeypatch.setattr(ImageFiles, "read_readable", noted)
    return names


def _draw(path: Path, brightness: int) -> None:
    Image.new("L", (8, 8), brightness).save(path, compress_level=0)


def _ignore(_doing: str, _done: int, _total: int) -> None:
    pass


def _kept(root: Path, size: tuple[int, int] = (4, 4)) -> DecodedImages:
    return decode_onto_disk(
        ImageFiles(tuple(map(str, sorted(root.iterdir()))), WantedPixels(size, 1)), root, _ignore
    )


def _brightness(images: DecodedImages) -> list[int]:
    return [int(image.mean()) for image in images.read(_EVERYTHING[: images.shape[0]])]


def _code(root: Path) -> str:
    with pytest.raises(ProblemError) as caught:
        _kept(root)
    (problem,) = caught.value.problems
    assert problem.field == "data.cache"
    return problem.code


def test_that_the_next_run_decodes_nothing(root: Path, decoded: list[str]) -> None:
    assert _brightness(_kept(root)) == [0, 10, 20, 30, 40]
    assert len(decoded) == 5

    again = _kept(root)

    assert _brightness(again) == [0, 10, 20, 30, 40]
    assert len(decoded) == 5
    assert again.read(np.array([3, 0, 3], np.int32))[:, 0, 0, 0].tolist() == [30, 0, 30]


def test_that_only_what_was_changed_added_or_renamed_is_decoded_again(
    root: Path, decoded: list[str]
) -> None:
    before = (root / "1.png").stat()
    _kept(root)
    decoded.clear()

    _draw(root / "1.png", 99)
    os.utime(root / "1.png", ns=(before.st_atime_ns, before.st_mtime_ns))
    (root / "0.png").unlink()
    _draw(root / "new.png", 77)

    assert (root / "1.png").stat().st_size == before.st_size
    assert _brightness(_kept(root)) == [99, 20, 30, 40, 77]
    assert decoded == ["1.png", "new.png"]
    decoded.clear()
    assert _brightness(_kept(root)) == [99, 20, 30, 40, 77]
    assert decoded == []


def test_that_what_was_changed_just_before_it_was_examined_is_not_relied_upon(
    root: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_prints, "_RECENT_NS", 3600 * 10**9)
    _kept(root)
    _kept(root)

    assert len(decoded) == 10


def test_that_one_folder_in_two_sizes_is_kept_twice(root: Path, decoded: list[str]) -> None:
    for _ in range(2):
        assert _kept(root, (4, 4)).read(_EVERYTHING[:1]).shape == (1, 4, 4, 1)
        assert _kept(root, (6, 2)).read(_EVERYTHING[:1]).shape == (1, 6, 2, 1)

    assert len(decoded) == 10


def test_that_an_image_that_is_listed_twice_is_decoded_once(root: Path, decoded: list[str]) -> None:
    paths = (root / "1.png", root / "3.png", root / "1.png")

    images = decode_onto_disk(ImageFiles(paths, WantedPixels((4, 4), 1)), root, _ignore)

    assert _brightness(images) == [10, 30, 10]
    assert decoded == ["1.png", "3.png"]


def test_that_a_stop_in_between_leaves_what_was_kept_before(
    root: Path, cache: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.trainer.datasets.images.decode_ahead._CHUNK", 2)
    _kept(root)
    there = {path: path.read_bytes() for path in cache.iterdir()}
    _draw(root / "4.png", 55)
    decoded.clear()

    def stop(_doing: str, done: int, _total: int) -> None:
        if done == 4:
            raise Stopped

    with pytest.raises(Stopped):
        decode_onto_disk(
            ImageFiles(tuple(map(str, sorted(root.iterdir()))), WantedPixels((4, 4), 1)), root, stop
        )

    assert {path: path.read_bytes() for path in there} == there
    assert _brightness(_kept(root)) == [0, 10, 20, 30, 55]
    assert decoded == ["4.png"]


def test_that_what_was_decoded_before_a_stop_is_not_decoded_again(
    root: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.trainer.datasets.images.decode_ahead._CHUNK", 1)

    def stop(_doing: str, done: int, _total: int) -> None:
        if done == 2:
            raise Stopped

    files = ImageFiles(tuple(map(str, sorted(root.iterdir()))), WantedPixels((4, 4), 1))
    with pytest.raises(Stopped):
        decode_onto_disk(files, root, stop)

    assert _brightness(_kept(root)) == [0, 10, 20, 30, 40]
    assert sorted(decoded) == ["0.png", "1.png", "2.png", "3.png", "4.png"]


def test_that_progress_is_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpupanel.trainer.datasets.images.decode_ahead._CHUNK", 2)
    reported: list[tuple[str, int, int]] = []
    files = ImageFiles(tuple(map(str, sorted(root.iterdir()))), WantedPixels((4, 4), 1))

    decode_onto_disk(files, root, lambda *progress: reported.append(progress))

    assert reported == [("decoding images", done, 5) for done in (0, 2, 4, 5)]


def test_that_who_waits_for_another_run_can_be_stopped(root: Path, cache: Path) -> None:
    _kept(root)
    (lock,) = cache.glob("*.lock")
    said: list[str] = []

    def stop(doing: str, _done: int, _total: int) -> None:
        said.append(doing)
        raise Stopped

    files = ImageFiles(tuple(map(str, sorted(root.iterdir()))), WantedPixels((4, 4), 1))
    with lock_in_folder(lock), pytest.raises(Stopped):
        decode_onto_disk(files, root, stop)

    assert said == ["waiting for another run that decodes these images"]


@pytest.mark.parametrize("damage", ["record", "pixels", "link", "version"])
def test_that_what_is_damaged_is_made_anew(
    root: Path, cache: Path, tmp_path: Path, decoded: list[str], damage: str
) -> None:
    _kept(root)
    (record,) = cache.glob("*.json")
    (pixels,) = cache.glob("*.pixels")
    victim = tmp_path / "victim"
    victim.write_bytes(pixels.read_bytes())
    if damage == "record":
        record.write_text('{"looked_ns": 1, "prints": [[')
    elif damage == "pixels":
        pixels.write_bytes(pixels.read_bytes()[:-1])
    elif damage == "link":
        pixels.unlink()
        pixels.symlink_to(victim)
    else:
        record.write_text(record.read_text().replace('"looked_ns":', '"looked_ns":1'))

    assert _brightness(_kept(root)) == [0, 10, 20, 30, 40]
    assert len(decoded) == 10
    assert victim.stat().st_size == 5 * 16


def test_that_a_disk_without_space_for_them_is_said_before_anything_is_decoded(
    root: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpupanel.trainer.datasets.images.decoded_file.free_bytes", lambda _: 79)

    assert _code(root) == "decoded_images_no_space"
    assert decoded == []


def test_that_a_cache_that_cannot_be_written_to_is_a_problem(root: Path, cache: Path) -> None:
    cache.parent.mkdir()
    cache.write_text("no folder")

    assert _code(root) == "decoded_images_not_kept"


def test_that_a_file_that_is_cut_short_under_a_run_is_a_problem(root: Path, cache: Path) -> None:
    images = _kept(root)
    (pixels,) = cache.glob("*.pixels")
    os.truncate(pixels, 20)

    with pytest.raises(ProblemError) as caught:
        images.read(_EVERYTHING[:5])

    assert caught.value.problems[0].code == "decoded_images_unreadable"


def test_that_a_run_goes_on_with_its_images_though_another_one_replaces_them(root: Path) -> None:
    before = _kept(root)
    _draw(root / "0.png", 200)

    after = _kept(root)

    assert _brightness(before) == [0, 10, 20, 30, 40]
    assert _brightness(after) == [200, 10, 20, 30, 40]


def test_that_what_nobody_asked_for_in_a_month_is_removed(root: Path, cache: Path) -> None:
    _kept(root)
    for path in cache.iterdir():
        os.utime(path, (1.0, 1.0))

    _kept(root, (2, 2))

    assert len(list(cache.glob("*.pixels"))) == 1

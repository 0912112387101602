"""Images that were chosen one by one: predicted on, and nothing else."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.domain.files_below import MOST_FILES
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.visible_text import as_utf8
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.rules.data_rules import matters_to_task
from gpupanel.planning.script.data_section import script_of
from gpupanel.trainer.datasets.examples import AllExamples, file_of, read_features
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.images import SOURCE, read_images
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_images

READING = Reading(print)


def read(data: ImagesData) -> AllExamples:
    return SOURCE.read_all(data, READING, needs_labels=False)


def brightness(found: AllExamples) -> list[int]:
    pixels = read_features(found.features, np.arange(len(found), dtype=np.int32))
    return [int(image.mean()) for image in pixels]


def refused(data: ImagesData) -> tuple[Problem, ...]:
    with pytest.raises(ProblemError) as caught:
        read(data)
    return caught.value.problems


def chosen(folder: Path, *names: str) -> ImagesData:
    return ImagesData(path="").with_files([str(folder / name) for name in names])


def test_that_chosen_images_are_read_in_their_order_and_nothing_else(tmp_path: Path) -> None:
    make_images(tmp_path, {"a/1.png": 10, "b/1.png": 20, "b/2.JPG": 30, "train/x/1.png": 1})

    found = read(chosen(tmp_path, "b/2.JPG", "b/1.png", "a/1.png"))

    assert (found.labels, found.class_names, found.class_count_is_known) == (None, (), False)
    assert brightness(found) == [30, 20, 10]


@pytest.mark.parametrize(
    "name", ["ж猫.png", "it's $x {y}.png", "caf\udce9.png", "caf\udce9/\udcff.png"]
)
def test_that_names_in_any_script_are_found_by_run_and_script(tmp_path: Path, name: str) -> None:
    folder = make_images(tmp_path / "in", {name: 10, r"caf\xe8.png": 90})
    data = chosen(folder, name, r"caf\xe8.png")
    assert all(as_utf8(each) == each for each in data.files)

    found = read(data)
    script: dict[str, object] = {"np": np}
    exec(f"import os\n{script_of(data).read(data, needs_labels=False)}", script)

    assert brightness(found) == [10, 90]
    assert [str(path) for path in script["x"]] == [  # type: ignore[attr-defined]
        file_of(found.features, 0) or str(folder / name),
        str(folder / r"caf\xe8.png"),
    ]


def test_that_what_is_no_image_or_not_there_is_named_and_left_out_by_a_fix(
    tmp_path: Path,
) -> None:
    make_images(tmp_path, {"1.png": 10})
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "link.png").symlink_to("nowhere.png")
    data = chosen(tmp_path, "notes.txt", "1.png", "folder.png", "gone.png", "link.png")
    data = data.model_copy(update={"files": (*data.files, "nul\0.png")})

    missing, others = refused(data)

    assert (missing.code, others.code) == ("data_files_missing", "data_files_no_pictures")
    assert '"gone.png", "link.png"' in missing.message
    assert '2 of the 6 chosen files are not images by their names: "notes.txt", "folder.png"' in (
        others.message
    )
    assert others.fix is not None
    mended = apply_fix(Profile(data=data), others.fix).data
    assert isinstance(mended, ImagesData)
    assert brightness(read(mended)) == [10]
    seen = preview(PreviewRequest(data=data, task="predict"))
    assert {each.code for each in seen.problems} == {missing.code, others.code}
    (alone,) = refused(chosen(tmp_path, "notes.txt"))
    assert alone.fix is None


def test_that_a_fifo_a_device_and_a_damaged_image_are_reported_and_wait_for_nobody(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    (tmp_path / "cut.png").write_bytes(b"\x89PNG\r\n")
    for name in ("pipe.png", "zero.png", "cut.png"):
        began = time.monotonic()
        (problem,) = refused(chosen(tmp_path, name))
        assert name in problem.message
        assert time.monotonic() - began < 5.0


def test_that_a_image_that_goes_away_is_left_out_as_one_of_a_folder(tmp_path: Path) -> None:
    make_images(tmp_path, {f"{number}.png": number for number in range(100)})
    data = chosen(tmp_path, *(f"{number}.png" for number in range(100)))
    (tmp_path / "7.png").write_bytes(b"")

    found = read(data)

    assert list(found.unreadable) == [7]
    assert found.notes[0].code == "data_images_skipped"
    data = data.model_copy(update={"cache": DataCache.NONE})
    whole = read(data)
    (tmp_path / "8.png").unlink()
    with pytest.raises(ProblemError) as caught:
        read_features(whole.features, np.array([8], np.int32))
    assert caught.value.problems[0].code == "data_image_missing"


def test_that_nothing_is_trained_or_evaluated_on_them(tmp_path: Path) -> None:
    make_images(tmp_path, {"1.png": 10, "2.png": 20})
    data = chosen(tmp_path, "1.png", "2.png")
    for must_differ in (True, False):
        with pytest.raises(ProblemError) as caught:
            read_images(data, must_differ=must_differ)
        (problem,) = caught.value.problems
        assert (problem.code, problem.field) == ("data_labels_missing", "data.files")
    assert matters_to_task(Profile(task="evaluate", data=data), problem)
    assert not matters_to_task(Profile(task="predict", data=data), problem)


def test_that_a_preview_shows_them_and_a_scan_looks_through_them(tmp_path: Path) -> None:
    make_images(tmp_path, {"1.png": 10, "2.png": 10, "other/3.png": 30})
    data = chosen(tmp_path, "1.png", "2.png")

    seen = preview(PreviewRequest(data=data, task="predict", example_limit=5))
    scanned = SOURCE.scan(data, Reading(print, needs_labels=False), lambda _: None)

    assert isinstance(seen, DataPreview)
    assert (seen.example_count, len(seen.examples), seen.offers) == (2, 2, {})
    assert scanned.sets["training"].count == 2


def test_that_as_many_as_a_profile_names_are_found_in_a_second(tmp_path: Path) -> None:
    first = tmp_path / "0.png"
    make_images(tmp_path, {"0.png": 10})
    for number in range(1, MOST_FILES):
        os.link(first, tmp_path / f"{number}.png")
    data = chosen(tmp_path, *(f"{number}.png" for number in range(MOST_FILES)))
    data = data.model_copy(update={"cache": DataCache.NONE})

    began = time.process_time()
    found = read(data)

    assert len(found) == MOST_FILES
    assert time.process_time() - began < 1.0

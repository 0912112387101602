"""What is listed of a folder, whatever somebody put there."""

import os
from pathlib import Path

import pytest

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.images.listing import images_below, look_into
from gpupanel.trainer.datasets.images.sets import list_sets
from tests.unit.trainer.image_folders import make_classes


def names_below(root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path in images_below(root, "data.path")]


def test_that_images_are_in_the_order_of_the_parts_of_their_paths(tmp_path: Path) -> None:
    for name in ("b.png", "a.png", "a/c.png", "a!/d.png", ".hidden/e.gif", "B.JPEG", "a/b/.f.tif"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("notes.txt", "png", ".png", "a.png.part", "x."):
        (tmp_path / name).touch()
    assert names_below(tmp_path) == [
        os.path.relpath(path, tmp_path)
        for path in sorted(tmp_path.rglob("*"))
        if not any(part.startswith(".") for part in path.relative_to(tmp_path).parts)
        and path.suffix.lower() in {".png", ".gif", ".jpeg", ".tif"}
        and path.is_file()
    ]


def test_that_links_to_folders_are_not_gone_into(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (tmp_path / "beside").mkdir()
    for place in (tmp_path / "beside" / "secret.png", root / "deep" / "1.png"):
        place.touch()
    (root / "deep" / "loop").symlink_to(root)
    (root / "deep" / "out").symlink_to(tmp_path / "beside")
    (root / "deep" / "out.png").symlink_to(tmp_path / "beside")
    (root / "link.png").symlink_to(root / "deep" / "1.png")
    assert names_below(root) == ["deep/1.png", "link.png"]


def test_that_a_fifo_is_listed_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.jpg")
    assert names_below(tmp_path) == ["fifo.jpg"]
    assert look_into(tmp_path, "data.path").has_images


def test_that_names_are_shown_with_their_control_characters_as_escapes(tmp_path: Path) -> None:
    make_classes(tmp_path, {"\x1b[2Jcat": 1, "\u202edog": 0})
    with pytest.raises(ProblemError) as caught:
        list_sets(ImagesData(path=str(tmp_path)))
    (problem,) = caught.value.problems
    assert problem.code == "data_class_empty"
    assert r'"\u202edog"' in problem.message
    assert Problem.model_validate_json(problem.model_dump_json()) == problem


@pytest.mark.parametrize("error", [FileNotFoundError(2, "gone"), PermissionError(13, "no entry")])
def test_that_a_folder_that_cannot_be_read_any_more_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    make_classes(tmp_path, {"cat": 1, "dog": 1})
    scandir = os.scandir

    def failing(path: str) -> object:
        if str(path).endswith("dog"):
            error.filename = str(path)
            raise error
        return scandir(path)

    monkeypatch.setattr("gpupanel.trainer.datasets.images.listing.os.scandir", failing)
    with pytest.raises(ProblemError) as caught:
        list_sets(ImagesData(path=str(tmp_path)))
    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == ("data_file_unreadable", "data.path")
    assert str(tmp_path / "dog") in problem.message


def test_that_a_link_to_itself_ends_no_listing(tmp_path: Path) -> None:
    make_classes(tmp_path, {"cat": 1, "dog": 1})
    for place in (tmp_path / "cat", tmp_path):
        (place / "round.png").symlink_to(place / "round.png")
    assert names_below(tmp_path / "cat") == ["0.png", "round.png"]
    assert [each.name for each in look_into(tmp_path, "data.path").folders] == ["cat", "dog"]

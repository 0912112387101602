"""Which image a line of a table is about, and which column names the images."""

import time

import pytest

from gpupanel.domain.images_in_table import (
    MISSING,
    OUTSIDE,
    SEVERAL,
    NamedImages,
    TableOfImages,
    table_of_images,
)

NAMES = ["a.png", "b.png", "b.bmp", "cats/1.png", "dogs/1.png", "cats/2.JPG", "cafe\u0301.png"]


def places(*cells: str, root: str = "/data/train", names: list[str] = NAMES) -> list[int]:
    return NamedImages(root, names).places(cells)


@pytest.mark.parametrize(
    ("cell", "place"),
    [
        ("a.png", 0),
        (" ./a.png ", 0),
        ("a", 0),
        ("A.PNG", 0),
        ("b", SEVERAL),
        ("b.bmp", 2),
        ("1.png", SEVERAL),
        ("cats\\1.png", 3),
        ("dogs/1", 4),
        ("2.jpg", 5),
        ("caf\u00e9", 6),
        ("CAF\u00c9.png", 6),
        ("train/a.png", 0),
        ("../train/a.png", 0),
        ("/home/me/data/cats/1.png", 3),
        ("C:\\images\\a.png", 0),
        ("https://host/set/dogs/1.png", 4),
        ("/data/train/cats/2", 5),
        ("birds/1.png", MISSING),
        ("/data/train/birds/a.png", MISSING),
        ("gone.png", MISSING),
        ("", MISSING),
        ("../a.png", OUTSIDE),
        ("..", OUTSIDE),
        ("x/../../a.png", OUTSIDE),
        ("/etc/passwd", OUTSIDE),
        ("D:/gone.png", OUTSIDE),
    ],
)
def test_that_a_name_means_the_only_image_that_it_can(cell: str, place: int) -> None:
    assert places(cell) == [place]


def test_that_folders_of_another_machine_are_those_of_all_cells() -> None:
    flat = ["1.png", "2.png"]
    # The folder itself is among them: others are elsewhere, although the names are the same.
    assert places("train/1.png", "test/1.png", "test/2.png", names=flat) == [0, MISSING, MISSING]
    # Else two of them cannot be the same image.
    assert places("x/1.png", "y/1.png", "y/2.png", names=flat) == [0, SEVERAL, 1]
    assert places("/me/1.png", "/me/3.png", names=flat) == [0, MISSING]
    assert places("/1.png", "/3.png", names=flat) == [0, MISSING]
    assert places("/x/cats/1.png", names=["cats/1.png", "1.png"]) == [0]


def table(*lines: str, chosen: str | None = None, names: list[str] = NAMES) -> TableOfImages | None:
    rows = [line.split(",") for line in lines]
    return table_of_images(rows, NamedImages("/data/train", names), chosen)


NUMBERED = [f"{number}.png" for number in range(9)]


@pytest.mark.parametrize(
    ("lines", "names", "found"),
    [
        (("kind,file", "x,a.png", "y,b.png"), NAMES, (("kind", "file"), 1, (), True)),
        (("x,a.png", "y,b.png"), NAMES, (("0", "1"), 1, (), False)),
        # A number of each line may name an image, too: files with suffixes are surer, then names.
        ((",file", "0,3.png", "1,4.png"), NUMBERED, (("0", "file"), 1, (), True)),
        (("n,image_id", "0,3", "1,4"), NUMBERED, (("n", "image_id"), 1, (), True)),
        (("id,path", "3,3", "4,4"), NUMBERED, (("id", "path"), 1, (), True)),
        (("n,m", "0,3", "1,4"), NUMBERED, (("n", "m"), 0, (1,), True)),
        (("n,m", "3,3", "4,4"), NUMBERED, (("n", "m"), 0, (), True)),
        # Classes that happen to be names of images come back.
        (("a,b", "x1,1", "x2,1", "x3,1"), NUMBERED, (("a", "b"), 0, (), True)),
        (("file,k", "gone.png,1", "lost.png,2"), ["q.png"], (("file", "k"), 0, (), True)),
        # No header: a line of an image that is not there, or with what other lines hold.
        (("gone.png,x", "a.png,y"), NAMES, (("0", "1"), 0, (), False)),
        (("gone,x", "a,y", "b.png,x"), NAMES, (("0", "1"), 0, (), False)),
        (("gone,3", "a,4.5", "b.png,5"), NAMES, (("0", "1"), 0, (), False)),
        (("f,2020,2021", "a,1,0", "b.png,0,1"), NAMES, (("f", "2020", "2021"), 0, (), True)),
        (("f,k,k,", "a,x,y,z"), NAMES, (("f", "k", "k (2)", "3"), 0, (), True)),
        (("f", "a"), NAMES, (("f",), 0, (), True)),
        (("f,k",), NAMES, (("f", "k"), 0, (), True)),
        (("f,k", "a.png,1", "short"), NAMES, (("f", "k"), 0, (), True)),
    ],
)
def test_that_the_column_of_the_images_is_found_by_what_it_holds(
    lines: tuple[str, ...], names: list[str], found: tuple[object, ...]
) -> None:
    assert table(*lines, names=names) == found


def test_that_the_column_can_be_chosen() -> None:
    chosen = table("n,m", "0,3", "1,4", chosen="m", names=NUMBERED)
    assert chosen == (("n", "m"), 1, (), True)
    # Without a header by its place; what stands in the first line is no name then.
    assert table("1,3", "0,4", chosen="1", names=NUMBERED) == (("0", "1"), 1, (), False)
    assert table("x,a.png", "y,b.png", chosen="1") == (("0", "1"), 1, (), False)
    assert table("x,a.png", "y,b.png", chosen="2") is None
    assert table("n,m", "0,3", chosen="k") is None
    assert table("n,1", "a.png,3", chosen="1", names=["3.png"]) == (("n", "1"), 1, (), True)


def test_that_many_images_of_one_name_are_found_at_once() -> None:
    count = 20_000
    images = NamedImages("/data", (f"scans/{number}/t1.png" for number in range(count)))
    cells = [f"/other/scans/{number}/t1.png" for number in range(count)]
    began = time.process_time()
    assert images.places(cells) == list(range(count))
    assert images.places([f"{number}/T1" for number in range(count)]) == list(range(count))
    assert time.process_time() - began < 5  # each with each would be minutes

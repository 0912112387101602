"""Confusion matrices of few classes and of thousands, in memory and in their file."""

import io
import os
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.confusion import Mistake
from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files import evaluation_archive
from gpupanel.files.confusion_file import ConfusionCells, read_confusion, write_confusion
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix, read_matrix

COUNTS = ((8, 2, 0), (1, 9, 0), (0, 0, 0))
PETS = ConfusionMatrix.of_counts(COUNTS, ("cat", "dog", "unicorn"))
FOUND = EvaluationDone(
    time_s=1.0, examples=20, metrics=Metrics(accuracy=0.85), class_count=3, confusion_file="e"
)


def cells_of(count: int, examples: int) -> ConfusionCells:
    """As an evaluation finds them: most examples right."""
    random = np.random.default_rng(count)
    true = random.integers(0, count, examples)
    taken = np.where(random.random(examples) < 0.9, true, random.integers(0, count, examples))
    places, counts = np.unique(true * count + taken, return_counts=True)
    names = tuple(f"class {number}" for number in range(count))
    return ConfusionCells(places // count, places % count, counts, names)


def written(folder: Path, cells: ConfusionCells) -> RunLayout:
    layout = RunLayout(folder)
    write_confusion(layout.confusion, cells)
    return layout


def test_that_figures_are_those_of_the_counts() -> None:
    cat, dog, unicorn = PETS.classes

    assert (cat.name, cat.examples, cat.predicted, cat.right) == ("cat", 10, 9, 8)
    assert (dog.name, dog.examples, dog.predicted, dog.right) == ("dog", 10, 11, 9)
    assert (unicorn.examples, unicorn.predicted, unicorn.right) == (0, 0, 0)
    assert PETS.examples == 20
    assert PETS.accuracy == pytest.approx(17 / 20)
    assert [PETS.count_at(0, column) for column in range(3)] == [8, 2, 0]
    assert PETS.count_at(2, 2) == 0
    assert PETS.in_full() == [list(row) for row in COUNTS]


def test_that_the_worst_mistake_is_named() -> None:
    mistake = PETS.most_mistaken_for(0)
    assert mistake is not None
    assert mistake.text == "dog (2)"
    assert PETS.most_mistaken_for(2) is None


def test_that_mistakes_that_are_equally_frequent_are_all_told() -> None:
    counts = (9, 2, 2, 0, 0), (1, 5, 1, 1, 1), (0, 0, 3, 0, 1), (0,) * 5, (4, 4, 0, 4, 0)
    matrix = ConfusionMatrix.of_counts(counts, "abcde")
    told = [matrix.most_mistaken_for(number) for number in range(5)]
    assert [each and each.text for each in told] == [
        "b, c (2 each)",
        "a, c and 2 more (1 each)",
        "e (1)",
        None,
        "a, b and 1 more (4 each)",
    ]


def test_that_no_examples_have_no_accuracy() -> None:
    nothing = ConfusionMatrix.of_counts(((0,),), ("cat",))

    assert (nothing.examples, nothing.accuracy, nothing.count_at(0, 0)) == (0, None, 0)
    assert ConfusionMatrix.of_counts((), ()).classes == ()


@pytest.mark.parametrize("counts", [((1,),), ((1, 2), (3,))])
def test_that_a_matrix_is_square(counts: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(ValueError, match="a row and a column for each class"):
        ConfusionMatrix.of_counts(counts, ("cat", "dog"))


@given(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=4, max_size=4))
def test_that_figures_and_blocks_add_up(counts: list[list[int]]) -> None:
    matrix = ConfusionMatrix.of_counts(counts, "abcd")

    assert sum(each.examples for each in matrix.classes) == matrix.examples
    assert sum(each.predicted for each in matrix.classes) == matrix.examples
    for number, row in enumerate(counts):
        others = {"abcd"[at]: count for at, count in enumerate(row) if at != number and count}
        worst = max(others.values(), default=0)
        names = tuple(name for name, count in others.items() if count == worst)
        more = len(names[2:])
        wanted = Mistake(names=names[:2], others=more, count=worst) if names else None
        assert matrix.most_mistaken_for(number) == wanted
    whole = np.asarray(counts)
    assert matrix.summed(2).tolist() == [
        [whole[row : row + 2, column : column + 2].sum() for column in (0, 2)] for row in (0, 2)
    ]
    assert matrix.summed(4).tolist() == counts
    assert matrix.summed(3).shape == (2, 2)


@pytest.mark.parametrize(("count", "examples"), [(1_000, 50_000), (10_000, 200_000)])
def test_that_thousands_of_classes_take_little_room(
    tmp_path: Path, count: int, examples: int
) -> None:
    cells = cells_of(count, examples)
    layout = written(tmp_path, cells)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    matrix = read_matrix(layout, FOUND)

    assert isinstance(matrix, ConfusionMatrix)
    assert (matrix.size, matrix.examples) == (count, examples)
    matrix.prepare()
    assert sum(each.right for each in matrix.classes) == round(matrix.accuracy * examples)
    assert matrix.summed(1_000).shape == (1_000, 1_000)
    # A whole matrix of 10,000 classes would take 800 MB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 1024
    assert layout.confusion.stat().st_size < 2 * 2**20
    assert layout.confusion.stat().st_mode & 0o077 == 0


def test_that_an_event_of_an_earlier_version_still_reports_its_matrix(tmp_path: Path) -> None:
    old = FOUND.model_copy(
        update={"confusion": COUNTS, "class_names": PETS.class_names, "confusion_file": ""}
    )

    matrix = read_matrix(RunLayout(tmp_path), old)

    assert isinstance(matrix, ConfusionMatrix)
    assert matrix.classes == PETS.classes


def test_that_values_have_no_matrix(tmp_path: Path) -> None:
    assert read_matrix(RunLayout(tmp_path), FOUND.model_copy(update={"confusion_file": ""})) is None


def member(array: np.ndarray) -> bytes:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


GOOD = {
    "row": np.array([0, 0, 1]),
    "column": np.array([0, 1, 1]),
    "count": np.array([8, 2, 9]),
    "class_names": np.array(["cat", "dog"]),
}


def save(path: Path, **changes: object) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in {**GOOD, **changes}.items():
            if array is not None:
                archive.writestr(f"{name}.npy", member(np.asarray(array)))


BAD: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(missing_ok=True),
    "no archive": lambda path: path.write_bytes(b"nothing"),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:300]),
    "an array less": lambda path: save(path, count=None),
    "another length": lambda path: save(path, count=[1, 2]),
    "out of range": lambda path: save(path, column=[0, 1, 2]),
    "negative": lambda path: save(path, row=[-1, 0, 1]),
    "in disorder": lambda path: save(path, row=[1, 0, 0]),
    "twice": lambda path: save(path, column=[0, 0, 1]),
    "no count": lambda path: save(path, count=[8, 0, 9]),
    "great counts": lambda path: save(path, count=[8, 2**62, 9]),
    "unsigned counts": lambda path: save(path, count=np.array([8, 2**63, 9], np.uint64)),
    "floats": lambda path: save(path, count=[8.0, 2.0, 9.0]),
    "two dimensions": lambda path: save(path, count=[[8, 2, 9]]),
    "objects": lambda path: save(path, class_names=np.array(["cat", Path()], object)),
    "numbers for names": lambda path: save(path, class_names=[1, 2]),
    "a link": lambda path: (path.rename(path.with_name("else")), path.symlink_to("else")),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("kind", BAD)
def test_that_a_file_that_is_no_confusion_matrix_is_reported(tmp_path: Path, kind: str) -> None:
    layout = RunLayout(tmp_path)
    save(layout.confusion)
    assert isinstance(read_matrix(layout, FOUND), ConfusionMatrix)
    BAD[kind](layout.confusion)

    problem = read_matrix(layout, FOUND)

    assert isinstance(problem, Problem)
    assert (problem.code, problem.is_error) == ("confusion_unread", False)


def test_that_a_file_that_unpacks_to_more_than_it_may_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = RunLayout(tmp_path)
    save(layout.confusion)
    monkeypatch.setattr(evaluation_archive, "LARGEST_BYTES", 100)

    with pytest.raises(ValueError, match="more than 100 bytes"):
        read_confusion(layout.confusion)

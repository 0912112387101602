"""Images of one group are held out together, as a column of their CSV says."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import ImagesData, Target
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.images import SOURCE, read_images
from gpupanel.trainer.datasets.split import split
from tests.unit.trainer.image_folders import make_images

READING = Reading(print)
PATIENTS = ["ann", "bob", "", "cy", "ann", "dan", "cy", "ann", "bob", "eve", "", "ann"]


def make(root: Path, *, header: str = "file,patient,kind", **settings: object) -> ImagesData:
    """Twelve images, each with its own brightness."""
    make_images(root, {f"{n}.png": 10 * n for n in range(len(PATIENTS))})
    rows = [f"{n}.png,{name},{'tea' if n % 2 else 'cup'}" for n, name in enumerate(PATIENTS)]
    (root / "labels.csv").write_text("\n".join([*([header] if header else []), *rows]) + "\n")
    chosen = {"group": "patient", "validation_fraction": 0.4, **settings}
    return ImagesData(path=str(root), labels_csv="labels.csv", image_size=(4, 4), **chosen)


def patients_of(data: ImagesData, seed: int) -> tuple[set[str], set[str]]:
    """Of those trained on, and of those held out."""
    found = split(read_images(data), data, seed)
    assert found.validation is not None
    return tuple(  # type: ignore[return-value]
        {PATIENTS[int(pixels.mean()) // 10] for pixels in part.read(everything(len(part)))}
        for part in (found.training, found.validation)
    )


def everything(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


def refused(data: ImagesData) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read_images(data)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize("seed", range(5))
def test_that_nobody_is_on_both_sides(tmp_path: Path, seed: int) -> None:
    trained, held_out = patients_of(make(tmp_path), seed)
    assert trained
    assert held_out
    assert not trained & held_out
    assert trained | held_out == set(PATIENTS)


def test_that_the_column_is_no_label(tmp_path: Path) -> None:
    found = read_images(make(tmp_path))
    assert (found.class_names, found.target) == (("cup", "tea"), Target.CLASSES)
    assert found.training.labels.tolist() == [0, 1] * 6


def test_that_columns_without_a_header_are_numbered(tmp_path: Path) -> None:
    data = make(tmp_path, header="", group="1")
    assert not set.intersection(*patients_of(data, 3))
    assert read_images(data).class_names == ("cup", "tea")


def test_that_a_set_of_its_own_need_not_have_that_column(tmp_path: Path) -> None:
    data = make(tmp_path / "train")
    make_images(tmp_path / "other", {"x.png": 7, "y.png": 9})
    (tmp_path / "other" / "labels.csv").write_text("file,kind\nx.png,tea\ny.png,cup\n")
    found = read_images(data.model_copy(update={"test_path": str(tmp_path / "other")}))
    assert found.test is not None
    assert found.test.labels.tolist() == [1, 0]


def test_that_a_model_is_evaluated_on_the_same_images(tmp_path: Path) -> None:
    data = make(tmp_path)
    expected = read_images(data).groups
    assert expected is not None
    for needs_labels in (True, False):
        found = SOURCE.read_all(data, READING, needs_labels=needs_labels)
        assert found.groups is not None
        assert found.groups.tolist() == expected.tolist()


def test_that_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    problem = refused(make(tmp_path, group="ward\x1b"))
    assert (problem.code, problem.field) == ("data_group_unknown", "data.group")
    assert '"patient", "kind"' in problem.message
    assert "\x1b" not in problem.message


def test_that_a_csv_must_say_more_than_what_belongs_together(tmp_path: Path) -> None:
    make_images(tmp_path, {"a.png": 1, "b.png": 2})
    (tmp_path / "labels.csv").write_text("file,patient\na.png,ann\nb.png,bob\n")
    data = ImagesData(path=str(tmp_path), labels_csv="labels.csv", group="patient")
    problem = refused(data)
    assert (problem.code, problem.field) == ("data_csv_one_column", "data.group")


def test_that_one_group_leaves_nothing_to_train_on(tmp_path: Path) -> None:
    data = make(tmp_path, group="kind", header="file,kind,patient")
    (tmp_path / "labels.csv").write_text(
        "file,kind,patient\n" + "".join(f"{n}.png,same,{n % 3}\n" for n in range(12))
    )
    with pytest.raises(ProblemError) as caught:
        split(read_images(data), data, 3)
    assert caught.value.problems[0].code == "data_validation_fraction"


def test_that_the_columns_are_offered(tmp_path: Path) -> None:
    data = make(tmp_path)
    offered = SOURCE.find(data, READING).offers["group"]
    assert [choice.value for choice in offered] == ["patient", "kind"]
    for first in ("0.png", "0", "./0.png", "gone.jpg", "file"):
        (tmp_path / "labels.csv").write_text(f"{first};ann;tea\n")
        numbered = SOURCE.find(data, READING).offers["group"]
        wanted = ["ann", "tea"] if first == "file" else ["1", "2"]
        assert [choice.value for choice in numbered] == wanted


@pytest.mark.parametrize("content", ["", "x" * 5000 + ",a\n", "fi\udc80le,\udcff\n", "a\n"])
def test_that_what_is_no_list_of_images_offers_what_it_has(tmp_path: Path, content: str) -> None:
    data = make(tmp_path)
    (tmp_path / "labels.csv").write_bytes(content.encode(errors="surrogateescape"))
    offered = SOURCE.find(data, READING).offers["group"]
    assert len(offered) == content.count(",")
    (tmp_path / "labels.csv").unlink()
    assert SOURCE.find(data, READING).offers["group"] == ()

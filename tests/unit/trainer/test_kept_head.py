"""A saved model that is trained further keeps its classes: those of the data are found by name."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, ImagesData, NpzData, Target
from gpupanel.domain.model import Head, SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.datasets.split import Split, split
from gpupanel.trainer.models.kept_head import kept_classes, with_kept_classes
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_classes, make_images
from tests.unit.trainer.test_classes_of_the_model import model_of


def divided(model: SavedModel, data: DataSettings) -> Split:
    """As a run has its examples."""
    found = split(read_data(data, Reading(no_download)), data, 7)
    return with_kept_classes(found, kept_classes(model, data))


def refused(model: SavedModel, data: DataSettings) -> Problem:
    """By the run, and before it by the preview."""
    with pytest.raises(ProblemError) as raised:
        divided(model, data)
    (problem,) = raised.value.problems
    assert previewed(model, data)[0] == problem
    return problem


def previewed(model: SavedModel, data: DataSettings) -> tuple[Problem, ...]:
    shown = preview(PreviewRequest(data=data, model=model)).model_problems
    # The file of these tests has no weights.
    return tuple(each for each in shown if each.code != "model_file_damaged")


@pytest.fixture(autouse=True)
def _without_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gpupanel.trainer.tools.preview.model_preview.check_model_file", lambda *_, **__: None
    )


def said(model_names: Sequence[str], examples: Split, part: str = "training") -> list[str]:
    labels = getattr(examples, part).labels
    return [model_names[int(label)] for label in labels]


PETS = ("wolf", "dog", "cat")


def saved(folder: Path, names: Sequence[str] = PETS, **more: object) -> SavedModel:
    return SavedModel(path=str(model_of(folder, names, **more)))


def test_that_classes_are_found_by_name_in_every_set(tmp_path: Path) -> None:
    make_classes(tmp_path / "new", {"cat": 4, "dog": 3, "wolf": 3})
    make_classes(tmp_path / "test", {"cat": 1, "dog": 2, "wolf": 1})
    data = ImagesData(
        path=str(tmp_path / "new"), test_path=str(tmp_path / "test"), validation_fraction=0.3
    )
    model = saved(tmp_path)
    found, plain = divided(model, data), split(read_data(data, Reading(no_download)), data, 7)
    assert found.data.class_names == PETS
    of_data = ("cat", "dog", "wolf")
    for part in ("training", "validation", "test"):
        assert said(PETS, found, part) == said(of_data, plain, part)
    assert previewed(model, data) == ()


def test_that_a_missing_class_is_no_error(tmp_path: Path) -> None:
    data = ImagesData(path=str(make_classes(tmp_path / "new", {"cat": 2, "wolf": 2})))
    found = divided(saved(tmp_path), data)
    assert (found.data.class_names, said(PETS, found)) == (PETS, ["cat"] * 2 + ["wolf"] * 2)
    assert previewed(saved(tmp_path), data) == ()


def test_that_numbers_that_the_model_has_as_names_are_names(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.ones((4, 3)), y=[1, 2, 10, 2])
    data, names = NpzData(path=str(tmp_path / "a.npz")), ("1", "10", "2")
    found = divided(saved(tmp_path, names), data)
    assert said(names, found) == ["1", "2", "10", "2"]
    assert previewed(saved(tmp_path, names), data) == ()


def test_that_an_unknown_class_is_refused_by_name_and_each_fix_is_a_way_on(
    tmp_path: Path,
) -> None:
    data = ImagesData(path=str(make_classes(tmp_path / "new", {"cat": 2, "dog": 2, "fox": 2})))
    model = saved(tmp_path)
    problem = refused(model, data)
    assert (problem.code, '"fox"' in problem.message) == ("class_unknown", True)
    asked = Profile(data=data, model=model)
    new_head, leave_out = problem.fix, *problem.alternatives
    assert new_head is not None
    mended = apply_fix(asked, new_head)
    assert isinstance(mended.model, SavedModel)
    assert mended.model.head is Head.NEW
    assert divided(mended.model, data).data.class_names == ("cat", "dog", "fox")
    mended = apply_fix(asked, leave_out)
    assert said(PETS, divided(model, mended.data)) == ["cat"] * 2 + ["dog"] * 2


def test_that_numbers_for_names_and_names_for_numbers_are_said(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.ones((4, 9, 9), np.float32), y=[0, 1, 2, 2])
    numbers = NpzData(path=str(tmp_path / "a.npz"))
    model = saved(tmp_path)
    found = divided(model, numbers)
    assert said(PETS, found) == ["wolf", "dog", "cat", "cat"]
    assert [note.code for note in found.data.notes] == ["classes_matched_by_number"]
    assert [note.code for note in previewed(model, numbers)] == ["classes_matched_by_number"]

    images = ImagesData(path=str(make_classes(tmp_path / "new", {"cat": 1, "dog": 1, "wolf": 1})))
    of_numbers = saved(tmp_path, ("0", "1", "2"))
    *_, naming = refused(of_numbers, images).alternatives
    named = apply_fix(Profile(data=images, model=of_numbers), naming).model
    assert isinstance(named, SavedModel)
    assert divided(named, images).data.class_names == ("cat", "dog", "wolf")


def test_that_a_model_that_does_not_name_its_classes_is_said_to_be_taken_in_order(
    tmp_path: Path,
) -> None:
    images = ImagesData(path=str(make_classes(tmp_path / "new", {"cat": 1, "dog": 1, "wolf": 1})))
    model = saved(tmp_path, ())
    found = divided(model, images)
    assert said(("cat", "dog", "wolf"), found) == ["cat", "dog", "wolf"]
    assert [note.code for note in found.data.notes] == ["model_without_class_names"]
    assert [note.code for note in previewed(model, images)] == ["model_without_class_names"]
    short = images.model_copy(update={"leave_out": ("wolf",)})
    assert previewed(model, short)[0].code == "saved_model_misfit"


def test_that_labels_are_found_by_their_columns_and_values_have_none(tmp_path: Path) -> None:
    folder = make_images(tmp_path / "new", {"a.png": 1, "b.png": 2})
    (folder / "labels.csv").write_text("file,soft,red\na.png,1,0\nb.png,1,1\n")
    data = ImagesData(path=str(folder), labels_csv="labels.csv", predicts=Target.LABELS)
    found = divided(saved(tmp_path, ("red", "soft"), target=Target.LABELS, outputs=2), data)
    assert found.training.labels.tolist() == [[0.0, 1.0], [1.0, 1.0]]
    three = saved(tmp_path, ("red", "soft", "round"), target=Target.LABELS)
    assert refused(three, data).code == "label_missing"

    values = saved(tmp_path, (), target=Target.VALUES, outputs=1)
    assert refused(values, data).code == "saved_model_misfit"
    x = np.ones((4, 9, 9), np.float32)
    np.savez(tmp_path / "a.npz", x=x, y=np.linspace(0, 1, 4))
    prices = NpzData(path=str(tmp_path / "a.npz"), predicts=Target.VALUES)
    assert divided(values, prices).data.class_names == ()

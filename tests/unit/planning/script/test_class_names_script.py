"""A script's classes are those of the model, as a run's are."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import ImagesData, TableData, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import Head, MlpModel, SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.task import Task
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.planning.script.class_names import classes_of_model, classes_to_train, kept_classes

PETS = ("wolf", "dog", "cat")


def carried_out(
    folder: Path,
    names: list[str],
    labels: Any,
    *,
    task: Task = "evaluate",
    target: Target = Target.CLASSES,
    known: tuple[str, ...] = PETS,
    **chosen: str,
) -> dict[str, Any]:
    path = folder / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        record = TrainedOn(predicts=target, class_names=known)
        archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
    profile = Profile(
        task=task,
        data=ImagesData(path="pets", labels_csv="labels.csv", predicts=target),
        model=SavedModel(path=str(path)),
        inference=InferenceSettings.model_validate(chosen),
    )
    y = None if labels is None else np.array(labels)
    count = 1 if y is None else len(y)
    held: dict[str, Any] = {"np": np, "y": y, "class_names": names, "indices": np.arange(count)}
    exec(classes_of_model(profile), held)
    assert held["class_names"] == list(known)
    return held


def test_that_a_script_matches_classes_by_name(tmp_path: Path) -> None:
    held = carried_out(tmp_path, ["cat", "dog", "empty"], [0, 1, 1])
    assert held["y"].tolist() == [2, 1, 1]
    with pytest.raises(SystemExit, match="fox"):
        carried_out(tmp_path, ["cat", "fox"], [0, 1])
    left = carried_out(tmp_path, ["cat", "fox"], [1, 0], unknown_classes="leave_out")
    assert (left["indices"].tolist(), left["y"].tolist()) == ([1], [-1, 2])
    numbers = ["0", "1", "2", "3"]
    assert carried_out(tmp_path, numbers[:2], [0, 1])["y"].tolist() == [0, 1]
    # Numbers that are names of the model, as folders have them, are these.
    named = carried_out(tmp_path, numbers, [1, 2, 3], known=("1", "10", "2", "3"))
    assert named["y"].tolist() == [0, 2, 3]


def test_that_a_predicting_script_needs_no_labels(tmp_path: Path) -> None:
    assert carried_out(tmp_path, ["cat", "fox"], [0, 1], task="predict")["y"] is None
    assert carried_out(tmp_path, [], None, task="predict")["y"] is None
    assert carried_out(tmp_path, ["dog"], [0], task="predict")["y"].tolist() == [1]


def test_that_a_script_orders_labels_by_name(tmp_path: Path) -> None:
    of_labels: dict[str, Any] = {"target": Target.LABELS}
    held = carried_out(tmp_path, ["cat", "dog", "wolf"], [[1, 0, 0], [0, 1, 1]], **of_labels)
    assert held["y"].tolist() == [[0, 0, 1], [1, 1, 0]]
    with pytest.raises(SystemExit, match="more labels"):
        carried_out(tmp_path, ["cat", "dog"], [[1, 0]], **of_labels)
    assert carried_out(tmp_path, ["cat"], [[1]], task="predict", **of_labels)["y"] is None


def test_that_a_training_script_keeps_the_names_with_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    of_values = ImagesData(path="p", labels_csv="a.csv", predicts=Target.VALUES)
    found = []
    for data in (ImagesData(path="p", labels_csv="a.csv"), of_values):
        exec(kept_classes(MlpModel(), data), {"names": ["a", "b"]})
        with zipfile.ZipFile("model.keras") as archive:
            found.append(TrainedOn.model_validate_json(archive.read(TRAINED_ON_MEMBER)))
        Path("model.keras").unlink()
    assert found == [
        TrainedOn(predicts=Target.CLASSES, class_names=("a", "b")),
        TrainedOn(predicts=Target.VALUES),
    ]


def trained_further(
    folder: Path, names: list[str], labels: Any, target: Target = Target.CLASSES
) -> dict[str, Any]:
    path = folder / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        record = TrainedOn(predicts=target, class_names=PETS)
        archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
    data = ImagesData(path="p", labels_csv="a.csv", predicts=target, test_path="t")
    y = np.array(labels)
    held: dict[str, Any] = {"np": np, "names": names, "y": y, "y_test": y[::-1]}
    model = SavedModel(path=str(path))
    exec(classes_to_train(model, data), held)
    exec(kept_classes(model, data).partition("with zipfile")[0], held)
    assert held["class_names"] == list(PETS)
    return held


def test_that_a_script_that_trains_a_model_further_keeps_its_classes(tmp_path: Path) -> None:
    held = trained_further(tmp_path, ["cat", "dog"], [0, 1, 1])
    assert (held["y"].tolist(), held["y_test"].tolist()) == ([2, 1, 1], [1, 1, 2])
    assert held["class_count"] == 3
    with pytest.raises(SystemExit, match="fox"):
        trained_further(tmp_path, ["cat", "fox"], [0, 1])
    rows = [[1, 0, 0], [0, 1, 1]]
    held = trained_further(tmp_path, ["cat", "dog", "wolf"], rows, Target.LABELS)
    assert held["y"].tolist() == [[0, 0, 1], [1, 1, 0]]
    with pytest.raises(SystemExit, match="more labels"):
        trained_further(tmp_path, ["cat", "dog"], [[1, 0]], Target.LABELS)


def test_that_only_a_kept_last_layer_has_classes_of_its_own(tmp_path: Path) -> None:
    saved, images = SavedModel(path=str(tmp_path / "m.keras")), ImagesData(path="p")
    new = saved.model_copy(update={"head": Head.NEW})
    values = ImagesData(path="p", labels_csv="a.csv", predicts=Target.VALUES)
    table = TableData(path="t.csv", target="kind")
    assert classes_to_train(saved, images)
    for model, data in ((new, images), (MlpModel(), images), (saved, values), (saved, table)):
        assert classes_to_train(model, data) == ""

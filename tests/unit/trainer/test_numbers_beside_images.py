"""Numbers of a CSV that belong to images: a second input of a model beside the pixels."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DataCache, ImagesData, PythonData, Scaling, Target
from gpupanel.domain.form_misfits import form_misfits
from gpupanel.domain.model import PythonModel, ResNetModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.scan import ScanRequest
from gpupanel.trainer.datasets.examples import DataSet, read_features
from gpupanel.trainer.datasets.fingerprint import compare, take_fingerprint
from gpupanel.trainer.datasets.packed_inputs import apart
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.unit.trainer.array_code import with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.image_folders import make_images
from tests.unit.trainer.test_the_rule import MIRRORED
from tests.unit.trainer.test_the_rule_for_arrays import apart as apart_by
from tests.unit.trainer.trained_runs import (
    ONE_DEVICE,
    changed,
    evaluation,
    last_metrics,
    profile,
    state,
    train_all,
)

COUNT = 12
AGES = [20.5 + number for number in range(COUNT)]
WEIGHTS = [80 - number for number in range(COUNT)]
KINDS = ["tea" if number % 2 else "cup" for number in range(COUNT)]
HEADER = "file,age,kind,weight"


def lines(**cells: str) -> list[str]:
    """A line of each image; of the first one some cells are others."""
    rows = [
        {"file": f"{n}.png", "age": str(AGES[n]), "kind": KINDS[n], "weight": str(WEIGHTS[n])}
        for n in range(COUNT)
    ]
    rows[0].update(cells)
    return [",".join(row.values()) for row in rows]


def make(root: Path, *rows: str, header: str = HEADER, **settings: Any) -> ImagesData:
    make_images(root, {f"{n}.png": 10 * n for n in range(COUNT)})
    (root / "labels.csv").write_text("\n".join([header, *(rows or lines())]) + "\n")
    chosen = {"numbers": ["weight", "age"], "label_columns": "kind", **settings}
    return ImagesData.model_validate(
        {"path": str(root), "labels_csv": "labels.csv", "image_size": (4, 4), **chosen}
    )


def read(data: ImagesData, **reading: Any) -> DataSet:
    return source_of(data).read(data, Reading(print, **reading))


def refused(data: ImagesData, **reading: Any) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read(data, **reading)
    (problem,) = caught.value.problems
    assert problem.hint
    return problem


@pytest.mark.parametrize("cache", DataCache)
def test_that_an_example_is_an_image_and_its_numbers(tmp_path: Path, cache: DataCache) -> None:
    data = make(tmp_path, *reversed(lines()), cache=cache)

    found = read(data)

    inputs = apart(found.training.read_all(), found.inputs)
    pixels = [10 * number for number in reversed(range(COUNT))]
    assert list(inputs) == ["image", "numbers"]
    assert (inputs["image"].dtype, inputs["image"].shape) == (np.uint8, (COUNT, 4, 4, 3))
    assert inputs["image"][:, 1, 2, 0].tolist() == pixels
    wanted = np.array([WEIGHTS, AGES], np.float32).T[::-1]
    np.testing.assert_array_equal(inputs["numbers"], wanted)
    assert found.training.labels.tolist() == [1, 0] * 6
    assert (found.target, found.scaling) == (Target.CLASSES, Scaling.NONE)
    assert (found.training.in_memory is None) is (cache is not DataCache.MEMORY)
    # What is held out has its own numbers, too.
    parts = split(found, data.model_copy(update={"validation_fraction": 0.5}), 3)
    assert parts.validation is not None
    for part in (parts.training, parts.validation):
        held = apart(part.read_all(), found.inputs)
        places = [int(each) // 10 for each in held["image"][:, 0, 0, 0]]
        assert held["numbers"][:, 0].tolist() == [WEIGHTS[place] for place in places]


def test_that_each_set_has_numbers_that_are_read_as_those_of_the_training(tmp_path: Path) -> None:
    data = make(tmp_path / "train", *lines(age='"1.234,5"'), numbers=["age"])
    text = (tmp_path / "train" / "labels.csv").read_text()
    (tmp_path / "train" / "labels.csv").write_text(text.replace("1,20.5", "1,20"))
    for number in range(1, COUNT):
        text = text.replace(f"png,{AGES[number]}", f'png,"{number},25"')
    (tmp_path / "train" / "labels.csv").write_text(text)
    make_images(tmp_path / "test", {"a.png": 3, "b.png": 5})
    other = tmp_path / "test" / "labels.csv"
    other.write_text('kind,file,age\ntea,a.png,"2,5"\ncup,b.png,"1.000"\n')
    data = data.model_copy(update={"test_path": str(tmp_path / "test")})

    found = read(data)

    numbers = apart(found.training.read_all(), found.inputs)["numbers"]
    assert numbers[:3, 0].tolist() == [1234.5, 1.25, 2.25]
    assert "data_numbers_read" in [each.code for each in found.notes]
    assert found.test is not None
    assert apart(found.test.read_all(), found.inputs)["numbers"].tolist() == [[2.5], [1000.0]]
    other.write_text("kind,file\ntea,a.png\ncup,b.png\n")
    problem = refused(data)
    assert (problem.code, problem.field) == ("image_numbers_misfit", "data.numbers")
    assert f'{other} has no column "age"' in problem.message


def test_that_columns_of_numbers_are_no_labels_and_may_be_groups_of_none(tmp_path: Path) -> None:
    found = read(make(tmp_path, label_columns=None))
    assert found.class_names == ("cup", "tea")
    data = make(tmp_path, label_columns=None, numbers=["age"], group="weight")
    found = read(data)
    assert found.groups is not None
    assert found.inputs[1].shape == (1,)
    assert found.class_names == ("cup", "tea")


@pytest.mark.parametrize(
    ("settings", "cells", "code", "words"),
    [
        ({"numbers": ["age", "age"]}, {}, "image_numbers_misfit", '"age" is named twice'),
        ({"numbers": ["size"]}, {}, "image_numbers_misfit", 'no column "size"; it has "age"'),
        ({"numbers": ["file"]}, {}, "image_numbers_misfit", '"file" of'),
        ({"numbers": ["kind"]}, {}, "image_numbers_misfit", '"kind" is what is predicted'),
        ({"group": "age"}, {}, "image_numbers_misfit", '"age" is the group column'),
        ({"labels_csv": ""}, {}, "image_numbers_misfit", "no CSV of labels with them"),
        ({"files": ["1.png"]}, {}, "image_numbers_misfit", "chosen one by one"),
        (
            {"label_columns": None, "numbers": ["age", "kind", "weight"]},
            {},
            "image_numbers_misfit",
            "is left to be predicted",
        ),
        ({"label_columns": "age", "numbers": ["kind"]}, {}, "data_csv_unreadable", '"cup" in col'),
        ({}, {"age": ""}, "data_csv_unreadable", 'Line 2 of {} has nothing in column "age"'),
        ({}, {"age": "n/a"}, "data_csv_unreadable", '"n/a", which means nothing, in column "age"'),
        ({}, {"age": "nan"}, "data_csv_unreadable", '"nan", which means nothing,'),
        ({}, {"age": "inf"}, "data_csv_unreadable", '"inf" in column "age", which is not a number'),
        ({}, {"age": "1e39"}, "data_csv_unreadable", '"1e39" in column "age"'),
        ({}, {"age": "old"}, "data_csv_unreadable", '"old" in column "age"'),
        ({"empty_words": ["80"]}, {}, "data_csv_unreadable", '"80", which means nothing,'),
        ({}, {"weight": "16777217"}, "data_numbers_not_exact", 'Column "weight" in'),
    ],
)
def test_that_numbers_that_cannot_be_an_input_are_refused(
    tmp_path: Path, settings: dict[str, Any], cells: dict[str, str], code: str, words: str
) -> None:
    problem = refused(make(tmp_path, *lines(**cells), **settings))

    assert (problem.code, problem.field) == (code, "data.numbers")
    assert words.format(tmp_path / "labels.csv") in problem.message


def test_that_what_may_be_read_in_two_ways_is_asked_about(tmp_path: Path) -> None:
    rows = [f"{number}.png,tea,{number}" for number in range(1, COUNT)]
    data = make(tmp_path, '0.png,cup,"1,234"', *rows, header="file,kind,age", numbers=["age"])

    problem = refused(data)

    assert (problem.code, problem.field) == ("data_numbers_unclear", "data.decimal")
    fixes = (problem.fix, *problem.alternatives)
    assert [each and each.changes[0].value for each in fixes] == [".", ","]
    found = read(data.model_copy(update={"decimal": ","}))
    assert apart(found.training.read_all(), found.inputs)["numbers"][0].tolist() == [
        pytest.approx(1.234)
    ]


def test_that_lines_that_say_different_numbers_of_an_image_are_refused(tmp_path: Path) -> None:
    problem = refused(make(tmp_path, *lines(), "0.png,99,cup,80"))
    assert problem.code == "data_csv_unreadable"
    assert "says otherwise than line 2" in problem.message


def test_that_images_without_labels_have_numbers_to_predict_with(tmp_path: Path) -> None:
    rows = [f"{n}.png,{WEIGHTS[n]},{AGES[n]}" for n in range(COUNT - 1)]
    data = make(tmp_path, *rows, header="file,weight,age", label_columns=None)

    found = source_of(data).read_all(data, Reading(print), needs_labels=False)

    assert (found.labels, len(found), found.file_names[0]) == (None, COUNT - 1, "0.png")
    everything = np.arange(len(found), dtype=np.int32)
    inputs = apart(read_features(found.features, everything), found.inputs)
    assert inputs["numbers"][:, 0].tolist() == WEIGHTS[:-1]
    shown = preview(PreviewRequest(data=data, task="predict", example_limit=2))
    assert shown.form.inputs == {"image": (4, 4, 3), "numbers": (2,)}
    assert [each.width for each in shown.examples] == [4, 4]
    (tmp_path / "labels.csv").write_text("file,weight,age\n0.png,,3\n")
    with pytest.raises(ProblemError) as caught:
        source_of(data).read_all(data, Reading(print), needs_labels=False)
    assert 'nothing in column "weight"' in caught.value.problems[0].message


def test_that_a_saved_model_keeps_its_columns_whatever_order_they_are_named_in(
    tmp_path: Path,
) -> None:
    data = make(tmp_path)
    trained = read(data)
    for numbers in (("weight", "age"), ("age", "weight"), ()):
        for needs_labels in (True, False):
            named = data.model_copy(update={"numbers": numbers})
            reading = Reading(print, recipe=trained.recipe)
            found = source_of(named).read_all(named, reading, needs_labels=needs_labels)
            assert found.inputs == trained.inputs
            rows = read_features(found.features, np.arange(COUNT, dtype=np.int32))
            np.testing.assert_array_equal(rows, trained.training.read_all())
    problem = refused(data.model_copy(update={"numbers": ("age",)}), recipe=trained.recipe)
    assert (problem.code, problem.field) == ("image_numbers_misfit", "data.numbers")
    assert 'learned from the numbers "weight", "age"' in problem.message
    assert problem.fix is not None
    assert problem.fix.changes[0].value == ["weight", "age"]
    alone = ImagesData(path=str(tmp_path), files=("1.png",), image_size=(4, 4))
    with pytest.raises(ProblemError) as caught:
        source_of(alone).read_all(alone, reading, needs_labels=False)
    assert "take numbers beside each image" in caught.value.problems[0].message


@pytest.mark.parametrize("cache", DataCache)
def test_that_another_example_stands_in_for_an_image_that_cannot_be_read(
    tmp_path: Path, cache: DataCache
) -> None:
    data = make(tmp_path, cache=cache, unreadable_share=0.2)
    (tmp_path / "4.png").write_bytes(b"\x89PNG but no more")

    found = read(data)
    trained = split(found, data, 3).training

    inputs = apart(trained.read_all(), found.inputs)
    # The next one with the same label, with the numbers that belong to it.
    assert inputs["image"][4, 0, 0, 0] == 60
    assert inputs["numbers"][4].tolist() == [WEIGHTS[6], AGES[6]]
    assert found.skipped is not None
    everything = source_of(data).read_all(data, Reading(print), needs_labels=True)
    assert list(everything.unreadable) == ([] if cache is DataCache.NONE else [4])
    strict = read(data.model_copy(update={"unreadable_share": 0.0})) if cache != "memory" else None
    if strict is not None:
        with pytest.raises(ProblemError):
            strict.training.read_all()


def test_that_a_preview_offers_columns_and_shows_images(tmp_path: Path) -> None:
    data = make(tmp_path, label_columns=None)

    found = preview(PreviewRequest(data=data, example_limit=2))

    assert [each for each in found.problems if each.is_error] == []
    assert [each.value for each in found.offers["numbers"]] == ["age", "kind", "weight"]
    assert found.found["label_columns"] == "kind"
    assert found.form.inputs == {"image": (4, 4, 3), "numbers": (2,)}
    assert found.image_sides == (9, 11)
    assert [each.width for each in found.examples] == [4, 4]
    detected = with_detected(Profile(data=data), found).data
    assert detected == data.model_copy(
        update={
            "file_column": "file",
            "label_columns": "kind",
            "predicts": Target.CLASSES,
            "labels_csv": detected.labels_csv,
        }
    )


def test_that_what_takes_images_alone_is_refused(tmp_path: Path) -> None:
    data = make(tmp_path)
    model = PythonModel(path="/model.py")
    augmented = data.model_copy(update={"augmentation": Augmentation(rotate_degrees=5.0)})
    form = read(data).form
    for chosen, codes in (
        (Profile(data=data, model=model), []),
        (Profile(data=data, model=ResNetModel()), ["examples_have_inputs"]),
        (Profile(data=augmented, model=model), ["augmentation_of_inputs"]),
    ):
        assert [each.code for each in form_misfits(chosen, form)] == codes


def test_that_a_scan_reads_the_numbers(tmp_path: Path) -> None:
    make_images(tmp_path, {f"{n}.png": 3 * n for n in range(40)})
    rows = [f"{n}.png,{n % 7},{'tea' if n % 2 else 'cup'}" for n in range(39)]
    data = make(tmp_path, *rows, "39.png,1000000,tea", header="file,age,kind", numbers=["age"])

    found = scan(ScanRequest(data=data))

    (column,) = found.columns
    assert (column.name, column.least, column.greatest) == ("age", 0.0, 1e6)
    (far,) = [each for each in found.problems if each.code == "scan_values_far_outside"]
    assert "39.png" in far.message
    bad = data.model_copy(update={"numbers": ("kind",), "label_columns": "age"})
    assert "data_csv_unreadable" in [each.code for each in scan(ScanRequest(data=bad)).problems]


def test_that_changed_numbers_are_noticed_when_a_run_goes_on(tmp_path: Path) -> None:
    data = make(tmp_path)
    before = take_fingerprint(read(data))
    make(tmp_path, *lines(age="21"))

    found = read(data)

    differences, _ = compare(before, take_fingerprint(found), found.files)
    assert differences


CODE = """
import numpy as np

def load():
    held = np.load("HERE")
    return {"x": {"image": held["image"], "numbers": held["numbers"]}, "y": held["kind"]}
"""
MODEL = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    image = keras.Input(input_shape["image"], name="image")
    numbers = keras.Input(input_shape["numbers"], name="numbers")
    seen = layers.Flatten()(layers.Conv2D(3, 3, activation="tanh")(image))
    both = layers.Concatenate()([seen, layers.Rescaling(0.01)(numbers)])
    return keras.Model([image, numbers], layers.Dense(outputs)(both))
"""
TRAINING = changed(learning_rate=0.05, epochs=2, global_batch_size=16)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    folder, random, count = tmp_path_factory.mktemp("images"), np.random.default_rng(5), 120
    make_images(folder / "photos", {f"{n:03}.png": 2 * n for n in range(count)})
    ages, weights = random.integers(1, 99, count), random.integers(40, 120, count)
    kinds = (ages > 50) + (np.arange(count) > 60)
    rows = [f"{n:03}.png,{ages[n]},{weights[n]},{kinds[n]}" for n in range(count)]
    (folder / "photos" / "labels.csv").write_text("\n".join(["id,age,weight,kind", *rows]) + "\n")
    pixels = np.repeat(2 * np.arange(count, dtype=np.uint8), 8 * 8 * 3).reshape(-1, 8, 8, 3)
    numbers = np.stack([weights, ages], axis=1).astype(np.float32)
    np.savez(folder / "held.npz", image=pixels, numbers=numbers, kind=kinds)
    (folder / "held.py").write_text(CODE.replace("HERE", str(folder / "held.npz")))
    (folder / "model.py").write_text(MODEL)
    model = PythonModel(path=str(folder / "model.py"))
    images = ImagesData(
        path=str(folder / "photos"),
        labels_csv="labels.csv",
        numbers=("weight", "age"),
        label_columns="kind",
        image_size=(8, 8),
        validation_fraction=0.25,
    )
    code = PythonData(path=str(folder / "held.py"), predicts="classes", validation_fraction=0.25)
    plans = {"code": (profile(TRAINING, ONE_DEVICE, data=code, model=model), [16])}
    for cache in DataCache:
        data = images.model_copy(update={"cache": cache})
        plans[cache.value] = profile(TRAINING, ONE_DEVICE, data=data, model=model), [16]
        plans[f"{cache.value}, divided"] = (
            profile(TRAINING, MIRRORED, data=data, model=model),
            [12, 4],
        )
    plans["code, divided"] = profile(TRAINING, MIRRORED, data=code, model=model), [12, 4]
    return train_all(folder, with_code(make_run), plans, evaluated=["memory"])


@pytest.mark.long
@pytest.mark.tensorflow
@pytest.mark.parametrize("cache", DataCache)
@pytest.mark.parametrize("how", ["", ", divided"])
def test_that_numbers_beside_images_are_learned_as_those_of_code(
    runs: dict[str, RunLayout], cache: DataCache, how: str
) -> None:
    of_code, found = runs[f"code{how}"], runs[f"{cache.value}{how}"]
    pairs = zip(state(found), state(of_code), strict=True)
    assert max(apart_by(*pair) for pair in pairs) < 1e-6
    expected = last_metrics(of_code).model_dump(exclude_none=True)
    assert last_metrics(found).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-5)


@pytest.mark.long
@pytest.mark.tensorflow
def test_that_the_saved_model_takes_raw_images_and_numbers(runs: dict[str, RunLayout]) -> None:
    measured = last_metrics(runs["memory"])
    assert evaluation(runs["memory"])["validation"] == pytest.approx(
        [measured.val_loss, measured.val_accuracy], rel=1e-5
    )

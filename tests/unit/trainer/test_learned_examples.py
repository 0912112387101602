"""Of data that a model learned from what its training held out is evaluated, and that is said."""

import json
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    DigitsData,
    Holdout,
    ImagesData,
    NpzData,
    PythonData,
    TableData,
    Target,
    TextData,
)
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, HeldOut, TrainedOn
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.script.inference_section import inference_data_section
from gpupanel.trainer.datasets.learned_from import KnownContent, known_content, learned_from
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.inference.examples import InferenceExamples, read_inference_examples
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.user_code import RunCode
from tests.unit.trainer.image_folders import make_images

SEED = 7
DIGITS = DigitsData(validation_fraction=0.2)
READING = Reading(no_download, seed=SEED)


def model_of(
    folder: Path,
    data: DataSettings,
    seed: int = SEED,
    code: RunCode | None = None,
    *,
    samples: bool = True,
) -> SavedModel:
    """A file that says what that of a training on this data does; nothing of it is loaded."""
    read = read_data(data, replace(READING, code=code))
    trained = split(read, data, seed).training
    content = known_content(read.training.features, trained.features)
    learned = learned_from(data, seed, content)
    record = TrainedOn(
        predicts=read.target,
        class_names=read.class_names,
        data=learned.data,
        content=content.content,
        held_out=learned.held_out,
        learned=content.learned,
        sample=content.sample if samples else (),
    )
    folder.mkdir(exist_ok=True)
    path = folder / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", "")
        archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
        if read.recipe:
            archive.writestr(RECIPE_MEMBER, read.recipe)
    return SavedModel(path=str(path))


def profile_of(model: SavedModel, data: DataSettings, seed: int = SEED, **chosen: str) -> Profile:
    return Profile(
        task="evaluate",
        data=data,
        model=model,
        inference=InferenceSettings.model_validate(chosen),
        training=TrainingSettings(seed=seed),
    )


def evaluated(profile: Profile) -> InferenceExamples:
    return read_inference_examples(profile, READING)


def said(examples: InferenceExamples) -> list[Problem]:
    return [note for note in examples.notes if note.code.startswith("evaluates_")]


def held_out_of(data: DataSettings, seed: int = SEED) -> np.ndarray:
    """What a training validates on."""
    validation = split(read_data(data, READING), data, seed).validation
    assert validation is not None
    return validation.read(np.arange(len(validation), dtype=np.int32))


def assert_what_was_held_out(examples: InferenceExamples, expected: np.ndarray) -> None:
    assert (examples.which, examples.learned) == ("validation", 0)
    np.testing.assert_array_equal(examples.read(0, len(examples)), expected)
    (note,) = said(examples)
    assert (note.code, note.severity) == ("evaluates_what_was_held_out", Severity.HINT)
    assert f"{len(expected):,} example" in note.message


@pytest.fixture(scope="module")
def of_digits(tmp_path_factory: pytest.TempPathFactory) -> SavedModel:
    return model_of(tmp_path_factory.mktemp("digits"), DIGITS)


@pytest.mark.parametrize(
    ("data", "seed"),
    [
        (DIGITS, SEED),
        # What a profile says of that is about a training of its own.
        (DigitsData(), 0),
        (DigitsData(validation_fraction=0.5, holdout=Holdout.LAST, cache=DataCache.NONE), SEED),
    ],
)
def test_that_an_evaluation_takes_what_the_training_of_the_model_held_out(
    of_digits: SavedModel, data: DigitsData, seed: int
) -> None:
    found = evaluated(profile_of(of_digits, data, seed))
    assert len(found) == 359
    assert_what_was_held_out(found, held_out_of(DIGITS))


def test_that_all_examples_are_evaluated_by_choice_and_with_a_warning(
    of_digits: SavedModel,
) -> None:
    automatic = profile_of(of_digits, DIGITS)
    (hint,) = said(evaluated(automatic))
    assert hint.fix is not None
    chosen = apply_fix(automatic, hint.fix)
    found = evaluated(chosen)
    assert (len(found), found.which, found.learned) == (1797, "all", 1438)
    (warning,) = said(found)
    assert (warning.code, warning.severity) == ("evaluates_what_was_learned", Severity.WARNING)
    assert "1,438 of the 1,797 examples" in warning.message
    assert warning.fix is not None
    assert apply_fix(chosen, warning.fix) == automatic

    (warning,) = said(evaluated(profile_of(of_digits, DIGITS, examples="training")))
    assert "all 1,438 examples" in warning.message


def test_that_validation_examples_of_another_seed_are_seen_to_be_learned_ones(
    of_digits: SavedModel,
) -> None:
    same = evaluated(profile_of(of_digits, DIGITS, examples="validation"))
    assert (len(same), same.learned, said(same)) == (359, 0, [])
    other = evaluated(profile_of(of_digits, DIGITS, SEED + 1, examples="validation"))
    in_both = np.isin(other.indices, same.indices).sum()
    assert (len(other), other.learned) == (359, 359 - in_both)
    assert f"{359 - in_both} of the 359 examples" in said(other)[0].message


def test_that_a_prediction_takes_all_and_says_nothing(of_digits: SavedModel) -> None:
    asked = profile_of(of_digits, DIGITS).model_copy(update={"task": "predict"})
    found = evaluated(asked)
    assert (len(found), found.which, said(found)) == (1797, "all", [])


def test_that_a_model_that_held_out_nothing_has_no_other_way(tmp_path: Path) -> None:
    found = evaluated(profile_of(model_of(tmp_path, DigitsData()), DigitsData()))
    assert (len(found), found.learned) == (1797, 1797)
    (warning,) = said(found)
    assert (warning.severity, warning.fix) == (Severity.WARNING, None)
    assert "all 1,797 examples" in warning.message


def arrays(path: Path, count: int = 40, seed: int = 1, **more: np.ndarray) -> NpzData:
    x = np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)
    np.savez(path, x_train=x, y_train=np.arange(count) % 2, **more)
    return NpzData(path=str(path), validation_fraction=0.25, stratify=True)


def test_that_a_copy_of_the_data_is_known_again_and_other_data_is_not(tmp_path: Path) -> None:
    here, copy = tmp_path / "here.npz", tmp_path / "copy.npz"
    data = arrays(here)
    model = model_of(tmp_path, data)
    shutil.copy(here, copy)
    found = evaluated(profile_of(model, NpzData(path=str(copy))))
    assert_what_was_held_out(found, held_out_of(data))

    other = arrays(tmp_path / "other.npz", 41, seed=2)
    found = evaluated(profile_of(model, other))
    assert (len(found), found.which, found.learned, said(found)) == (41, "all", None, [])


def test_that_the_range_of_what_was_learned_from_is_known() -> None:
    read = read_data(DIGITS, READING)
    learned = split(read, DIGITS, SEED).training.features
    assert known_content(read.training.features, learned).value_range == (0.0, 16.0)
    assert known_content(learned, np.array([[np.inf, 1.0]])).value_range is None


def test_that_data_that_has_changed_in_its_place_is_said(tmp_path: Path) -> None:
    data = arrays(tmp_path / "a.npz")
    model = model_of(tmp_path, data)
    arrays(tmp_path / "a.npz", 41)
    found = evaluated(profile_of(model, data))
    assert (len(found), found.which, found.learned) == (41, "all", 30)
    (warning,) = said(found)
    assert (warning.code, warning.fix) == ("evaluates_what_was_learned", None)
    assert "30 of the 41 examples" in warning.message
    # Where nobody knows them apart, that is said.
    without = model_of(tmp_path / "other", arrays(tmp_path / "other.npz"), samples=False)
    arrays(tmp_path / "other.npz", 41)
    (warning,) = said(evaluated(profile_of(without, NpzData(path=str(tmp_path / "other.npz")))))
    assert "not as it was" in warning.message
    # What took its place is other data.
    arrays(tmp_path / "a.npz", 41, seed=2)
    found = evaluated(profile_of(model, data))
    assert (found.which, said(found)) == ("all", [])


def test_that_examples_of_the_training_are_found_among_others(tmp_path: Path) -> None:
    data = arrays(tmp_path / "a.npz", 400)
    model = model_of(tmp_path, data)
    with np.load(tmp_path / "a.npz") as file:
        x = file["x_train"]
    trained = split(read_data(data, READING), data, SEED).training
    assert len(trained) == 300
    learned = trained.read(np.arange(0, 300, 2, dtype=np.int32))
    new = np.random.default_rng(3).normal(size=(150, 3)).astype(np.float32)
    mixed = np.random.default_rng(4).permutation(np.concatenate([learned, new]))
    np.savez(tmp_path / "b.npz", x=mixed, y=np.arange(300) % 2)
    found = evaluated(profile_of(model, NpzData(path=str(tmp_path / "b.npz"))))
    assert (len(found), found.which, found.learned_is_estimate) == (300, "all", True)
    assert found.learned == pytest.approx(150, abs=50)
    (warning,) = said(found)
    assert f"about {found.learned} of the 300 examples" in warning.message
    # A new seed holds others out; the same data in another order is found out, too.
    np.savez(tmp_path / "c.npz", x=x[::-1], y=np.arange(400) % 2)
    found = evaluated(profile_of(model, NpzData(path=str(tmp_path / "c.npz"))))
    assert found.learned == 300


def test_that_rows_that_resemble_each_other_are_found_among_no_others(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.arange(60).reshape(60, 1) % 4, y=np.arange(60) % 2)
    model = model_of(tmp_path, NpzData(path=str(tmp_path / "a.npz")))
    np.savez(tmp_path / "b.npz", x=np.arange(30).reshape(30, 1) % 4, y=np.arange(30) % 2)
    found = evaluated(profile_of(model, NpzData(path=str(tmp_path / "b.npz"))))
    assert (found.learned, said(found)) == (None, [])


def test_that_a_test_set_beside_is_what_was_not_learned_from(tmp_path: Path) -> None:
    x_test = np.full((6, 3), 9, np.float32)
    arrays(tmp_path / "a.npz", x_test=x_test, y_test=np.arange(6) % 2)
    data = NpzData(path=str(tmp_path / "a.npz"))
    found = evaluated(profile_of(model_of(tmp_path, data), data))
    assert_what_was_held_out(found, x_test)


def test_that_images_are_known_again_whatever_their_folder_is_called(tmp_path: Path) -> None:
    here = tmp_path / "here"
    kinds = {
        f"{name}/{number}.png": number * 9 + place
        for place, name in enumerate(("cat", "dog"))
        for number in range(10)
    }
    make_images(here, kinds)
    data = ImagesData(path=str(here), image_size=(4, 4), validation_fraction=0.3)
    model = model_of(tmp_path, data)
    shutil.move(here, tmp_path / "moved")
    moved = data.model_copy(update={"path": str(tmp_path / "moved"), "validation_fraction": None})
    moved_back = moved.model_copy(update={"path": str(here)})
    found = evaluated(profile_of(model, moved, 0))
    shutil.copytree(tmp_path / "moved", here)
    assert_what_was_held_out(found, held_out_of(data))
    assert len(found) == 6

    # An image more, and all others are in other places of the split.
    make_images(here, {"cat/00.png": 200})
    (warning,) = said(evaluated(profile_of(model, moved_back)))
    assert "14 of the 21 examples" in warning.message
    # Nor does it matter what a class is called, where it is left out, or which classes are there.
    for name in ("cat", "dog"):
        shutil.copytree(here / "dog", tmp_path / "part" / name)
    part = data.model_copy(update={"path": str(tmp_path / "part"), "validation_fraction": None})
    assert evaluated(profile_of(model, part)).learned is not None


def rows(path: Path, lines: Sequence[str]) -> str:
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_that_rows_and_texts_are_known_again_as_the_model_takes_them(tmp_path: Path) -> None:
    lines = [f"{number},{number % 3},{'ab'[number % 2]}" for number in range(40)]
    here = rows(tmp_path / "here.csv", ["size,kind,label", *lines])
    table = TableData(path=here, target="label", validation_fraction=0.25)
    (tmp_path / "table").mkdir()
    model = model_of(tmp_path / "table", table)
    copied = table.model_copy(update={"path": str(shutil.copy(here, tmp_path / "copy.csv"))})
    assert_what_was_held_out(evaluated(profile_of(model, copied)), held_out_of(table))

    words = ["red green blue", "one two three", "green red", "two one one"]
    lines = [f"{words[number % 4]} {number},{'ab'[number % 2]}" for number in range(40)]
    here = rows(tmp_path / "texts.csv", ["text,label", *lines])
    texts = TextData(path=here, text="text", target="label", length=6, validation_fraction=0.25)
    (tmp_path / "texts").mkdir()
    model = model_of(tmp_path / "texts", texts)
    copied = texts.model_copy(update={"path": str(shutil.copy(here, tmp_path / "copied.csv"))})
    assert_what_was_held_out(evaluated(profile_of(model, copied)), held_out_of(texts))


def test_that_who_belongs_together_has_to_be_said_again(tmp_path: Path) -> None:
    lines = [f"{number},{number // 4},{'ab'[number % 2]}" for number in range(40)]
    here = rows(tmp_path / "here.csv", ["size,patient,label", *lines])
    table = TableData(path=here, target="label", group="patient", validation_fraction=0.25)
    model = model_of(tmp_path, table)
    assert_what_was_held_out(evaluated(profile_of(model, table, 0)), held_out_of(table))
    without = table.model_copy(update={"group": None, "ignore": ("patient",)})
    found = evaluated(profile_of(model, without))
    assert (found.which, [each.severity for each in said(found)]) == ("all", [Severity.WARNING])


def previewed(profile: Profile) -> DataPreview:
    return preview(
        PreviewRequest(
            data=profile.data,
            model=profile.model,
            task=profile.task,
            seed=profile.training.seed,
            inference=profile.inference,
        )
    )


def test_that_a_preview_says_it_and_a_script_takes_the_same(tmp_path: Path) -> None:
    data = arrays(tmp_path / "a.npz")
    model = model_of(tmp_path, data)
    asked = profile_of(model, NpzData(path=data.path), 0)
    shown = previewed(asked)
    assert shown.model_problems[-1].code == "evaluates_what_was_held_out"
    assert shown.evaluated is not None
    assert (shown.evaluated.which, shown.evaluated.count) == ("validation", 10)

    filled = with_detected(asked, shown)
    assert filled.inference.examples == "validation"
    chosen = evaluated(filled)
    np.testing.assert_array_equal(chosen.indices, evaluated(asked).indices)
    assert said(chosen) == []

    whole = profile_of(model, data, examples="all")
    warning = previewed(whole).model_problems[-1]
    assert (warning.code, warning.severity) == ("evaluates_what_was_learned", Severity.WARNING)
    assert with_detected(whole, previewed(whole)).inference.examples == "all"
    predicting = asked.model_copy(update={"task": "predict"})
    shown = previewed(predicting)
    assert (shown.evaluated, shown.model_problems[-1].code) == (None, "model_file_damaged")


def test_that_code_of_ones_own_is_known_by_its_place_until_it_is_carried_out(
    tmp_path: Path,
) -> None:
    code = tmp_path / "data.py"
    code.write_text("")
    data = PythonData(path=str(code))
    place = learned_from(data, SEED, KnownContent()).data
    record = TrainedOn(predicts=Target.CLASSES, data=place, class_names=("a",))
    path = tmp_path / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", "")
        archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
    asked = profile_of(SavedModel(path=str(path)), data)
    shown = previewed(asked)
    assert "evaluates_what_was_learned" in [each.code for each in shown.model_problems]
    assert shown.evaluated is None  # nothing says that some were held out
    # The script of such an evaluation says at its start that it takes all.
    said_by_script = inference_data_section(with_detected(asked, shown))
    assert "All examples are evaluated" in said_by_script
    how = HeldOut(held_out_fraction=0.25, seed=5)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", "")
        held_out = record.model_copy(update={"held_out": how})
        archive.writestr(TRAINED_ON_MEMBER, held_out.model_dump_json())
    filled = with_detected(asked, previewed(asked))
    assert (filled.inference.examples, filled.training.seed) == ("validation", 5)
    assert filled.data.validation_fraction == 0.25
    assert "All examples are evaluated" not in inference_data_section(filled)


@pytest.mark.parametrize("is_of_script", [False, True])
def test_that_it_is_said_where_nobody_knows_what_a_model_learned_from(
    tmp_path: Path, *, is_of_script: bool
) -> None:
    path = tmp_path / "plain.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
        if is_of_script:  # which keeps the names of classes alone
            record = {"schema_version": 1, "predicts": "classes", "class_names": list("0123456789")}
            archive.writestr(TRAINED_ON_MEMBER, json.dumps(record))
    asked = profile_of(SavedModel(path=str(path)), DIGITS)
    found = evaluated(asked)
    assert (len(found), found.which, found.learned, said(found)) == (1797, "all", None, [])
    code = "learned_from_unknown"
    assert [note.code for note in found.notes].count(code) == 1
    assert code in [each.code for each in previewed(asked).model_problems]
    chosen = profile_of(SavedModel(path=str(path)), DIGITS, examples="validation")
    predicting = asked.model_copy(update={"task": "predict"})
    for other in (chosen, predicting):
        assert code not in [note.code for note in evaluated(other).notes]

    (tmp_path / "data.py").write_text("")
    unread = profile_of(SavedModel(path=str(path)), PythonData(path=str(tmp_path / "data.py")))
    assert code in [each.code for each in previewed(unread).model_problems]

"""An evaluation on the data that a model learned from is said to be one, and has a way on."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataCache, DataSettings, DigitsData, NpzData, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import MlpModel, SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.learned_from import learned_from
from gpupanel.trainer.datasets.source import Reading, no_download
from gpupanel.trainer.inference.examples import read_inference_examples
from gpupanel.trainer.inference.learned_examples import learned_note
from gpupanel.trainer.preview import preview

SEED = 7
DIGITS = DigitsData(validation_fraction=0.2)


def model_of(folder: Path, data: DataSettings, seed: int = SEED) -> SavedModel:
    """A file that says what that of a training on this data does; nothing of it is loaded."""
    learned = learned_from(data, seed)
    record = TrainedOn(
        predicts=Target.CLASSES,
        class_names=tuple(map(str, range(10))),
        data=learned.data,
        division=learned.division,
    )
    path = folder / "model.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", "")
        archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
    return SavedModel(path=str(path))


def notes(model: SavedModel, data: DataSettings, seed: int = SEED, **chosen: str) -> list[Problem]:
    return list(learned_note(model, data, seed, InferenceSettings.model_validate(chosen)))


def test_that_an_evaluation_of_what_was_learned_is_pointed_out_with_what_was_held_out(
    tmp_path: Path,
) -> None:
    model = model_of(tmp_path, DIGITS)
    (problem,) = notes(model, DIGITS)
    profile = Profile(
        task="evaluate", data=DIGITS, model=model, training=TrainingSettings(seed=SEED)
    )
    assert problem.fix is not None
    held_out = apply_fix(profile, problem.fix)
    assert held_out.inference.examples == "validation"
    assert notes(model, DIGITS, examples="validation") == []
    assert [each.code for each in notes(model, DIGITS, examples="training")] == [problem.code]

    found = read_inference_examples(profile, Reading(no_download, seed=SEED))
    assert problem in found.notes
    chosen = read_inference_examples(held_out, Reading(no_download, seed=SEED))
    assert (len(chosen), problem in chosen.notes) == (359, False)


def test_that_the_way_on_is_offered_where_the_same_examples_are_held_out(tmp_path: Path) -> None:
    model = model_of(tmp_path, DIGITS)
    same = DIGITS.model_copy(update={"cache": DataCache.NONE})
    assert notes(model, same)[0].fix is not None
    for data, seed in ((DigitsData(validation_fraction=0.3), SEED), (DIGITS, SEED + 1)):
        (problem,) = notes(model, data, seed)
        assert problem.fix is None


def test_that_other_data_and_models_from_elsewhere_say_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = NpzData(path=str(tmp_path / "a.npz"))
    model = model_of(tmp_path, here)
    assert len(notes(model, NpzData(path="a.npz"))) == 1  # the same file
    assert notes(model, NpzData(path="b.npz")) == []
    assert notes(model, DIGITS) == []
    assert learned_note(MlpModel(), DIGITS, SEED, InferenceSettings()) == ()
    plain = tmp_path / "plain.keras"
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("config.json", "{}")
    assert notes(SavedModel(path=str(plain)), here) == []


def test_that_a_preview_of_an_evaluation_says_it(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.ones((20, 3), np.float32), y=np.arange(20) % 2)
    data = NpzData(path=str(path))
    model = model_of(tmp_path, data)
    codes = {
        task: {
            each.code
            for each in preview(
                PreviewRequest(data=data, model=model, task=task, seed=SEED)
            ).model_problems
        }
        for task in ("evaluate", "predict")
    }
    assert "evaluates_what_was_learned" in codes["evaluate"]
    assert "evaluates_what_was_learned" not in codes["predict"]

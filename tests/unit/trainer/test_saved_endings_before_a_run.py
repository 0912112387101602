"""A saved model of which nothing shows what it gives is asked for before a run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, DigitsData, NpzData
from gpupanel.domain.model import Head, Outputs, SavedModel
from gpupanel.domain.model_export import ModelExport, ModelFormat
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.tools.export.model_export import export_model, model_export_request
from tests.fakes.run_directory import WrittenRun
from tests.forked.answers import forked_answers
from tests.unit.trainer.saved_models import make_saved_models

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_saved_models(tmp_path_factory.mktemp("saved"))


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> NpzData:
    path = tmp_path_factory.mktemp("labels") / "labels.npz"
    np.savez(
        path, x=np.ones((30, 8, 8), np.float32), y=np.eye(3, dtype=np.uint8)[np.arange(30) % 3]
    )
    return NpzData(path=str(path), predicts="labels")


def problems(model: SavedModel, data: DataSettings, task: Any = "train") -> list[Problem]:
    with forked_answers():
        found = preview_data(PreviewRequest(data=data, model=model, task=task))
    assert found.problems == ()
    return [each for each in found.model_problems if each.code != "model_without_class_names"]


def test_that_what_a_model_gives_is_asked_for_before_a_run(saved: Path, labels: NpzData) -> None:
    cases: tuple[tuple[str, DataSettings], ...] = (
        ("mean_of_two", DigitsData()),
        ("mean_of_labels", labels),
    )
    for name, data in cases:
        model = SavedModel(path=str(saved / f"{name}.keras"))
        (problem,) = problems(model, data)
        assert (problem.code, problem.is_error) == ("model_outputs_unknown", True)
        assert (problem.fix is not None, len(problem.alternatives)) == (True, 1)
        profile = Profile(model=model, data=data)
        for fix in (problem.fix, *problem.alternatives):
            assert fix is not None
            answered = apply_fix(profile, fix).model
            assert isinstance(answered, SavedModel)
            assert answered.outputs is not None
            assert problems(answered, data) == []
        assert problems(model.model_copy(update={"head": Head.NEW}), data) == []


@pytest.mark.parametrize("said", [None, *Outputs])
def test_that_a_model_that_a_run_trained_further_is_not_asked_for(
    saved: Path, said: Outputs | None
) -> None:
    model = SavedModel(path=str(saved / "trained_before.keras"), outputs=said)
    assert problems(model, DigitsData()) == []


def test_that_an_ending_that_is_needed_for_nothing_is_refused_before_a_run(saved: Path) -> None:
    (problem,) = problems(SavedModel(path=str(saved / "rectified.keras")), DigitsData())
    assert problem.code == "saved_model_misfit"
    assert "it ends in relu, but logits or a softmax are needed" in problem.message
    said = SavedModel(path=str(saved / "classifier.keras"), outputs=Outputs.LOGITS)
    (problem,) = problems(said, DigitsData())
    assert "it ends in a softmax, and model.outputs says logits" in problem.message


def test_that_a_model_that_is_not_trained_is_asked_for_in_a_hint(saved: Path) -> None:
    model = SavedModel(path=str(saved / "mean_of_two.keras"))
    for task in ("evaluate", "predict"):
        problem, *others = problems(model, DigitsData(), task)
        assert (problem.code, problem.is_error) == ("model_outputs_unknown", False)
        assert "what the first outputs look like decides" in problem.hint
        said = model.model_copy(update={"outputs": Outputs.LOGITS})
        assert problems(said, DigitsData(), task) == others
        assert [each.code for each in others] == ["learned_from_unknown"] * (task == "evaluate")


@pytest.mark.parametrize(
    ("name", "said", "numbers", "codes"),
    [
        ("mean_of_two", Outputs.LOGITS, "logits", []),
        pytest.param(
            "mean_of_two", Outputs.PROBABILITIES, "probabilities", [], marks=pytest.mark.long
        ),
        ("mean_of_two", None, "probabilities", ["model_outputs_unknown"]),
        pytest.param("classifier", None, "probabilities", [], marks=pytest.mark.long),
    ],
)
def test_that_an_export_says_what_a_person_said_of_the_outputs(
    saved: Path,
    runs_dir: Path,
    tmp_path: Path,
    name: str,
    said: Outputs | None,
    numbers: str,
    codes: list[str],
) -> None:
    model = SavedModel(path=str(saved / f"{name}.keras"), outputs=said)
    run = WrittenRun(runs_dir, Profile(task="evaluate", model=model, data=DigitsData()))
    request = model_export_request(run.layout, tmp_path / "out.keras", ModelFormat.KERAS)
    with forked_answers():
        found: ModelExport = export_model(request)
    assert found.is_written
    assert [each.code for each in found.problems] == codes
    description = json.loads((tmp_path / "out.keras.json").read_text())
    assert description["output"]["numbers"] == numbers

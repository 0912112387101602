"""Every way of predicting gives the same names and numbers for the same raw files.

Of every source and every kind of model that fits: the task ``predict`` and its exported script,
with the run's model and with that of the script which trained, and ``predict.py`` beside the model
as a ``.keras`` file, as a SavedModel and as a TFLite file.
"""

import csv
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, TfdsData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import ModelSettings, PythonModel, SavedModel
from gpupanel.domain.model_export import ModelFormat
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.trainer.datasets.catalogue import preparing
from tests.forked.processes import run_forked
from tests.sessions.both import Both, carry_out_both
from tests.sessions.one_source import trained_with
from tests.sessions.predicted_cases import MODEL_CODE, MODELS, Case, make_cases, types_of
from tests.unit.trainer.trained_runs import SMALL_BASE

SCRIPTED = 2e-5
"""The greatest difference of numbers from those of a model that a script trained; of values
relative to the greatest one."""
EXPORTED = 5e-6
"""Likewise from those of ``predict.py``."""
SEEN = InferenceSettings(output="csv", examples="all")
ALONE = DeviceSettings(visible=("cpu",))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("every way")


@pytest.fixture(scope="module")
def cases(root: Path) -> dict[str, Case]:
    return make_cases(root)


def pairs(cases: dict[str, Case]) -> list[tuple[str, str]]:
    return [(name, model) for name, case in cases.items() for model in case.fitting()]


def test_that_every_source_and_every_kind_of_model_has_a_case(cases: dict[str, Case]) -> None:
    with_every_model = {type(case.data) for case in cases.values() if not case.models}
    assert with_every_model == types_of(DataSettings)
    assert {type(model) for model in MODELS.values()} == types_of(ModelSettings)
    assert {model for _, model in pairs(cases)} == set(MODELS)


@dataclass(frozen=True)
class Predicted:
    """What one way makes of every example.

    Attributes:
        names: Of classes or labels; empty: values, which tables of predictions do not name.
        numbers: Shape [examples, names or values].
    """

    names: list[str]
    numbers: np.ndarray


def predictions_in(path: Path) -> tuple[Predicted, list[str]]:
    """With the name of each example's file; none where they have none."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    places = [place for place, name in enumerate(header) if is_number_of_output(name)]
    names = [header[place].removeprefix("probability of ") for place in places]
    numbers = np.array([[float(row[place]) for place in places] for row in rows])
    files = [row[1] for row in rows] if header[1] == "file" else []
    return Predicted([] if names[0].startswith("value") else names, numbers), files


def is_number_of_output(name: str) -> bool:
    return name.startswith(("probability of ", "value"))


@pytest.fixture(scope="module")
def found(root: Path, cases: dict[str, Case]) -> Iterator[dict[str, dict[str, Any]]]:
    """What each way gives, by its name, of each pair of data and model."""
    if not preparing.is_installed():  # scripts read a catalogue by its package
        cases = {n: each for n, each in cases.items() if not isinstance(each.data, TfdsData)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERAS_HOME", str(root / "keras"))
        yield all_ways(root, cases)


def all_ways(root: Path, cases: dict[str, Case]) -> dict[str, dict[str, Any]]:
    trained = train_all_pairs(root, cases)
    predicting = {}
    for name, both in trained.items():
        for which, path in (("run", both.run.model), ("script", both.folder / "model.keras")):
            predicting[f"{which}: {name}"] = Profile(
                task="predict",
                data=case_of(cases, name).data,
                model=SavedModel(path=str(path)),
                devices=ALONE,
                inference=SEEN,
            )
    predicted = carry_out_both(root / "predicted", predicting)
    assert_all_ended(predicted)
    answers: dict[str, dict[str, Any]] = {}
    asked: list[dict[str, Any]] = []
    for number, (name, both) in enumerate(trained.items()):
        data, inputs, ways = case_of(cases, name).data, case_of(cases, name).inputs, {}
        for which in ("run", "script"):
            of_both = predicted[f"{which}: {name}"]
            ways[f"predict, {which}"], files = predictions_in(of_both.run.predictions("csv"))
            written = of_both.folder / "predictions.csv"
            ways[f"script of predict, {which}"], _ = predictions_in(written)
            inputs = inputs or tuple(Path(data.chosen_path, each) for each in files)
        answers[name] = ways
        model = {"model": str(both.run.model), "data": data.model_dump(mode="json")}
        folder = str(root / "exported" / f"{number:03}")
        asked.append({"request": model, "folder": folder, "inputs": list(map(str, inputs))})
    export_and_predict(asked)
    for each, ways in zip(asked, answers.values(), strict=True):
        for form in ModelFormat:
            answer = Path(each["folder"], f"{form.value}.json").read_text(encoding="utf-8")
            ways[form.value] = json.loads(answer)
    return answers


def case_of(cases: dict[str, Case], pair: str) -> Case:
    return cases[pair.partition(";")[0]]


def train_all_pairs(root: Path, cases: dict[str, Case]) -> dict[str, Both]:
    """By run and script; a saved model is one of these that is trained further."""
    (root / "model.py").write_text(MODEL_CODE)
    fresh, further = {}, {}
    for name, kind in pairs(cases):
        model = MODELS[kind]
        if isinstance(model, PythonModel):
            model = PythonModel(path=str(root / "model.py"))
        if not isinstance(model, SavedModel):
            fresh[f"{name}; {kind}"] = training_of(cases[name].data, model)
    trained = carry_out_both(root / "fresh", fresh, before=(SMALL_BASE,))
    for name, kind in pairs(cases):
        if isinstance(MODELS[kind], SavedModel):
            start = SavedModel(path=str(trained[f"{name}; mlp"].run.model))
            further[f"{name}; {kind}"] = training_of(cases[name].data, start)
    trained |= carry_out_both(root / "further", further)
    assert_all_ended(trained)
    return trained


def export_and_predict(asked: list[dict[str, Any]]) -> None:
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("predict_exported.py"))],
        input=json.dumps(asked),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def training_of(data: DataSettings, model: ModelSettings) -> Profile:
    training = trained_with(2e-3, global_batch_size=12)
    return Profile(devices=ALONE, data=data, model=model, training=training)


def assert_all_ended(all_both: dict[str, Both]) -> None:
    failed = {
        f"{which} of {name}": error[-400:]
        for name, both in all_both.items()
        for which in ("run", "script")
        if (error := both.error(which))
    }
    assert not failed, json.dumps(failed, indent=1)


def of_predict_script(answer: Any) -> Predicted:
    assert isinstance(answer, list), answer
    assert answer, "nothing was predicted"
    assert isinstance(answer[0], dict), answer
    names = [name for name, _ in answer[0]["outputs"]]
    numbers = np.array([[number for _, number in each["outputs"]] for each in answer])
    return Predicted(names, numbers)


def differences(ways: dict[str, Any]) -> list[str]:
    """What differs from the task ``predict`` with the run's model."""
    wanted: Predicted = ways["predict, run"]
    size = 1.0 if wanted.names else max(1.0, float(np.abs(wanted.numbers).max()))
    found = []
    spread = float(wanted.numbers.std(axis=0).max()) / size
    if spread < 10 * EXPORTED:
        found.append(f"each example gets the same numbers, to {spread:.2g}")
    for way, answer in ways.items():
        exported = not isinstance(answer, Predicted)
        try:
            given = of_predict_script(answer) if exported else answer
        except AssertionError as error:
            found.append(f"{way}: {str(error)[:300]}")
            continue
        if wanted.names and given.names != wanted.names:
            found.append(f"{way}: {given.names} in place of {wanted.names}")
        if given.numbers.shape != wanted.numbers.shape:
            found.append(f"{way}: shape {given.numbers.shape}, not {wanted.numbers.shape}")
            continue
        most = EXPORTED if exported else SCRIPTED
        differs = float(np.abs(given.numbers - wanted.numbers).max()) / size
        if not differs <= most:
            found.append(f"{way}: {differs:.2g}")
    return found


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_every_way_gives_the_same_names_and_numbers(found: dict[str, dict[str, Any]]) -> None:
    differing = {name: each for name, ways in found.items() if (each := differences(ways))}
    assert not differing, json.dumps(differing, indent=1, ensure_ascii=False)

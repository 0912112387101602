"""Saved models of several inputs and outputs, and of arrays, are trained further as they were."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData, PythonData
from gpupanel.domain.model import Head, SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER
from gpupanel.trainer.models.model_file import trained_on_in
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.array_code import array_profile, with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_the_rule import MIRRORED, ONE
from tests.unit.trainer.test_the_rule_for_arrays import apart
from tests.unit.trainer.trained_runs import SGD, last_metrics, state, train_all, variables

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

NAMES = ("inputs to tasks", "tasks", "inputs", "masks", "flags", "pixels", "series")
NORMALISED = ("inputs", "masks", "flags")
"""Their moving statistics go on though nothing is learned."""
LEARNING = SGD.model_copy(update={"epochs": 2, "learning_rate": 0.02, "clip_norm": 0.5})
RESTING = LEARNING.model_copy(update={"epochs": 1, "learning_rate": 1e-12})
"""Nothing changes: what is measured is what was measured before."""


def further(profile: Profile, model: Path, **changes: Any) -> Profile:
    update = {"model": SavedModel(path=str(model)), **changes}
    return profile.model_copy(update=update)


def without_record(model: Path, stranger: Path) -> None:
    """The same model as if it had been trained elsewhere."""
    with zipfile.ZipFile(model) as file, zipfile.ZipFile(stranger, "w") as other:
        for name in file.namelist():
            if name != TRAINED_ON_MEMBER:
                other.writestr(name, file.read(name))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    code, made = tmp_path_factory.mktemp("code"), with_code(make_run)
    profiles = {name: array_profile(name, code, LEARNING) for name in NAMES}

    def train(plans: dict[str, tuple[Profile, list[int]]]) -> dict[str, RunLayout]:
        return train_all(tmp_path_factory.mktemp("runs"), made, plans)

    def on(name: str, start: RunLayout, strategy: StrategySettings, **changes: Any) -> Profile:
        return further(profiles[name], start.model, strategy=strategy, **changes)

    first = train({name: (profile, [64]) for name, profile in profiles.items()})
    plans: dict[str, tuple[Profile, list[int]]] = {}
    for name in NAMES:
        plans[f"{name}, resting"] = on(name, first[name], ONE, training=RESTING), [64]
        plans[f"{name}, further"] = on(name, first[name], ONE), [64]
        plans[f"{name}, 60 + 4"] = on(name, first[name], MIRRORED), [60, 4]
    stranger = code / "stranger.keras"
    without_record(first["tasks"].model, stranger)
    plans["tasks, of a stranger"] = further(profiles["tasks"], stranger, training=RESTING), [64]
    frozen = SavedModel(path=str(first["tasks"].model), frozen_layers="base")
    plans["tasks, frozen"] = profiles["tasks"].model_copy(update={"model": frozen}), [64]
    second = train(plans)
    plans = {
        f"{name}, again": (on(name, second[f"{name}, further"], ONE, training=RESTING), [64])
        for name in NAMES
    }
    return {**first, **second, **train(plans)}


@pytest.mark.parametrize("name", NAMES)
def test_that_a_training_goes_on_where_the_model_stands(
    runs: dict[str, RunLayout], name: str
) -> None:
    for before, after in ((name, "resting"), (f"{name}, further", "again")):
        measured = last_metrics(runs[before]).of_part("val").model_dump(exclude_none=True)
        found = last_metrics(runs[f"{name}, {after}"]).of_part("val").model_dump(exclude_none=True)
        # Its code has metrics of its own, which no file of a model holds.
        measured.pop("right", None)
        assert found == pytest.approx(measured, rel=2e-2 if name in NORMALISED else 1e-4)


def test_that_a_model_that_was_trained_elsewhere_is_known_by_the_names_of_its_outputs(
    runs: dict[str, RunLayout],
) -> None:
    own, other = (last_metrics(runs[name]).own for name in ("tasks", "tasks, of a stranger"))

    for name in ("mask_loss", "corner_accuracy", "spread_error", "tags_loss"):
        assert other[f"val_{name}"] == pytest.approx(own[f"val_{name}"], rel=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_that_any_split_gives_the_weights_of_one_device(
    runs: dict[str, RunLayout], name: str
) -> None:
    one, other = (runs[f"{name}, {split}"] for split in ("further", "60 + 4"))
    pairs = zip(state(one), state(other), strict=True)

    assert max(apart(*pair) for pair in pairs) < 1e-5
    assert last_metrics(one).val_loss != pytest.approx(last_metrics(runs[name]).val_loss, rel=1e-5)


def test_that_frozen_layers_keep_their_weights(runs: dict[str, RunLayout]) -> None:
    frozen, resting, learned = (
        variables(runs[f"tasks, {name}"]) for name in ("frozen", "resting", "further")
    )
    weights = [name for name in resting if name.startswith("model")]

    def changed(found: dict[str, np.ndarray]) -> list[str]:
        return [name for name in weights if np.abs(found[name] - resting[name]).max() > 1e-6]

    # The last layer with weights learns.
    assert len(changed(frozen)) == 2
    assert len(changed(learned)) == len(weights)


def test_that_what_a_model_says_of_its_outputs_stays(runs: dict[str, RunLayout]) -> None:
    for name in NAMES:
        first, again = (trained_on_in(str(runs[each].model)) for each in (name, f"{name}, again"))
        assert first is not None
        assert again is not None
        known = ("predicts", "outputs", "class_names", "parts")
        assert [getattr(again, each) for each in known] == [getattr(first, each) for each in known]
    weights = {
        each.name: each.weight for each in trained_on_in(str(runs["tasks, again"].model)).parts
    }  # type: ignore[union-attr]
    assert weights == {"corner": 1.0, "mask": 0.5, "spread": 0.25, "tags": 1.0}


def test_that_the_preview_refuses_what_cannot_be_trained_further(
    runs: dict[str, RunLayout], tmp_path: Path
) -> None:
    code = PythonData(path=str(tmp_path / "data.py"))

    def codes(name: str, data: PythonData | DigitsData, **changes: Any) -> set[str]:
        model = SavedModel(path=str(runs[name].model), **changes)
        request = PreviewRequest(data=data, model=model, task="train", example_limit=1, seed=7)
        return {each.code for each in preview(request).model_problems}

    for name in NAMES:
        assert codes(name, code) == set()
    assert codes("masks", DigitsData()) == {"model_outputs_not_rows"}
    assert codes("inputs", DigitsData()) == {"model_not_single"}
    assert codes("inputs", code, head=Head.NEW) == {"model_not_single"}

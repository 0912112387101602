"""A range test of the learning rate trains as a run does, and keeps nothing."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import ClassWeights, DigitsData, KerasData, NpzData, PythonData
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.model import (
    CnnModel,
    Head,
    MlpModel,
    PythonModel,
    SavedModel,
    TransformerModel,
)
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.profile import Profile
from gpupanel.domain.rate_range import STEPS, rate_range_request, rates
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.questions.rate_range import try_learning_rates
from gpupanel.trainer.tools.rate_range import try_rates
from tests.fakes.questions import asked_of
from tests.forked.answers import forked_answers
from tests.unit.trainer.saved_models import make_saved_models


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_a_rate_is_found_at_which_the_digits_are_learned() -> None:
    training = TrainingSettings(optimizer=Optimizer.SGD, momentum=0.9, accumulation_steps=2)
    request = rate_range_request(Profile(training=training))
    found = try_learning_rates(request)
    assert found.problems == ()
    assert found.suggested is not None
    assert 0.01 < found.suggested < 2.0
    assert [point.rate for point in found.points] == list(rates()[: len(found.points)])
    assert found.points[0].loss == pytest.approx(np.log(10), abs=0.4)
    assert min(point.smoothed for point in found.points) < 1.5
    assert STEPS / 2 < len(found.points) <= STEPS
    with forked_answers():
        assert try_learning_rates(request) == found  # seeded


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_the_rate_of_the_first_epochs_is_searched_for_where_layers_learn_later(
    tmp_path: Path,
) -> None:
    path = make_saved_models(tmp_path) / "backbone.keras"
    later = SavedModel(path=str(path), head=Head.NEW, fine_tune_from_epoch=2)
    head = SavedModel(path=str(path), head=Head.NEW, frozen_layers="base")
    found, of_head, of_all = (
        try_learning_rates(rate_range_request(Profile(model=model)))
        for model in (later, head, later.model_copy(update={"fine_tune_from_epoch": None}))
    )
    assert found.problems == ()
    assert found.points == of_head.points
    assert found.points != of_all.points


def test_that_what_is_not_known_yet_is_said_without_training() -> None:
    code = rate_range_request(Profile(model=PythonModel(path="/model.py")))
    assert try_rates(code).needs_start
    data = rate_range_request(Profile(data=PythonData(path="/data.py")))
    assert try_rates(data).needs_start
    missing = rate_range_request(Profile(data=KerasData(source="cifar100")))
    assert try_rates(missing).needs_download


def test_that_data_that_the_model_does_not_take_and_missing_files_are_problems() -> None:
    words = try_rates(rate_range_request(Profile(model=TransformerModel())))
    assert [problem.code for problem in words.problems] == ["model_needs_words"]
    gone = rate_range_request(Profile(data=NpzData(path="/gone.npz"), model=MlpModel()))
    assert [problem.code for problem in try_rates(gone).problems] == ["data_file_missing"]


@pytest.mark.tensorflow
def test_that_what_a_training_refuses_is_refused_here(tmp_path) -> None:
    path = tmp_path / "values.npz"
    np.savez(path, x=np.ones((20, 8, 8), np.float32), y=np.linspace(0.0, 1.0, 20))
    data = NpzData(path=str(path), class_weights=ClassWeights.BALANCED)
    with forked_answers():
        found = try_learning_rates(rate_range_request(Profile(data=data, model=CnnModel())))
    assert [problem.code for problem in found.problems] == ["class_weights_without_classes"]


@pytest.mark.parametrize(
    ("code", "problem"),
    [("raise SystemExit(3)", "rate_range_died"), ("print('{')", "rate_range_unreadable")],
)
def test_that_the_end_of_the_process_is_a_problem(code: str, problem: str) -> None:
    request = rate_range_request(Profile(data=DigitsData()))
    found = asked_of(try_learning_rates, code)(request)
    assert [each.code for each in found.problems] == [problem]


@pytest.mark.parametrize(("device", "visible"), [(CPU_KEY, "-1"), ("GPU-1", "GPU-1")])
def test_that_it_sees_only_the_device_that_it_is_tried_on(device: str, visible: str) -> None:
    code = (
        "import json, os; from gpupanel.domain.rate_range import RateRange\n"
        "from gpupanel.domain.problem import Problem\n"
        "seen = os.environ['CUDA_VISIBLE_DEVICES']\n"
        "print(RateRange(problems=(Problem(code='seen', message=seen),)).model_dump_json())"
    )
    request = rate_range_request(Profile())
    found = asked_of(try_learning_rates, code)(request, device)
    assert [each.message for each in found.problems] == [visible]

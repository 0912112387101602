"""What is asked about optimizers and their settings."""

import pytest
from pydantic import ValidationError

from gpupanel.domain.optimizer import Optimizer, is_fine_in_float32
from gpupanel.domain.training import TrainingSettings


@pytest.mark.parametrize("beta", [0.5, 0.9, 0.99, 0.999])
def test_that_usual_betas_are_fine_in_float32(beta: float) -> None:
    assert is_fine_in_float32(beta)


@pytest.mark.parametrize("beta", [0.9999, 0.99999, 1.0 - 1e-9])
def test_that_betas_near_one_lose_too_much_in_float32(beta: float) -> None:
    assert not is_fine_in_float32(beta)


def test_that_an_update_is_fused_where_its_betas_allow_it() -> None:
    assert TrainingSettings().is_fused
    assert TrainingSettings(beta_1=0.5, beta_2=0.99).is_fused
    assert not TrainingSettings(beta_2=0.99999).is_fused
    assert not TrainingSettings(optimizer=Optimizer.LION).is_fused


def test_that_an_optimizer_is_given_what_it_takes_and_was_said() -> None:
    every = {"momentum": 0.9, "nesterov": True, "beta_1": 0.8, "epsilon": 1e-3}
    given = {each: TrainingSettings(optimizer=each, **every) for each in Optimizer}
    assert {each: dict(training.optimizer_arguments) for each, training in given.items()} == {
        "adam": {"beta_1": 0.8, "epsilon": 1e-3},
        "adamw": {"beta_1": 0.8, "epsilon": 1e-3},
        "sgd": {"momentum": 0.9, "nesterov": True},
        "rmsprop": {"momentum": 0.9, "epsilon": 1e-3},
        "lion": {"beta_1": 0.8},
    }


def test_that_no_weight_decay_is_another_than_the_usual_one() -> None:
    adamw = TrainingSettings(optimizer=Optimizer.ADAMW)
    assert dict(adamw.optimizer_arguments) == {}
    assert adamw.decays_weights
    assert not TrainingSettings().decays_weights
    for each in Optimizer:
        for decay in (0.0, 0.01):
            training = TrainingSettings(optimizer=each, weight_decay=decay)
            assert training.optimizer_arguments["weight_decay"] == decay
            assert training.decays_weights


@pytest.mark.parametrize(
    ("name", "value"),
    [("beta_1", 0.0), ("beta_2", 1.0), ("ema", 1.0), ("ema", 0.0), ("weight_decay", -0.1)],
)
def test_that_numbers_that_mean_nothing_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValidationError, match=name):
        TrainingSettings(**{name: value})

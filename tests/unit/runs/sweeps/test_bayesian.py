"""What Optuna proposes from a sweep's record."""

import importlib.util
from collections.abc import Callable

import pytest

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.sweep import SweptValue
from gpupanel.planning.sweep_trials import axes_of, sweep_of
from gpupanel.runs.sweeps.bayesian import check_optuna, next_values
from gpupanel.runs.sweeps.sweep_record import SweepTrial, TrialEnded, TrialPaused

VALUES = (
    '"training.learning_rate" = {low = 1e-4, high = 1.0, log = true}\n'
    '"model.hidden" = [[64], [128, 64]]\n"training.epochs" = {low = 1, high = 9}'
)


def proposed(trials: list[SweepTrial], values: str = VALUES) -> dict[str, SweptValue] | None:
    profile = parse_profile(f'[sweep]\nmethod = "bayesian"\n[sweep.values]\n{values}')
    return next_values(axes_of(profile), sweep_of(profile), trials)


def trial(values: dict[str, SweptValue], number: int, loss: float | None) -> SweepTrial:
    outcome = Outcome.FAILED if loss is None else Outcome.COMPLETED
    ended = TrialEnded(time_s=0.0, number=number, outcome=outcome, value=loss)
    return SweepTrial(number=number, values=values, entry="0" * 8, ended=ended)


def test_that_values_are_within_their_ranges_and_follow_from_the_record_alone() -> None:
    trials: list[SweepTrial] = []
    for number in range(1, 9):
        values = proposed(trials)
        assert values == proposed(trials)
        assert values is not None
        assert values["model.hidden"] in ((64,), (128, 64))
        rate, epochs = values["training.learning_rate"], values["training.epochs"]
        assert isinstance(rate, float)
        assert 1e-4 <= rate <= 1.0
        assert isinstance(epochs, int)
        assert 1 <= epochs <= 9
        trials.append(trial(values, number, None if number == 3 else rate))
    assert len({str(each.values) for each in trials}) == 8


def paused(values: dict[str, SweptValue], number: int, loss: float) -> SweepTrial:
    pause = TrialPaused(time_s=0.0, number=number, epoch=1, value=loss, value_epoch=1)
    return SweepTrial(number=number, values=values, entry="0" * 8, paused=pause, is_paused=True)


@pytest.mark.parametrize("trial", [trial, paused])
def test_that_it_learns_where_losses_are_small(
    trial: Callable[[dict[str, SweptValue], int, float], SweepTrial],
) -> None:
    key, trials = "training.learning_rate", list[SweepTrial]()
    values = f'"{key}" = {{low = 0.1, high = 0.9}}'
    for number in range(1, 31):
        found = proposed(trials, values)
        assert found is not None
        trials.append(trial(found, number, (float(str(found[key])) - 0.7) ** 2))
    later = [abs(float(str(each.values[key])) - 0.7) for each in trials[20:]]
    # At random it would be 0.23 on average.
    assert sum(later) / len(later) < 0.1


def test_that_trials_that_go_on_are_not_proposed_again() -> None:
    values = '"training.epochs" = [1, 2, 3]'
    trials = list[SweepTrial]()
    for number in range(1, 4):
        found = proposed(trials, values)
        assert found is not None
        trials.append(SweepTrial(number=number, values=found, entry="0" * 8))
    assert sorted(int(str(each.values["training.epochs"])) for each in trials) == [1, 2, 3]
    assert proposed(trials, values) is None


def test_that_values_of_a_changed_record_are_passed_over() -> None:
    strange: list[dict[str, SweptValue]] = [
        {"training.epochs": 5},
        {"training.epochs": "two"},
        {"other": 1},
    ]
    trials = [trial(values, number, 0.5) for number, values in enumerate(strange, 1)]
    assert proposed(trials, '"training.epochs" = {low = 1, high = 3}') is not None


def test_that_a_missing_optuna_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ProblemError) as caught:
        check_optuna()
    assert caught.value.problems[0].command == "pip install 'gpupanel[sweep]'"

"""Which trials a sweep has: the same ones whenever they are asked for."""

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import LONGEST_NAME, Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.planning.sweep_trials import (
    axes_of,
    repeats_of,
    runs_of,
    trial_count,
    trial_profile,
    trials_of,
    values_text,
)


def swept(values: str, sweep: str = "") -> Profile:
    return parse_profile(f'name = "digits"\n[sweep]\n{sweep}\n[sweep.values]\n{values}')


def test_that_a_grid_has_each_combination_once() -> None:
    profile = swept(
        '"training.learning_rate" = {low = 1e-4, high = 1e-1, log = true, steps = 4}\n'
        '"model.hidden" = [[64], [128, 64], [64]]',
        'method = "grid"',
    )
    trials = trials_of(profile)
    assert trial_count(profile) == len(trials) == 8
    assert [trial["training.learning_rate"] for trial in trials[:4]] == [1e-4, 1e-3, 1e-2, 1e-1]
    assert [trial["model.hidden"] for trial in trials[::4]] == [(64,), (128, 64)]


def test_that_the_steps_of_a_whole_range_are_whole_and_each_there_once() -> None:
    profile = swept('"training.epochs" = {low = 1, high = 3, steps = 9}', 'method = "grid"')
    assert [trial["training.epochs"] for trial in trials_of(profile)] == [1, 2, 3]


def test_that_a_grid_that_is_too_large_says_how_large() -> None:
    profile = swept(
        '"training.seed" = {low = 0, high = 99, steps = 100}\n'
        '"training.epochs" = {low = 1, high = 11, steps = 11}',
        'method = "grid"',
    )
    with pytest.raises(ProblemError, match=r"1,100 combinations \(100 x 11\)"):
        trials_of(profile)


def test_that_random_trials_are_those_of_the_seed_and_no_two_are_equal() -> None:
    values = (
        '"training.learning_rate" = {low = 1e-4, high = 1e-1, log = true}\n'
        '"model.dropout" = {low = 0.0, high = 0.5}\n'
        '"training.global_batch_size" = [32, 64]'
    )
    trials = trials_of(swept(values, "trials = 50"))
    assert len({str(trial) for trial in trials}) == 50
    assert trials == trials_of(swept(values, "trials = 50"))
    assert trials[:10] == trials_of(swept(values, "trials = 10"))
    assert trials != trials_of(swept(values, "trials = 50\nseed = 8"))
    rates = [float(str(trial["training.learning_rate"])) for trial in trials]
    assert all(1e-4 <= rate <= 1e-1 for rate in rates)
    # Half of them below the middle of the powers of ten.
    assert 15 < sum(rate < 10**-2.5 for rate in rates) < 35
    assert {trial["training.global_batch_size"] for trial in trials} == {32, 64}


def test_that_few_combinations_are_each_tried_once_and_no_more() -> None:
    profile = swept(
        '"training.epochs" = {low = 1, high = 3}\n"training.optimizer" = ["adam", "sgd"]',
        "trials = 20",
    )
    assert trial_count(profile) == 6
    trials = trials_of(profile)
    assert len({str(trial) for trial in trials}) == 6
    some = trials_of(swept('"training.epochs" = {low = 1, high = 8}', "trials = 3"))
    assert len({trial["training.epochs"] for trial in some}) == 3
    many = trials_of(swept('"training.epochs" = {low = 1, high = 999, log = true}', "trials = 9"))
    assert all(1 <= int(str(trial["training.epochs"])) <= 999 for trial in many)


def test_that_a_range_of_few_numbers_ends() -> None:
    profile = swept('"training.learning_rate" = {low = 0.1, high = 0.1000001}', "trials = 20")
    assert 1 <= len(trials_of(profile)) <= 2


def test_that_a_bayesian_sweep_is_as_long_as_its_budget_or_its_combinations() -> None:
    values = '"training.epochs" = [1, 2, 3]'
    assert trial_count(swept(values, 'method = "bayesian"')) == 3
    values = '"training.learning_rate" = {low = 0.1, high = 0.2}'
    assert trial_count(swept(values, 'method = "bayesian"\ntrials = 7')) == 7


def test_that_1_and_true_are_not_the_same_value() -> None:
    profile = swept('"training.learning_rate" = [1, 1.0, 0.5]', 'method = "grid"')
    assert len(axes_of(profile)[0].values) == 3


def test_that_a_trial_is_named_by_what_differs() -> None:
    profile = swept('"training.learning_rate" = [0.5]\n"model.hidden" = [[8]]')
    values = {"training.learning_rate": 0.5, "model.hidden": (8, 4), "training.optimizer": "sgd"}
    trial = trial_profile(profile, 3, values)
    assert trial.name == "digits 3: learning rate 0.5, hidden layers [8, 4], optimizer sgd"
    assert trial.sweep is None
    assert trial.training.learning_rate == 0.5
    assert values_text(profile, {"a.path": "x", "b.path": "y"}) == "a.path x, b.path y"
    drawn = {"training.learning_rate": 0.000139596}
    assert values_text(profile, drawn) == "learning rate 0.00014"


def test_that_a_long_name_is_shortened() -> None:
    profile = parse_profile(f'name = "{"n" * LONGEST_NAME}"')
    name = trial_profile(profile, 1, {"training.epochs": 3}).name
    assert (len(name), name[-1]) == (LONGEST_NAME, "…")


def test_that_values_that_do_not_go_together_say_why() -> None:
    with pytest.raises(ProblemError, match=r"training\.epochs"):
        trial_profile(Profile(), 1, {"training.epochs": 0})


def test_that_a_sweep_with_mistakes_has_no_trials() -> None:
    with pytest.raises(ProblemError, match="does not say what to try"):
        trials_of(Profile())


@pytest.mark.parametrize("method", ["grid", "random"])
def test_that_the_trials_are_the_same_ones_once_the_profile_was_written(method: str) -> None:
    profile = parse_profile(
        f'[sweep]\nmethod = "{method}"\n[sweep.values]\n'
        '"training.learning_rate" = {low = 0.1, high = 0.9, steps = 3}\n'
        '"training.optimizer" = ["adam", "sgd"]\n'
    )
    written = parse_profile(dump_profile(profile))
    assert trials_of(written) == trials_of(profile)
    assert [list(each) for each in trials_of(written)] == [
        list(each) for each in trials_of(profile)
    ]


def test_that_a_trial_has_a_run_for_each_seed() -> None:
    two = parse_profile(
        '[training]\nseed = 2147483647\n[sweep]\nmethod = "grid"\nseeds = 2\n'
        '[sweep.values]\n"training.learning_rate" = [0.1, 0.01]'
    )
    assert repeats_of(two) == ({"training.seed": 2147483647}, {"training.seed": 0})
    assert trial_count(two) == len(trials_of(two)) == 2
    assert runs_of(two)[2] == {"training.learning_rate": 0.01, "training.seed": 2147483647}
    one = two.model_copy(update={"sweep": two.sweep.model_copy(update={"seeds": 1})})  # type: ignore[union-attr]
    assert repeats_of(one) == ({},)
    assert runs_of(one) == trials_of(one)


@pytest.mark.parametrize("method", ["random", "bayesian"])
def test_that_a_sweep_has_only_so_many_runs(method: str) -> None:
    many = parse_profile(
        f'[sweep]\nmethod = "{method}"\ntrials = 20\nseeds = 51\n'
        '[sweep.values]\n"training.learning_rate" = { low = 0.1, high = 0.2 }'
    )
    with pytest.raises(ProblemError) as caught:
        trial_count(many)
    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == ("sweep_too_large", "sweep.seeds")
    assert "1,020 runs: 20 trials with 51 runs each" in problem.message


def test_that_a_cross_validation_has_a_run_for_each_fold_and_seed() -> None:
    alone = parse_profile('name = "digits"\n[sweep]\nmethod = "random"\nfolds = 2\nseeds = 2')
    assert trials_of(alone) == ({},)
    assert runs_of(alone) == tuple(
        {"training.seed": seed, "data.validation_fraction": 0.5, "data.fold": number}
        for seed in (7, 8)
        for number in (1, 2)
    )
    assert trial_profile(alone, 1, {}).name == "digits 1"
    assert trial_profile(alone, 1, runs_of(alone)[1]).data.fold == 2

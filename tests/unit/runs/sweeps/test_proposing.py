"""What a sweep would try, before it is started."""

from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.planning.sweep_trials import trials_of
from gpupanel.runs.sweeps.proposing import MOST_SHOWN, propose_sweep


def swept(values: str, sweep: str = 'method = "grid"') -> Profile:
    return parse_profile(f"[training]\nepochs = 5\n[sweep]\n{sweep}\n[sweep.values]\n{values}")


def test_that_the_trials_are_those_that_are_started_with_their_epochs() -> None:
    profile = swept('"training.epochs" = [1, 2]\n"training.learning_rate" = [0.1, 0.01]')
    proposal = propose_sweep(profile)
    assert (proposal.count, proposal.epochs, proposal.problems) == (4, 6, ())
    assert proposal.trials == trials_of(profile)


def test_that_of_many_trials_the_first_are_shown() -> None:
    proposal = propose_sweep(swept('"training.learning_rate" = {low = 1, high = 9, steps = 900}'))
    assert (proposal.count, len(proposal.trials), proposal.epochs) == (900, MOST_SHOWN, 4_500)


def test_that_a_grid_of_10000_trials_says_so_at_once() -> None:
    rates = "{low = 0.1, high = 0.9, steps = 100}"
    proposal = propose_sweep(
        swept(f'"training.learning_rate" = {rates}\n"model.dropout" = {rates}')
    )
    assert (proposal.count, [each.code for each in proposal.problems]) == (0, ["sweep_too_large"])
    assert "10,000 combinations" in proposal.problems[0].message


def test_that_what_does_not_go_together_is_a_problem_of_the_proposal() -> None:
    wrong = swept('"training.epochs" = [0]')
    assert [each.field for each in propose_sweep(wrong).problems] == [
        "sweep.values.training.epochs"
    ]
    assert [each.code for each in propose_sweep(Profile()).problems] == ["sweep_empty"]


def test_that_a_bayesian_sweep_has_epochs_but_no_trials_yet() -> None:
    few = 'method = "bayesian"\ntrials = 7'
    proposal = propose_sweep(swept('"training.learning_rate" = {low = 0.1, high = 0.9}', few))
    assert (proposal.count, proposal.trials, proposal.epochs) == (7, (), 35)
    assert propose_sweep(swept('"training.epochs" = [1, 2, 3]', few)).epochs is None


def test_that_each_seed_is_counted() -> None:
    rates = '"training.learning_rate" = [0.1, 0.01]'
    proposal = propose_sweep(swept(rates, 'method = "grid"\nseeds = 3'))
    assert (proposal.count, proposal.runs_each, proposal.epochs) == (2, 3, 30)
    assert proposal.trials[0] == {"training.learning_rate": 0.1}
    few = propose_sweep(swept(rates, 'method = "bayesian"\nseeds = 3'))
    assert (few.count, few.runs_each, few.epochs) == (2, 3, 30)

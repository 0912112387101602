"""What is reported of a sweep where a profile is run alone."""

from gpupanel.domain.problem import Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY


def test_that_mistakes_of_a_sweep_are_reported_and_keep_no_run_from_starting() -> None:
    profile = parse_profile('[sweep.values]\n"training.epoch" = [1]')
    preparation = prepare(profile, CPU_ONLY)
    found = [each for each in preparation.problems if each.code == "sweep_key_unknown"]
    assert [(each.severity, each.fix) for each in found] == [(Severity.WARNING, None)]
    assert preparation.is_startable


def test_that_a_profile_without_a_sweep_has_no_problem_of_one() -> None:
    fine = parse_profile('[sweep.values]\n"training.epochs" = [1, 2]')
    for profile in (Profile(), fine):
        codes = {each.code for each in prepare(profile, CPU_ONLY).problems}
        assert not [code for code in codes if code.startswith("sweep")]

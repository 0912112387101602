"""What a sweep would try, before it is started."""

from dataclasses import dataclass
from typing import Final

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweepMethod
from gpupanel.planning.sweep_trials import Values, repeats_of, sweep_of, trials_of
from gpupanel.runs.sweeps.starting import check_sweep

MOST_SHOWN: Final = 100
"""Trials of a proposal; that there are more is said."""
_EPOCHS: Final = "training.epochs"


@dataclass(frozen=True, slots=True)
class SweepProposal:
    """The trials that would run, or why none would.

    Attributes:
        profile: With its sweep.
        count: How many trials there are at most; 0 where the sweep cannot be started.
        trials: The values of the first ones; empty where they follow from those before.
        runs_each: How many runs each of them has.
        epochs: Of all trials together, if none is stopped early; ``None``: not known.
        problems: What keeps it from being started.
    """

    profile: Profile
    count: int = 0
    trials: tuple[Values, ...] = ()
    runs_each: int = 1
    epochs: int | None = None
    problems: tuple[Problem, ...] = ()


def propose_sweep(profile: Profile, *, is_here: bool = True) -> SweepProposal:
    """What the profile's sweep would try; each of its trials is checked, as when it is started.

    Args:
        profile: With its sweep.
        is_here: As of :func:`~gpupanel.runs.sweeps.starting.check_sweep`.
    """
    try:
        count, each = check_sweep(profile, is_here=is_here), len(repeats_of(profile))
        if sweep_of(profile).method is not SweepMethod.BAYESIAN:
            trials = trials_of(profile)
            epochs = each * sum(_epochs(profile, values) for values in trials)
            return SweepProposal(profile, count, trials[:MOST_SHOWN], each, epochs)
    except ProblemError as error:
        return SweepProposal(profile, problems=error.problems)
    is_swept = _EPOCHS in sweep_of(profile).values
    known = None if is_swept else count * each * profile.training.epochs
    return SweepProposal(profile, count, runs_each=each, epochs=known)


def _epochs(profile: Profile, values: Values) -> int:
    epochs = values.get(_EPOCHS)
    return epochs if isinstance(epochs, int) else profile.training.epochs

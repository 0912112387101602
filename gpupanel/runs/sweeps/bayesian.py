"""The values of the next trial by Optuna's TPE, from what the trials before came to.

Optuna keeps nothing: its study is made anew from the sweep's record for each trial. So a sweep
that is interrupted goes on with all that is known. It is an extra of the package, and is imported
here only.
"""

import importlib.util
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.sweep import SweepSettings, SweptValue
from gpupanel.domain.toml_text import toml_value
from gpupanel.planning.sweep_trials import Axis
from gpupanel.runs.sweeps.sweep_record import SweepTrial

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial

_MOST_ASKED: Final = 50
"""Times for one trial: what was tried already is not tried again."""


def check_optuna() -> None:
    """See whether Optuna is there.

    Raises:
        ProblemError: It is not.
    """
    if importlib.util.find_spec("optuna") is None:
        raise ProblemError(
            Problem(
                code="optuna_missing",
                field="sweep.method",
                message="A Bayesian sweep needs Optuna, which is not installed.",
                hint='Install it, or use method = "random".',
                command="pip install 'gpupanel[sweep]'",
            )
        )


def next_values(
    axes: Sequence[Axis], sweep: SweepSettings, trials: Sequence[SweepTrial]
) -> dict[str, SweptValue] | None:
    """The values of the trial after these; ``None``: all that it proposes were tried.

    Takes a second or two the first time, in which Optuna is imported.

    Raises:
        ProblemError: Optuna is not installed.
    """
    check_optuna()
    study = _study(sweep, len(trials))
    distributions = {axis.key: _distribution(axis) for axis in axes}
    for trial in trials:
        known = _known(trial, axes, distributions)
        if known is not None:
            study.add_trial(known)
    keys = distributions.keys()
    # Without what the runs of one trial differ in.
    tried = {
        toml_value({key: value for key, value in trial.values.items() if key in keys})
        for trial in trials
    }
    for _ in range(_MOST_ASKED):
        asked = study.ask(distributions)
        values = {axis.key: _value(axis, asked.params[axis.key]) for axis in axes}
        if toml_value(values) not in tried:
            return values
    return None


def _study(sweep: SweepSettings, trial_count: int) -> "Study":
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    # A new seed for each trial: the same one would propose the same values again and again. Trials
    # that go on count as poor ones, so that several at once do not try the same.
    sampler = optuna.samplers.TPESampler(seed=sweep.seed + trial_count, constant_liar=True)
    if sweep.more_is_better:
        return optuna.create_study(sampler=sampler, direction="maximize")
    return optuna.create_study(sampler=sampler, direction="minimize")


def _distribution(axis: Axis) -> "BaseDistribution":
    from optuna import distributions

    if axis.values:
        return distributions.CategoricalDistribution(range(len(axis.values)))
    if axis.is_whole:
        return distributions.IntDistribution(int(axis.low), int(axis.high), log=axis.log)
    return distributions.FloatDistribution(axis.low, axis.high, log=axis.log)


def _value(axis: Axis, proposed: float) -> SweptValue:
    return axis.values[int(proposed)] if axis.values else axis.rounded(proposed)


def _known(
    trial: SweepTrial, axes: Sequence[Axis], distributions: "dict[str, BaseDistribution]"
) -> "FrozenTrial | None":
    """What Optuna is to know of a trial; ``None``: nothing can be learned from it."""
    from optuna.trial import TrialState, create_trial

    params = {axis.key: _proposed(axis, trial.values.get(axis.key)) for axis in axes}
    if any(each is None for each in params.values()):
        return None  # of a record that somebody changed
    ended = trial.ended
    if trial.is_paused and trial.paused is not None and trial.paused.value is not None:
        # As a pruned one: what it is worth so far.
        value = trial.paused.value
        return create_trial(params=params, distributions=distributions, value=value)
    if ended is None:
        return create_trial(params=params, distributions=distributions, state=TrialState.RUNNING)
    was_measured = ended.value is not None and math.isfinite(ended.value)
    if not was_measured or ended.outcome in (None, Outcome.LOST):
        return create_trial(params=params, distributions=distributions, state=TrialState.FAIL)
    # A pruned one, too, has a value, which is poor enough to learn from.
    return create_trial(params=params, distributions=distributions, value=ended.value)


def _proposed(axis: Axis, value: SweptValue | None) -> float | None:
    """What Optuna calls a value."""
    if axis.values:
        same = (
            place
            for place, each in enumerate(axis.values)
            if (type(each), each) == (type(value), value)
        )
        return next(same, None)
    is_within = isinstance(value, int | float) and axis.low <= value <= axis.high
    return value if is_within and isinstance(value, int | float) else None

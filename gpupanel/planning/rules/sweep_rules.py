"""What a profile says for sweeps, which a run of it alone does without."""

from collections.abc import Iterator

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.sweep_mistakes import sweep_mistakes
from gpupanel.planning.context import PlanningContext


def sweep_cannot_start(context: PlanningContext) -> Iterator[Problem]:
    """Mistakes of the sweep: a run starts nevertheless, ``gpupanel sweep`` does not."""
    if context.profile.sweep is not None:
        for problem in sweep_mistakes(context.profile):
            # A fix for the sweep's sake would change the run.
            yield problem.model_copy(update={"severity": Severity.WARNING, "fix": None})

"""Everything that can be said about a profile on this machine before it starts."""

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value
from gpupanel.planning.other_processes import OtherProcesses


class Preparation(Value):
    """What would happen.

    Attributes:
        problems: Errors first, then warnings, then hints.
        plan: What would be launched; ``None`` when an error leaves nothing to plan.
        others: The processes on the chosen GPUs now.
    """

    problems: tuple[Problem, ...] = ()
    plan: LaunchPlan | None = None
    others: tuple[OtherProcesses, ...] = ()

    @property
    def is_startable(self) -> bool:
        """Whether a run may start."""
        return self.plan is not None and not any(problem.is_error for problem in self.problems)

"""What variables of the shell change about a run beside its devices, and what they do not."""

from collections.abc import Iterator

from gpupanel.domain.problem import Problem
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.shell_variables import shell_problems


def shell_variables(context: PlanningContext) -> Iterator[Problem]:
    """Packages of elsewhere, variables that a run begins without, and those that change it."""
    yield from context.inventory.environment_problems
    yield from shell_problems(context.inventory.shell_variables, has_gpus=bool(context.gpus))

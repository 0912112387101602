"""What follows from what was examined."""

from collections.abc import Callable, Iterator
from typing import Final

from gpupanel.devices.doctor import driver_rules, gpu_rules, tensorflow_rules
from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.doctor.report import worst_first
from gpupanel.devices.doctor.visibility import GpuVisibility
from gpupanel.domain.problem import Problem, Severity
from gpupanel.planning.shell_variables import shell_problems


def shell_and_elsewhere(examined: Examined) -> Iterator[Problem]:
    """Packages of elsewhere, and variables that a run begins without or is changed by."""
    if examined.spoiled is None:
        yield from examined.environment_problems
    yield from shell_problems(examined.shell_variables, has_gpus=bool(examined.gpus))


_FOR_ALL_GPUS: Final[tuple[Callable[[Examined], Iterator[Problem]], ...]] = (
    driver_rules.no_driver,
    driver_rules.no_gpu_listed,
    driver_rules.unresponsive_gpus,
    driver_rules.device_nodes,
    tensorflow_rules.import_failure,
    tensorflow_rules.build_without_cuda,
    tensorflow_rules.driver_too_old,
    tensorflow_rules.libraries,
    driver_rules.cuda_start,
    shell_and_elsewhere,
)
"""In the order in which they are mended: what stands lower first."""
_LAST: Final = "sudo reboot"


def findings(examined: Examined, sights: tuple[GpuVisibility, ...]) -> tuple[Problem, ...]:
    """Every problem, the worst first."""
    found = [problem for rule in _FOR_ALL_GPUS for problem in rule(examined)]
    is_explained = any(problem.severity is not Severity.HINT for problem in found)
    found += gpu_rules.unseen_gpus(examined, sights, is_explained=is_explained)
    found += gpu_rules.kernels(examined, sights)
    return worst_first(found)


def mending_command(problems: tuple[Problem, ...]) -> str:
    """The one command that does all that commands can mend; empty when none can.

    Hints are no illness, so they ask for none.
    """
    commands = [
        problem.command
        for problem in problems
        if problem.command and problem.severity is not Severity.HINT
    ]
    distinct = sorted(dict.fromkeys(commands), key=lambda command: command == _LAST)
    return " && ".join(distinct)

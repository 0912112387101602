"""What is said of a shell's variables that change a run, and of those that a run begins without."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from gpupanel.domain.inherited_variables import (
    LAUNCHERS,
    InheritedVariable,
    Treatment,
    known_variable,
)
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_beginning

_OF_GPUS: Final = ("CUDA", "NCCL")


def shell_problems(names: Sequence[str], *, has_gpus: bool) -> tuple[Problem, ...]:
    """What is to be said of these variables.

    Args:
        names: As :func:`~gpupanel.domain.inherited_variables.reported_variables` gives them.
        has_gpus: Whether a GPU is used: else nothing is said of what only concerns GPUs.
    """
    cleared = _treated(names, Treatment.CLEARED, has_gpus=has_gpus)
    obeyed = _treated(names, Treatment.NAMED, has_gpus=has_gpus)
    started = {name: each for name, each in obeyed.items() if each.reader in LAUNCHERS}
    obeyed = {name: each for name, each in obeyed.items() if name not in started}
    problems = []
    if started:
        launcher = next(iter(started.values())).reader
        problems.append(
            Problem(
                code="started_several_times",
                severity=Severity.WARNING,
                message=f"{launcher} started this command several times: each of them would train "
                "the whole model, with the same devices.",
                hint="Start it once: gpupanel starts the processes that a run needs. "
                f"{_names(started)} says that it was more often.",
            )
        )
    if cleared:
        problems.append(
            Problem(
                code="shell_variables_not_used",
                severity=Severity.HINT,
                message=f"The shell sets {_names(cleared)}: a run begins without.",
                hint=_reasons(cleared),
            )
        )
    if obeyed:
        without = [word for name in obeyed for word in ("-u", visible_beginning(name))]
        problems.append(
            Problem(
                code="shell_variables_obeyed",
                severity=Severity.HINT,
                message=f"The shell sets {_names(obeyed)}, which a run obeys.",
                hint=f"{_reasons(obeyed)} The command starts gpupanel without.",
                command=shlex.join(("env", *without, "gpupanel")),
            )
        )
    return tuple(problems)


def _treated(
    names: Sequence[str], treatment: Treatment, *, has_gpus: bool
) -> dict[str, InheritedVariable]:
    known = {name: known_variable(name) for name in names}
    return {
        name: each
        for name, each in known.items()
        if each is not None
        and each.treatment is treatment
        and (has_gpus or each.reader not in _OF_GPUS)
    }


def _names(found: Mapping[str, InheritedVariable]) -> str:
    return ", ".join(map(visible_beginning, found))


def _reasons(found: Mapping[str, InheritedVariable]) -> str:
    """Each reason once, behind the variables that it is given for."""
    given: dict[str, list[str]] = {}
    for name, each in found.items():
        given.setdefault(each.reason, []).append(visible_beginning(name))
    return " ".join(f"{', '.join(names)}: {reason}." for reason, names in given.items())

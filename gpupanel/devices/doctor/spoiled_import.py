"""What keeps TensorFlow from being imported, found by trying without it.

Asked by the doctor, by whoever asks whether GPUs can be used, and by a run that has failed so: all
of them say the same.
"""

import os
from collections.abc import Callable, Sequence
from threading import Event
from typing import Final

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.devices.elsewhere import Elsewhere, elsewhere, keras_file, packages_before_ours
from gpupanel.domain.child_command import bundled_command, python_module_command
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_beginning, visible_line

TRIAL_LIMIT_S: Final = 60.0
_TRIAL: Final = "gpupanel.trainer.probe.trial"
_OF_A_LIMIT: Final = ("MemoryError", "memory", "failed to map", "bad_alloc", "Resource temporarily")
"""What a library says that gets no address space."""

Works = Callable[[Sequence[Elsewhere]], bool]
"""Whether TensorFlow can be imported without these."""


def what_spoils_import(
    failure: str, cancelled: Event | None = None, works: Works | None = None
) -> Problem | None:
    """What keeps TensorFlow from being imported here, and how gpupanel is started without.

    Tried one after the other, what the failure names first, until the import works; then without
    all of them. Each takes as long as an import.

    Args:
        failure: What the import that failed has said.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        works: Tries an import.

    Returns:
        ``None`` where nothing of elsewhere is the reason, or that cannot be tried.
    """
    if bundled_command() is not None:
        return None  # it takes nothing from elsewhere
    tries = works or (lambda without: _works(without, cancelled))
    if not elsewhere() or tries(()):
        return None  # a failure that does not come again has another reason
    suspects = sorted(elsewhere(), key=lambda each: not each.named_in(failure))
    groups = [[each] for each in suspects] + ([suspects] if len(suspects) > 1 else [])
    for group in groups:
        if cancelled is not None and cancelled.is_set():
            return None
        if tries(group):
            return _spoiled(group, failure)
    return _limited(suspects, failure)


def import_problem(cancelled: Event | None = None) -> Problem | None:
    """What of elsewhere keeps TensorFlow from being imported here; takes as long as an import.

    Args:
        cancelled: Set, by any thread, when the answer is not wanted any more.

    Returns:
        ``None`` where the import works, that cannot be tried, or nothing of elsewhere is the
        reason.
    """
    try:
        child = ask_child(python_module_command(_TRIAL), TRIAL_LIMIT_S, cancelled)
    except OSError:
        return None
    if child.end is not ChildEnd.BY_ITSELF or child.exit_code == 0:
        return None
    return what_spoils_import(child.log, cancelled)


def packages_of_elsewhere() -> tuple[Problem, ...]:
    """What of elsewhere is wrong or stands before gpupanel's own: known without a trial."""
    refused = (
        Problem(
            code="keras_file_refused",
            message=f"Keras refuses to be imported because of {each.name}: its floatx, epsilon or "
            "image_data_format is none that this Keras knows.",
            hint="The command moves it out of the way. gpupanel needs none.",
            command=each.command,
        )
        for each in keras_file(os.environ)
    )
    before = (
        Problem(
            code="packages_of_elsewhere",
            severity=Severity.WARNING,
            message=f"Not gpupanel's own {_listed(names)} {'is' if len(names) == 1 else 'are'} "
            f"used, but what lies in {_folders(each)} ({each.name}).",
            hint="Versions that do not belong together fail, or calculate otherwise. The command "
            "starts gpupanel without.",
            command=each.command,
        )
        for each, names in packages_before_ours()
    )
    return (*refused, *before)


def _works(without: Sequence[Elsewhere], cancelled: Event | None) -> bool:
    variables = {name: text for each in without for name, text in each.variables.items()}
    limits = [each.limit for each in without if each.limit]
    try:
        child = ask_child(
            python_module_command(_TRIAL, *limits), TRIAL_LIMIT_S, cancelled, variables
        )
    except OSError:
        return False
    return child.end is ChildEnd.BY_ITSELF and child.exit_code == 0


def _spoiled(group: Sequence[Elsewhere], failure: str) -> Problem:
    names = " and ".join(each.name for each in group)
    taken = tuple(dict.fromkeys(name for each in group for name in each.named_in(failure)))
    from_there = f" From there comes {_listed(taken)}." if taken else ""
    return Problem(
        code="environment_spoils_import",
        message=f"TensorFlow cannot be imported because of {names}: {_last_line(failure)}",
        hint=f"Without {'it' if len(group) == 1 else 'them'} the import works.{from_there}",
        command=_command(group),
        detail=failure,
    )


def _limited(suspects: Sequence[Elsewhere], failure: str) -> Problem | None:
    """A limit that cannot be raised here cannot be tried without either."""
    fixed = next((each for each in suspects if each.limit and not each.command), None)
    if fixed is None or not any(word in failure for word in _OF_A_LIMIT):
        return None
    return Problem(
        code="environment_spoils_import",
        message=f"TensorFlow cannot be imported under {fixed.name}: {_last_line(failure)}",
        hint="Ask the administrator who set this limit, or the batch system, for more.",
        detail=failure,
    )


def _command(group: Sequence[Elsewhere]) -> str:
    """One for all: those of the shell first, then one ``env`` with all of its words."""
    before = [each.command for each in group if each.command.startswith(("mv ", "ulimit "))]
    before = [text.removesuffix(" && gpupanel") for text in before]
    words = [
        each.command.removeprefix("env ").removesuffix(" gpupanel")
        for each in group
        if each.command.startswith("env ")
    ]
    started = f"env {' '.join(words)} gpupanel" if words else "gpupanel"
    return " && ".join((*before, started)) if before or words else ""


def _last_line(failure: str) -> str:
    lines = [line.strip() for line in failure.splitlines() if line.strip()]
    return visible_beginning(lines[-1]) if lines else "it gives no reason"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _folders(each: Elsewhere) -> str:
    return ", ".join(dict.fromkeys(map(visible_line, each.folders)))

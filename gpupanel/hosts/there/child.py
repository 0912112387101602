"""Modules of gpupanel that are asked on the host, as a window there would ask them."""

import math
from collections.abc import Callable
from threading import Event

from gpupanel.devices.child_process import ChildEnd, ask_child
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.hosts.operations.machine import ChildEnded, ChildOutput, ChildWanted
from gpupanel.hosts.there.thinning import pieces


def ask_module(
    wanted: ChildWanted, say: Callable[[ChildOutput], None], dropped: Event
) -> ChildEnded:
    """Ask one, and tell what it writes as it comes.

    Raises:
        ProblemError: It cannot be started.
    """

    def tell(output: bytes) -> None:
        for piece in pieces(output):
            say(ChildOutput(output=piece.decode("latin-1")))

    try:
        answer = ask_child(
            python_module_command(wanted.module, *wanted.arguments),
            math.inf if wanted.limit_s is None else wanted.limit_s,
            dropped,
            wanted.variables,
            wanted.question.encode("latin-1"),
            on_output=tell,
            grace_s=wanted.grace_s,
        )
    except OSError as error:
        raise ProblemError(
            Problem(
                code="process_not_started",
                message=f"The host cannot start a process: {error}.",
                hint="Close programs there, or end processes that hang, then try again.",
            )
        ) from error
    is_over = answer.end is ChildEnd.BY_ITSELF
    exit_code = answer.exit_code if is_over else None
    return ChildEnded(end=answer.end.name, exit_code=exit_code, log=answer.log)

"""How the end of a trainer's process is to be read."""

import signal

from gpupanel.domain.events import TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value


class Ending(Value):
    """How a run ended, as far as the process tells."""

    outcome: Outcome
    problem: Problem | None = None


def read_exit(
    exit_code: int,
    said: TrainingEnded | None,
    *,
    stop_asked: bool,
    watchdog: Problem | None,
    log_tail: tuple[str, ...],
) -> Ending:
    """What the end of the trainer's process means.

    Args:
        exit_code: As :attr:`subprocess.Popen.returncode`; negative: the signal that killed it.
        said: The trainer's own last word, if it had one.
        stop_asked: Whether a person asked the run to stop or end.
        watchdog: Why the supervisor ended the process by itself, if it did.
        log_tail: Last lines of its log, for the detail.
    """
    if watchdog is not None:
        return Ending(outcome=Outcome.FAILED, problem=watchdog)
    if said is not None:
        return Ending(outcome=said.outcome, problem=said.problem)
    if stop_asked:
        return Ending(outcome=Outcome.STOPPED)
    return Ending(outcome=Outcome.LOST, problem=_vanished(exit_code, log_tail))


def _vanished(exit_code: int, log_tail: tuple[str, ...]) -> Problem:
    detail = "\n".join(log_tail)
    if exit_code >= 0:
        return Problem(
            code="trainer_vanished",
            message=f"The trainer ended with exit code {exit_code} and did not say why.",
            hint="Look at the last lines of its log below; start the run again.",
            detail=detail,
        )
    name = _signal_name(-exit_code)
    hints: dict[int, str] = {
        signal.SIGKILL: "If nobody did so by hand, the system ran out of memory: use a smaller "
        "global batch or model, or close other programs.",
        signal.SIGSEGV: "A library crashed: run gpupanel doctor, and try without XLA.",
    }
    return Problem(
        code="trainer_killed",
        message=f"The trainer was killed by {name}.",
        hint=hints.get(-exit_code, "Start the run again."),
        detail=detail,
    )


def _signal_name(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} (signal {number})"
    except ValueError:
        return f"signal {number}"

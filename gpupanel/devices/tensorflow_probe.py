"""Asks TensorFlow about itself, in a child process with a time limit."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import IO, Final

from pydantic import ValidationError

from gpupanel.domain.problem import Problem
from gpupanel.domain.tensorflow_facts import TensorFlowFacts
from gpupanel.domain.value import Value

PROBE_COMMAND: Final = (sys.executable, "-m", "gpupanel.trainer.probe")
TIME_LIMIT_S: Final = 120.0
_LOG_LINES: Final = 40


class ProbeAnswer(Value):
    """What the child answered.

    Attributes:
        facts: ``None`` when it did not get to answer; :attr:`problem` says why.
        log: The last lines that TensorFlow wrote to stderr.
    """

    facts: TensorFlowFacts | None = None
    problem: Problem | None = None
    log: str = ""


def ask_tensorflow(
    command: Sequence[str] = PROBE_COMMAND, time_limit_s: float = TIME_LIMIT_S
) -> ProbeAnswer:
    """Start the probe and wait for its answer, at most ``time_limit_s`` seconds.

    The child and whatever it started are killed when the time is up. Never raises for what the
    child does.
    """
    with tempfile.TemporaryFile() as log:
        try:
            # A group of its own, so that all of it can be killed; what it prints goes to a file,
            # so that it never waits for somebody to read it.
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        except OSError as error:
            return ProbeAnswer(problem=_cannot_start(error))
        try:
            answer, _ = child.communicate(timeout=time_limit_s)
        except subprocess.TimeoutExpired:
            return ProbeAnswer(problem=_timed_out(time_limit_s), log=_tail(log))
        finally:
            if child.returncode is None:
                _end(child)
        return _judge(answer, child.returncode, _tail(log))


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Kill the child's group, and collect it."""
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


def _judge(answer: bytes, exit_code: int, log: str) -> ProbeAnswer:
    if exit_code < 0:
        return ProbeAnswer(problem=_crashed(-exit_code, log), log=log)
    try:
        return ProbeAnswer(facts=TensorFlowFacts.model_validate_json(answer), log=log)
    except ValidationError:
        return ProbeAnswer(problem=_no_answer(exit_code, log), log=log)


def _tail(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-_LOG_LINES:])


def _cannot_start(error: OSError) -> Problem:
    return Problem(
        code="tensorflow_probe_not_started",
        message=f"The process that looks at TensorFlow cannot be started: {error.strerror}.",
        hint="Free some memory or process slots, and try again.",
        detail=str(error),
    )


def _timed_out(time_limit_s: float) -> Problem:
    return Problem(
        code="tensorflow_import_timed_out",
        message=f"TensorFlow did not answer within {time_limit_s:.0f} seconds.",
        hint="Try again when the disk is less busy; if it stays so, install TensorFlow anew: "
        f"{sys.executable} -m pip install --force-reinstall tensorflow",
    )


def _crashed(number: int, log: str) -> Problem:
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number == signal.SIGILL:
        hint = (
            "This processor lacks instructions (AVX) that TensorFlow's packages use: take another "
            "machine, or a TensorFlow built for this processor."
        )
    elif number == signal.SIGKILL:
        hint = "Most likely the machine ran out of memory: close other programs and try again."
    else:
        hint = (
            f"Install it anew: {sys.executable} -m pip install --force-reinstall tensorflow keras"
        )
    return Problem(
        code="tensorflow_crashed",
        message=f"TensorFlow crashes when it is imported ({name}).",
        hint=hint,
        detail=log,
    )


def _no_answer(exit_code: int, log: str) -> Problem:
    return Problem(
        code="tensorflow_probe_failed",
        message=f"The process that looks at TensorFlow ended with {exit_code} and no answer.",
        hint="Copy the detail into a bug report.",
        detail=log,
    )

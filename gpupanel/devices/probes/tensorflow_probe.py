"""Asks TensorFlow about itself, in a child process with a time limit."""

import signal
from collections.abc import Mapping, Sequence
from threading import Event
from typing import Final, assert_never

from pydantic import ValidationError

from gpupanel.devices.child_process import ChildAnswer, ChildEnd, ask_child
from gpupanel.devices.packages import install
from gpupanel.devices.probes.tensorflow_refusals import Refusal, refusals
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.problem import Problem
from gpupanel.domain.tensorflow_facts import TensorFlowFacts
from gpupanel.domain.value import Value

PROBE_COMMAND: Final = python_module_command("gpupanel.trainer.probe")
TIME_LIMIT_S: Final = 120.0
_ALL_MESSAGES: Final = {"TF_CPP_MIN_LOG_LEVEL": "0"}
"""TensorFlow says why it passes a GPU over in a message that many people silence."""
_LOG_LINES: Final = 40
_FAILED: Final = frozenset({"tensorflow_crashed", "tensorflow_probe_failed"})
"""What an import may end in that something of elsewhere spoils."""


class ProbeAnswer(Value):
    """What the child answered.

    Attributes:
        facts: ``None`` when it did not get to answer; :attr:`problem` says why.
        log: The last lines that TensorFlow wrote to stderr.
        refusals: The GPUs that TensorFlow says it passes over.
    """

    facts: TensorFlowFacts | None = None
    problem: Problem | None = None
    log: str = ""
    refusals: tuple[Refusal, ...] = ()

    @property
    def failure(self) -> str | None:
        """What an import that failed has said; ``None``: it did not fail, or nobody knows."""
        if self.facts is not None:
            return self.facts.import_error or None
        has_failed = self.problem is not None and self.problem.code in _FAILED
        return self.log if has_failed else None


def ask_tensorflow(
    command: Sequence[str] = PROBE_COMMAND,
    time_limit_s: float = TIME_LIMIT_S,
    cancelled: Event | None = None,
    variables: Mapping[str, str] | None = None,
) -> ProbeAnswer:
    """Start the probe and wait for its answer.

    The child and whatever it started are killed when the time is up, or when nobody wants the
    answer any more. Never raises for what the child does.

    Args:
        command: Writes :class:`TensorFlowFacts` to stdout.
        time_limit_s: How long it may take.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        variables: Of its environment besides those of this process.
    """
    try:
        child = ask_child(command, time_limit_s, cancelled, {**(variables or {}), **_ALL_MESSAGES})
    except OSError as error:
        return ProbeAnswer(problem=_cannot_start(error))
    log = "\n".join(child.log.splitlines()[-_LOG_LINES:])
    match child.end:
        case ChildEnd.BY_ITSELF:
            return _interpret(child, log)
        case ChildEnd.TIME_WAS_UP:
            return ProbeAnswer(problem=_timed_out(time_limit_s), log=log)
        case ChildEnd.CANCELLED:
            return ProbeAnswer(problem=_CANCELLED, log=log)
    assert_never(child.end)


def _interpret(child: ChildAnswer, log: str) -> ProbeAnswer:
    exit_code = child.exit_code or 0
    if exit_code < 0:
        return ProbeAnswer(problem=_crashed(-exit_code, log), log=log)
    try:
        facts = TensorFlowFacts.model_validate_json(child.output)
    except ValidationError:
        return ProbeAnswer(problem=_no_answer(exit_code, log), log=log)
    return ProbeAnswer(facts=facts, log=log, refusals=refusals(child.log))


_CANCELLED: Final = Problem(
    code="tensorflow_probe_cancelled",
    message="The check of TensorFlow was cancelled.",
    hint="Check again.",
)


def _cannot_start(error: OSError) -> Problem:
    return Problem(
        code="tensorflow_probe_not_started",
        message=f"The process that checks TensorFlow cannot be started: {error.strerror}.",
        hint="Free some memory or process slots, and try again.",
        detail=str(error),
    )


def _timed_out(time_limit_s: float) -> Problem:
    return Problem(
        code="tensorflow_import_timed_out",
        message=f"TensorFlow did not answer within {time_limit_s:.0f} seconds.",
        hint="Try again when the disk is less busy; if it happens again, reinstall TensorFlow.",
        command=install("tensorflow", anew=True),
    )


def _crashed(number: int, log: str) -> Problem:
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    command = ""
    if number == signal.SIGILL:
        hint = (
            "This processor lacks instructions (AVX) that TensorFlow's packages use: take another "
            "machine, or a TensorFlow built for this processor."
        )
    elif number == signal.SIGKILL:
        hint = "Most likely the machine ran out of memory: close other programs and try again."
    else:
        hint, command = "Reinstall it.", install("tensorflow", "keras", anew=True)
    return Problem(
        code="tensorflow_crashed",
        message=f"TensorFlow crashes when it is imported ({name}).",
        hint=hint,
        command=command,
        detail=log,
    )


def _no_answer(exit_code: int, log: str) -> Problem:
    return Problem(
        code="tensorflow_probe_failed",
        message=f"The process that checks TensorFlow ended with {exit_code} and no answer.",
        hint="Copy the detail into a bug report.",
        detail=log,
    )

"""A range test of the learning rate for a profile, by a child process."""

import json
from collections.abc import Sequence
from threading import Event
from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.problem import Problem
from gpupanel.domain.rate_range import RateRange, RateRangeRequest
from gpupanel.runs.child_answer import ChildWords, answer_of_child

RATE_RANGE_COMMAND: Final = python_module_command("gpupanel.trainer.rate_range")
"""Reads the question on standard input and answers on standard output."""
TIME_LIMIT_S: Final = 1800.0
_WORDS: Final = ChildWords(
    code="rate_range",
    process="the process that tries learning rates",
    work="trying learning rates",
    slow_hint="Try it with fewer or smaller examples, or a smaller global batch.",
    death_hint="The examples of a step may need more memory than there is; copy the detail.",
    field="training.learning_rate",
)


def try_learning_rates(
    request: RateRangeRequest,
    device: str = CPU_KEY,
    cancelled: Event | None = None,
    command: Sequence[str] = RATE_RANGE_COMMAND,
) -> RateRange:
    """Train for some steps with rising learning rates, in a process of its own.

    Whatever becomes of the process, the answer is a :class:`RateRange`: a death, a time limit or an
    answer that cannot be read is a problem in it.

    Args:
        request: What to try.
        device: The key of the GPU that it is tried on, or of the CPU.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        command: Answers the request on stdin with a :class:`RateRange` on stdout.
    """
    variables = {}
    if device != CPU_KEY:
        # Others may use the GPU meanwhile: no more than is needed is taken.
        variables = {"CUDA_VISIBLE_DEVICES": device, "TF_FORCE_GPU_ALLOW_GROWTH": "true"}
    # Not model_dump_json(), which raises for a path that is no UTF-8.
    question = json.dumps(request.model_dump(mode="json")).encode()
    found = answer_of_child(
        RateRange, _WORDS, command, question, TIME_LIMIT_S, cancelled, variables
    )
    return RateRange(problems=(found,)) if isinstance(found, Problem) else found

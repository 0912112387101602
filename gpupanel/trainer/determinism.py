"""What TensorFlow refuses because operations are to be deterministic."""

import re
import traceback
from typing import Final

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Fix, Problem
from gpupanel.trainer.file_errors import chain

_TYPES: Final = frozenset(
    {"UnimplementedError", "FailedPreconditionError", "InvalidArgumentError", "RuntimeError"}
)
_WORDS: Final = re.compile(r"\b(?:non-?)?determini?s[imt]", re.IGNORECASE)
"""As of "A deterministic GPU implementation of AdjustContrast is not currently available.",
"Determinism is not yet supported for Dilation2DBackpropInput." (``OpDeterminismRequired`` in
``tensorflow/core/kernels``), and "Random ops require a seed to be set when determinism is enabled."
(``get_seed`` in ``tensorflow/python/framework/random_seed.py``); once it says "determinsim"."""
_FRAME: Final = re.compile(r'^ *File ".*", line \d+, in ')
_SEED: Final = re.compile(r"\bseed\b")


def refused_as_random(error: BaseException) -> str:
    """TensorFlow's sentence about an operation that is not deterministic; empty: it says none."""
    for cause in chain(error):
        if type(cause).__name__ in _TYPES:
            # It names files of the person's, too, whatever they are called.
            lines = (line.strip() for line in str(cause).splitlines() if not _FRAME.match(line))
            for line in lines:
                if _WORDS.search(line):
                    return line
    return ""


def determinism_problem(error: BaseException, plan: LaunchPlan | None) -> Problem | None:
    """What to do about it; ``None``: the error is about something else."""
    said = refused_as_random(error)
    if not said:
        return None
    asked = plan is not None and _asks(plan)
    hint = (
        "Switch training.deterministic off, or use a layer that does the same with other "
        "operations; on the CPU most of them work."
        if asked
        else "The variable TF_DETERMINISTIC_OPS of your shell, or enable_op_determinism() in "
        "code of your own, asks for it: take that out."
    )
    if _SEED.search(said):
        hint = f"Give random operations in your own code a seed. {hint}"
    return Problem(
        code="not_deterministic",
        field="training.deterministic" if asked else "",
        message="An operation of this training cannot be carried out where all operations are to "
        f"be deterministic: {said[:200]}",
        hint=hint,
        detail="".join(traceback.format_exception(error)),
        fix=Fix.of("Switch determinism off", "training.deterministic", value=False)
        if asked
        else None,
    )


def _asks(plan: LaunchPlan) -> bool:
    environments = (plan.environment, *(process.environment for process in plan.processes))
    return any("TF_DETERMINISTIC_OPS" in each for each in environments)

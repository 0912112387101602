"""Libraries of CUDA that TensorFlow cannot use when an operation needs them."""

import re
import traceback
from typing import Final

from gpupanel.domain.problem import Problem
from gpupanel.trainer.file_errors import chain

_TYPES: Final = frozenset(
    {"FailedPreconditionError", "InternalError", "InvalidArgumentError", "UnimplementedError"}
    | {"UnknownError", "RuntimeError"}
)
_FRAME: Final = re.compile(r'^ *File ".*", line \d+, in ')
_WORDS: Final = {
    "cuDNN": re.compile(r"DNN library initialization failed|No DNN in stream executor"),
    "cuBLAS": re.compile(
        r"No blas (?:support )?(?:for|in) stream|(?:get|initialize) ?BLAS support"
        r"|failed to create cublas handle",
        re.IGNORECASE,
    ),
    "cuFFT": re.compile(r"Unable to get FFT support|No FFT for stream", re.IGNORECASE),
}
"""Of TensorFlow 2.21. "DNN library initialization failed" is what XLA says while it compiles (seen
with ``jit_compile`` and a cuDNN without any function); the others are what operations say, of the
same reasons."""


def library_problem(error: BaseException) -> Problem | None:
    """Which library failed, and what to do; ``None``: the error is about something else."""
    for cause in chain(error):
        if type(cause).__name__ not in _TYPES:
            continue
        # It names files of the person's, too, whatever they are called.
        lines = [line for line in str(cause).splitlines() if not _FRAME.match(line)]
        for library, words in _WORDS.items():
            if any(words.search(line) for line in lines):
                return _not_initialized(library, error)
    return None


def _not_initialized(library: str, error: BaseException) -> Problem:
    return Problem(
        code="cuda_library_not_initialized",
        message=f"TensorFlow could not initialize {library} on a GPU, which an operation of the "
        "model needs. Most likely it cannot be loaded, is older than the one that TensorFlow was "
        "built with, or finds no memory left on the GPU beside what TensorFlow has taken.",
        hint=f"The lines about {library} in trainer.log, above the error, give the reason, and as "
        "a rule the memory that was free. gpupanel doctor shows which libraries TensorFlow finds. "
        "Where memory is short, let it grow, or set a limit some hundred MiB lower, and end what "
        "else holds it.",
        detail="".join(traceback.format_exception(error)),
    )

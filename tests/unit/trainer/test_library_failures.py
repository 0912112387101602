"""What a run reports where a library of CUDA could not be initialized."""

import pytest

from gpupanel.trainer.failures import problems_of

# As TensorFlow 2.21 said it on a GPU whose cuDNN has no functions, of a step that XLA compiles.
OF_XLA = """Graph execution error:

Detected at node while/PartitionedCall defined at (most recent call last):
  File "gpupanel/trainer/steps/contribution.py", line 125, in __call__

2 root error(s) found.
  (0) FAILED_PRECONDITION:  DNN library initialization failed. Look at the errors above for more \
details.
\t [[{{node while/PartitionedCall}}]]
\t [[while/LoopExecuted/_62/_45]]
  (1) FAILED_PRECONDITION:  DNN library initialization failed. Look at the errors above for more \
details.
\t [[{{node while/PartitionedCall}}]]
0 successful operations.
0 derived errors ignored. [Op:__inference__steps_457]"""


class FailedPreconditionError(Exception):
    """TensorFlow's is known by its name."""


class InternalError(Exception):
    """Another one."""


@pytest.mark.parametrize(
    ("error", "library"),
    [
        (FailedPreconditionError(OF_XLA), "cuDNN"),
        (FailedPreconditionError("No DNN in stream executor. [Op:Conv2D]"), "cuDNN"),
        (InternalError("No BLAS support in stream. [Op:MatMul]"), "cuBLAS"),
        (InternalError("failed to create cublas handle: the resource allocation failed"), "cuBLAS"),
        (InternalError("No FFT for stream."), "cuFFT"),
    ],
)
def test_that_a_library_that_failed_is_named_with_what_to_do(
    error: Exception, library: str
) -> None:
    (problem,) = problems_of(error)

    assert problem.code == "cuda_library_not_initialized"
    assert problem.message.startswith(f"TensorFlow could not initialize {library} on a GPU")
    assert "no memory left on the GPU" in problem.message
    assert "gpupanel doctor" in problem.hint
    assert str(error) in problem.detail


@pytest.mark.parametrize(
    "error",
    [
        ValueError("DNN library initialization failed"),
        InternalError('  File "No DNN in stream executor.py", line 1, in build\nBad shape.'),
    ],
)
def test_that_other_errors_are_not_taken_for_that(error: Exception) -> None:
    (problem,) = problems_of(error)
    assert problem.code == "trainer_crashed"


def test_that_the_first_of_several_errors_is_shown() -> None:
    said = OF_XLA.replace("DNN library initialization failed. Look at", "Bad shape. Look at")
    (problem,) = problems_of(FailedPreconditionError(said))
    assert problem.message.endswith(
        "FailedPreconditionError: Bad shape. Look at the errors above for more details."
    )

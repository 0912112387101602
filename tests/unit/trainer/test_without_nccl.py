"""What a run reports where TensorFlow was to sum by NCCL, and does not find it or it fails."""

import pytest

from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.planning.prepare import prepare
from gpupanel.trainer.failures import problems_of
from tests.fakes.devices import TWO_UNEQUAL

# As TensorFlow 2.21 said it on a machine with two GPUs and without NCCL.
OF_ONE_PROCESS = """Graph execution error:

Detected at node NcclAllReduce defined at (most recent call last):
  File "train.py", line 3, in <module>

NCCL: Unable to load NCCL library. Multi-GPU collectives will not work.. Set NCCL_DEBUG=WARN for \
detail.
\t [[{{node NcclAllReduce}}]] [Op:__inference__steps_892]"""
OF_WORKERS = """Collective ops is aborted by: NCCL: Unable to load NCCL library. Multi-GPU \
collectives will not work.. Set NCCL_DEBUG=WARN for detail.
The error could be from a previous operation. Restart your program to reset.
\t [[{{node while/CollectiveReduceV2}}]] [Op:__inference__steps_566]"""


class InternalError(Exception):
    """TensorFlow's is known by its name."""


@pytest.mark.parametrize(
    ("kind", "said", "label", "way"),
    [
        (
            StrategyKind.MIRRORED,
            OF_ONE_PROCESS,
            "Sum by hierarchical copy",
            AllReduce.HIERARCHICAL_COPY,
        ),
        (StrategyKind.MULTI_WORKER, OF_WORKERS, "Sum over a ring", AllReduce.AUTO),
    ],
)
def test_that_a_run_that_ended_for_want_of_nccl_says_so_and_offers_what_works(
    kind: StrategyKind, said: str, label: str, way: AllReduce
) -> None:
    plan = prepare(Profile(strategy=StrategySettings(kind=kind)), TWO_UNEQUAL).plan

    (problem,) = problems_of(InternalError(said), plan)

    assert problem.code == "nccl_missing"
    assert "TensorFlow does not find NCCL" in problem.message
    assert said in problem.detail
    assert problem.fix is not None
    assert problem.fix.label == label
    assert [change.value for change in problem.fix.changes] == [way.value]


@pytest.mark.parametrize("kind", [StrategyKind.MIRRORED, StrategyKind.MULTI_WORKER])
def test_that_a_run_in_which_nccl_fails_does_not_blame_a_peer(kind: StrategyKind) -> None:
    plan = prepare(Profile(strategy=StrategySettings(kind=kind)), TWO_UNEQUAL).plan
    said = OF_WORKERS if kind is StrategyKind.MULTI_WORKER else OF_ONE_PROCESS
    missing = "Unable to load NCCL library. Multi-GPU collectives will not work."
    error = InternalError(said.replace(missing, "unhandled system error"))

    (problem,) = problems_of(error, plan)

    assert problem.code == "nccl_failed"
    assert problem.message == "NCCL could not sum the gradients: unhandled system error."
    assert problem.fix is not None


def test_that_a_gpu_that_takes_no_other_process_is_named_in_every_phase() -> None:
    """As the server of a worker says it, which parameter servers have."""
    error = InternalError(
        "cudaSetDevice() on GPU:0 failed. Status: CUDA-capable device(s) is/are busy or unavailable"
    )

    (problem,) = problems_of(error)

    assert problem.code == "devices_not_configured"
    assert "its compute mode lets one at a time use it" in problem.hint

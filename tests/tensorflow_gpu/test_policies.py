"""What each memory policy gives out of a card, beside what planning says of it."""

import pytest

from gpupanel.domain.memory import (
    CUDA_CONTEXT_MIB,
    Allocator,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
    available_mib,
)
from tests.nvml.standin import RTX_3060, RTX_4090
from tests.tensorflow_gpu.fixtures import TWO_CARDS, CardsOfThisProcess
from tests.tensorflow_gpu.test_cards import CONTEXT_MIB, MIB, asked

pytestmark = pytest.mark.tensorflow

LIMIT = LimitedMemory(limit_mib=512)
"""Of ``hold_memory.py``."""
SPLIT = SplitMemory(split_mib=(1_024, 2_048))


def small(cards: CardsOfThisProcess, total_mib: int) -> None:
    """The first card has no more than that."""
    cards.tell(TWO_CARDS.with_gpu(0, memory_total_mib=total_mib, memory_reserved_mib=0))


def planned_mib(policy: MemoryPolicy, allocator: Allocator, total_mib: int) -> int:
    """What planning says of an unused card, with the context that the stand-in takes."""
    free_mib = total_mib - CONTEXT_MIB + CUDA_CONTEXT_MIB
    return available_mib(policy, allocator, free_mib, (8, 9))


def test_that_the_parts_of_a_split_grow_where_the_environment_says_so(
    cards_in_process: CardsOfThisProcess,
) -> None:
    found = asked(cards_in_process, "split", 2, TF_FORCE_GPU_ALLOW_GROWTH="true")
    assert (found["logical"], found["error"]) == (3, "")
    held = {uuid: size // MIB - CONTEXT_MIB for uuid, size in found["held"].items()}
    assert 128 <= held[RTX_4090.uuid] < 300 < sum(SPLIT.split_mib)
    assert held[RTX_3060.uuid] <= 4


def test_that_a_limit_above_what_is_free_gives_what_is_free(
    cards_in_process: CardsOfThisProcess,
) -> None:
    """TensorFlow says that it has all of it, and gets it in pieces from nine tenths down."""
    small(cards_in_process, 640)
    # One tensor more is refused after 10 seconds.
    found = asked(cards_in_process, "limit", 5)
    assert found["limits_mib"][RTX_4090.name] == LIMIT.limit_mib
    most = planned_mib(LIMIT, Allocator.BFC, 640)
    assert most == 640 - CONTEXT_MIB < LIMIT.limit_mib
    assert found["error"] == ""
    assert 5 * 64 < most < 6 * 64 + 1
    held = found["held"][RTX_4090.uuid] // MIB - CONTEXT_MIB
    assert 0.9 * most < held <= most


def test_that_cudas_allocator_keeps_to_no_limit_and_takes_nothing_in_advance(
    cards_in_process: CardsOfThisProcess,
) -> None:
    small(cards_in_process, 1_280)
    found = asked(cards_in_process, "limit", 30, TF_GPU_ALLOCATOR=Allocator.CUDA_MALLOC_ASYNC.value)
    most = planned_mib(LIMIT, Allocator.CUDA_MALLOC_ASYNC, 1_280)
    assert most == 1_280 - CONTEXT_MIB > LIMIT.limit_mib
    held = {uuid: size // MIB - CONTEXT_MIB for uuid, size in found["held"].items()}
    assert most - 64 - 8 < held[RTX_4090.uuid] <= most
    assert held[RTX_3060.uuid] <= 4

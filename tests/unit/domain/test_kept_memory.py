"""What TensorFlow leaves of a GPU to others: by what is free, and by the GPU's generation."""

import pytest

from gpupanel.domain.memory import (
    AllMemory,
    Allocator,
    GrowingMemory,
    LimitedMemory,
    MemoryPolicy,
    SplitMemory,
    available_mib,
    gives_out_whole,
    kept_aside_mib,
)


@pytest.mark.parametrize(
    ("free_mib", "capability", "kept_mib"),
    [
        (225, (8, 6), 0),
        (226, (8, 6), 225),
        (1_900, (8, 6), 225),
        (2_047, (9, 0), 225),
        (2_048, (8, 6), 1_536),
        (11_000, (5, 2), 500),
        (11_000, (6, 1), 500),
        (11_000, (7, 0), 1_050),
        (11_000, (7, 5), 1_050),
        (24_000, (8, 9), 1_536),
        (80_000, (9, 0), 1_800),
        (96_000, (12, 0), 1_800),
        (24_000, None, 1_800),
    ],
)
def test_that_more_is_left_by_newer_gpus_and_little_where_there_is_little(
    free_mib: int, capability: tuple[int, int] | None, kept_mib: int
) -> None:
    assert kept_aside_mib(free_mib, capability) == kept_mib


def test_that_a_gpu_with_more_memory_may_give_less() -> None:
    assert 2_500 - kept_aside_mib(2_500, (8, 6)) < 1_900 - kept_aside_mib(1_900, (8, 6))


GROWING_LIMIT = LimitedMemory(limit_mib=3_000, growth=True)
SPLIT = SplitMemory(split_mib=(1_000, 2_000))


@pytest.mark.parametrize(
    ("policy", "allocator", "free_mib", "available"),
    [
        (GrowingMemory(), Allocator.BFC, 4_096, 4_096 - 500 - 1_536),
        (AllMemory(), Allocator.BFC, 4_096, 4_096 - 500 - 1_536),
        (AllMemory(), Allocator.BFC, 2_200, 2_200 - 500 - 225),
        # With a context of less than 352 MiB it is not little any more, and 1,536 are kept.
        (AllMemory(), Allocator.BFC, 2_400, 2_048 - 1_536),
        (AllMemory(), Allocator.BFC, 700, 1),
        (AllMemory(), Allocator.BFC, 400, 0),
        (LimitedMemory(limit_mib=3_000), Allocator.BFC, 4_096, 3_000),
        (GROWING_LIMIT, Allocator.BFC, 3_500, 3_000),
        (GROWING_LIMIT, Allocator.BFC, 3_400, 2_900),
        (SPLIT, Allocator.BFC, 4_096, 3_000),
        (SPLIT, Allocator.BFC, 3_000, 2_500),
        (GrowingMemory(), Allocator.CUDA_MALLOC_ASYNC, 4_096, 3_596),
        (GROWING_LIMIT, Allocator.CUDA_MALLOC_ASYNC, 4_096, 3_596),
    ],
)
def test_that_limits_are_given_out_whole_and_without_one_some_is_kept(
    policy: MemoryPolicy, allocator: Allocator, free_mib: int, available: int
) -> None:
    assert available_mib(policy, allocator, free_mib, (8, 6)) == available


def test_that_a_limit_fits_a_gpu_beside_the_context() -> None:
    assert gives_out_whole(3_500, SPLIT)
    assert not gives_out_whole(3_499, GROWING_LIMIT)

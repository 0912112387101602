"""What TensorFlow leaves of a GPU to others: by what is free, and by the GPU's generation."""

import pytest

from gpupanel.domain.memory import kept_aside_mib


@pytest.mark.parametrize(
    ("free_mib", "capability", "kept_mib"),
    [
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

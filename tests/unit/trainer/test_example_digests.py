"""Examples are found again among others by their digests, whatever they are made of."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.trainer.datasets.example_digests import MOST_KEPT, digests_of, found_of, sample_of


def drawn(shape: tuple[int, ...], kind: str, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    if kind == "uint8":
        return draw.integers(0, 256, shape, dtype=np.uint8)
    return draw.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("kind", ["uint8", "float32"])
@pytest.mark.parametrize("shape", [(500, 5), (500, 3, 3, 3), (500, 8)])
def test_that_half_of_the_examples_are_half_of_the_sample(
    shape: tuple[int, ...], kind: str
) -> None:
    features = drawn(shape, kind)
    digests = digests_of(features)
    assert digests is not None
    assert len(np.unique(digests)) == 500
    sample = sample_of(digests)
    assert len(sample) == MOST_KEPT
    assert found_of(sample, digests) == 1.0
    half = digests_of(np.asfortranarray(features[::-2]))
    others = digests_of(drawn(shape, kind, seed=1))
    assert half is not None
    assert others is not None
    assert found_of(sample, half) == pytest.approx(0.5, abs=0.2)
    assert found_of(sample, others) == 0.0


def test_that_one_bit_makes_another_digest() -> None:
    features = np.zeros((33, 2), np.float32)
    bits = features[1:].view(np.uint32)
    bits[np.arange(32), 0] = 1 << np.arange(32, dtype=np.uint32)
    digests = digests_of(features)
    assert digests is not None
    assert len(np.unique(digests)) == 33
    # They lie anywhere, not beside each other.
    assert np.ptp((digests >> np.uint64(56)).astype(int)) > 128


def test_that_examples_that_are_alike_are_no_sample(tmp_path: Path) -> None:
    alike = digests_of(np.arange(20, dtype=np.uint8).reshape(20, 1) // 2)
    assert alike is not None
    assert sample_of(alike) == ()
    assert found_of((), alike) == 0.0
    none = digests_of(np.empty((0, 4), np.float32))
    assert none is not None
    assert (sample_of(none), found_of(("0f",), none)) == ((), 0.0)
    np.save(tmp_path / "a.npy", drawn((4, 4), "float32"))
    assert digests_of(np.load(tmp_path / "a.npy", mmap_mode="r")) is None

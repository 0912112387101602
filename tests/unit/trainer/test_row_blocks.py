"""Memory for rows is used again as soon as nobody holds rows of it, and no sooner."""

import sys

import numpy as np
import pytest

from gpupanel.trainer.steps.row_blocks import RowBlocks
from tests.forked.processes import run_forked

SHARED = """
import sys
import numpy as np
import tensorflow as tf
from gpupanel.trainer.steps.host_tensor import tensor_of
from gpupanel.trainer.steps.row_blocks import RowBlocks

blocks = RowBlocks((16,), np.dtype(np.float32))
block = blocks.block(8)
block[:] = np.arange(8)[:, np.newaxis]
tensor = tensor_of(block[4:6], "/device:CPU:0")
block[4] = 7.0
shared = bool(tensor[0, 0] == 7.0)
own = tensor_of(np.asarray(block)[:, 1:3], "/device:CPU:0")
block[0] = 5.0
copied = bool(own[0, 0] == 0.0)
address = block.ctypes.data
del block
kept = blocks.block(8).ctypes.data != address
total = float(tf.reduce_sum(tensor))
del tensor
again = blocks.block(8).ctypes.data == address
print(shared, copied, kept, total == 7.0 * 16 + 5.0 * 16, again)
"""


def address_of(rows: np.ndarray) -> int:
    return int(rows.ctypes.data)


@pytest.fixture
def blocks() -> RowBlocks:
    return RowBlocks((3, 5), np.dtype(np.uint8))


def test_that_a_block_is_aligned_as_tensorflow_wants_it(blocks: RowBlocks) -> None:
    held = [blocks.block(rows) for rows in (1, 2, 7, 100)]
    assert [each.shape for each in held] == [(rows, 3, 5) for rows in (1, 2, 7, 100)]
    assert all(address_of(each) % 64 == 0 for each in held)


def test_that_a_block_is_used_again_when_the_last_of_its_rows_is_gone(blocks: RowBlocks) -> None:
    first = blocks.block(10)
    address, some = address_of(first), first[3:5]
    del first
    assert address_of(blocks.block(10)) != address
    del some
    assert address in {address_of(each) for each in [blocks.block(10), blocks.block(10)]}


def test_that_no_more_memory_is_kept_than_rows_of_that_many_need(blocks: RowBlocks) -> None:
    for rows in (10, 20, 30, 40):
        blocks.block(rows)
    assert len(blocks._memory) == 1


@pytest.mark.tensorflow
def test_that_a_tensor_of_the_host_has_no_copy_of_its_own_and_keeps_its_rows() -> None:
    done = run_forked([sys.executable, "-P", "-c", SHARED], capture_output=True, text=True)
    assert done.stdout.split() == ["True"] * 5, done.stderr[-2000:]

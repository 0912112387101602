"""The installed TensorFlow knows what planning writes, and writes what the trainer reads.

Its C++ cannot be asked without a GPU, but its library holds what it looks for and what it logs.
"""

import importlib.util
import mmap
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.domain.memory import Allocator
from tests.unit.trainer.gpu_cases import started

spec = importlib.util.find_spec("tensorflow")
LIBRARY = Path(spec.origin if spec and spec.origin else "").parent / "libtensorflow_framework.so.2"

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="needs TensorFlow for Linux")


@pytest.fixture(scope="module")
def library() -> Iterator[mmap.mmap]:
    with (
        LIBRARY.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        yield content


def has(library: mmap.mmap, words: str) -> bool:
    return library.find(words.encode()) >= 0


def test_that_tensorflow_knows_every_variable_of_a_plan(library: mmap.mmap) -> None:
    variables = [name for name in started(("growth",)).environment if name.startswith("TF_")]
    assert len(variables) == 4
    assert [name for name in variables if not has(library, f"{name}\0")] == []
    assert has(library, Allocator.CUDA_MALLOC_ASYNC.value)


@pytest.mark.parametrize(
    "part",
    [
        "Created device \0",
        " MB memory: \0",
        ", name: \0",
        ", pci bus id: \0",
        "Ignoring visible gpu device \0",
        "with core count: ",
        "with Cuda compute capability ",
    ],
)
def test_that_the_lines_that_are_read_are_written(library: mmap.mmap, part: str) -> None:
    assert has(library, part)


def test_that_the_log_can_be_switched_on(library: mmap.mmap) -> None:
    assert has(library, "TF_CPP_MIN_LOG_LEVEL\0")

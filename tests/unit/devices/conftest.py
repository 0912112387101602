"""NVML opened on the stand-in library for the length of a test."""

from collections.abc import Iterator

import pytest

from gpupanel.devices.nvml import NvmlGpu, NvmlLibrary
from tests.nvml.listed import gpus_of
from tests.nvml.standin import Standin


@pytest.fixture
def library(nvml_in_process: Standin) -> Iterator[NvmlLibrary]:
    library = NvmlLibrary()
    library.open()
    yield library
    library.close()


@pytest.fixture
def gpu(library: NvmlLibrary) -> NvmlGpu:
    return next(gpus_of(library))

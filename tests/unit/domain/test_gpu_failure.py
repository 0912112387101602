"""What came back from a GPU that does not answer, and which GPU it is."""

import pytest

from gpupanel.domain.device import UnresponsiveGpu
from gpupanel.domain.gpu_failure import ASLEEP, NO_ANSWER, GpuFailure


def test_that_an_error_of_the_driver_has_its_number_and_other_words_none() -> None:
    assert GpuFailure(said="Timeout", code=10).words == "the driver says: Timeout (NVML error 10)"
    assert "has not come back" in NO_ANSWER.words
    assert "nvidia-smi" in GpuFailure(said="Timeout", code=10).advice
    assert "nvidia-smi" in NO_ANSWER.advice
    assert "restart the container" in GpuFailure(said="Unknown Error", code=999).advice
    assert "power cables" in GpuFailure(said="Insufficient External Power", code=8).advice


def test_that_a_gpu_that_sleeps_is_not_said_to_be_silent() -> None:
    asleep = UnresponsiveGpu(failure=ASLEEP, index=0)
    assert asleep.is_asleep
    assert asleep.sentence == "GPU 0 is asleep, and not known yet: being asked would wake it"
    assert "Wake it up" in ASLEEP.advice
    silent = UnresponsiveGpu(failure=NO_ANSWER, index=0)
    assert not silent.is_asleep
    assert silent.sentence.startswith("GPU 0 does not answer: the driver was asked")


@pytest.mark.parametrize(
    ("facts", "title"),
    [
        ({"name": "RTX 3060", "pci_bus_id": "00000000:02:00.0"}, "RTX 3060 at 0000:02:00.0"),
        ({"pci_bus_id": "00000000:02:00.0", "index": 1}, "The GPU at 0000:02:00.0"),
        ({"name": "RTX 3060", "index": 1}, "RTX 3060"),
        ({"index": 1}, "GPU 1"),
        ({}, "A GPU"),
    ],
)
def test_that_it_is_called_by_what_is_known_of_it(facts: dict[str, object], title: str) -> None:
    gpu = UnresponsiveGpu.model_validate({"failure": NO_ANSWER, **facts})
    assert gpu.title == title
    assert not gpu.is_meant_by("GPU-3060")
    assert not gpu.is_meant_by("None")

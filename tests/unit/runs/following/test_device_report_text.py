"""What TensorFlow answered, in words, and where a run's status keeps it."""

from gpupanel.domain.event_details import LogicalDeviceAnswer
from gpupanel.domain.events import DevicesReady, RunRestarted, TrainerStarted
from gpupanel.runs.following.device_report_text import (
    device_identity_text,
    devices_summary,
    line_text,
    memory_line,
)
from gpupanel.runs.following.status import RunStatus

GPU = LogicalDeviceAnswer(
    name="/device:GPU:0",
    device_key="GPU-1",
    memory_taken_mib=21_811,
    pci_bus_id="0000:01:00.0",
    is_as_planned=True,
)
LIMITED = GPU.model_copy(update={"memory_limit_mib": 4096, "memory_taken_mib": 4096})
SILENT = GPU.model_copy(
    update={"memory_taken_mib": None, "pci_bus_id": None, "is_as_planned": None}
)
ANOTHER = GPU.model_copy(update={"is_as_planned": False})
CPU = LogicalDeviceAnswer(name="/device:CPU:0", device_key="cpu")


def told(*answers: LogicalDeviceAnswer, process: int = 0) -> DevicesReady:
    return DevicesReady(
        time_s=1.0, process=process, tensorflow_version="2.21.0", logical_devices=answers
    )


def test_that_a_line_names_device_memory_and_place() -> None:
    assert line_text(told(GPU, CPU), "", {"GPU-1": "RTX 4090"}) == (
        "TensorFlow 2.21.0: /device:GPU:0 for RTX 4090: no limit, takes up to 21.3 GiB, "
        "as planned, by its PCI bus 0000:01:00.0."
    )
    assert line_text(told(CPU), "worker 1", {"cpu": "a CPU"}) == (
        "TensorFlow 2.21.0 in worker 1: /device:CPU:0 for a CPU."
    )


def test_that_what_is_not_known_is_not_claimed() -> None:
    assert memory_line(SILENT) == "no limit, takes –"  # noqa: RUF001 - the dash of the house
    assert device_identity_text(SILENT) == "TensorFlow did not report which GPU it is"
    unplanned = GPU.model_copy(update={"is_as_planned": None})
    assert "is not known" in device_identity_text(unplanned)
    assert "another GPU than planned" in device_identity_text(ANOTHER)
    assert memory_line(LIMITED) == "limit 4.0 GiB, takes up to 4.0 GiB"


def test_that_the_summary_says_the_worst() -> None:
    assert devices_summary([told(GPU, CPU)]) == "1 logical device, on the planned GPU."
    assert devices_summary([told(GPU), told(GPU, process=1)]) == (
        "2 logical devices, each on the planned GPU."
    )
    assert devices_summary([told(GPU, SILENT)]) == (
        "2 logical devices, 1 on the planned GPU, 1 not known."
    )
    assert devices_summary([told(SILENT, SILENT)]) == (
        "2 logical devices; TensorFlow did not report which GPU."
    )
    assert devices_summary([told(ANOTHER, SILENT, GPU)]) == (
        "1 of 3 logical devices is on another GPU than planned."
    )
    assert devices_summary([told(ANOTHER)]) == (
        "The logical device is on another GPU than planned."
    )
    assert devices_summary([told(CPU, CPU)]) == "2 logical devices of the CPU."


def test_that_the_status_keeps_the_answers_of_every_process_until_a_restart() -> None:
    started = [
        TrainerStarted(time_s=1.0, pid=40 + place, process=place, name=f"worker {place}")
        for place in (0, 1)
    ]
    status = RunStatus()
    for event in (*started, told(GPU, process=1), told(LIMITED), told(GPU)):
        status = status.after(event)
    assert [answer.process for answer in status.answers] == [0, 1]
    assert status.answers[0].logical_devices == (GPU,)
    assert status.process_names == ("worker 0", "worker 1")
    status = status.after(RunRestarted(time_s=2.0, attempt=1))
    assert (status.answers, status.process_names) == ((), ())

"""What the queue does with entries that are for the nodes of a cluster."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gpupanel.domain.cluster import ClusterNode, ClusterReading, NodeReport
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.readiness import Machine
from gpupanel.runs.scheduling.cluster_readings import FRESH_S, ClusterReadings
from gpupanel.runs.scheduling.scheduler import Scheduler
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090
from tests.fakes.queued_runs import QueuedRuns, prepare_without_build

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESS = "10.0.0.1:6379"
PROFILE = """
schema_version = 1
name = "{name}"
[devices]
visible = [{visible}]
[strategy]
kind = "{kind}"
{table}
"""


def node(name: str, *devices: PhysicalDevice) -> ClusterNode:
    report = NodeReport(
        gpupanel="1",
        python="3.11",
        clock_s=1.0,
        inventory=DeviceInventory(driver="580.65", devices=devices),
        sample=TelemetrySample(time_s=1.0, readings=()),
    )
    return ClusterNode(id=name * 8, name=name, address="10.0.0.2", report=report)


CPUS = ClusterReading(address=ADDRESS, nodes=(node("a", CPU), node("b", CPU)))
GPUS = ClusterReading(address=ADDRESS, nodes=(node("a", RTX_4090, CPU), node("b", RTX_3060, CPU)))


class Desk:
    """A queue on a machine without GPUs, and a cluster that answers when the test says so."""

    def __init__(self, files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> None:
        self.files, self.runs, self.runs_dir = files, runs, runs_dir
        self.answer: ClusterReading | ProblemError = GPUS
        self.now_s = 0.0
        self.asked: list[Callable[[], None]] = []
        self.times_read = 0
        clusters = ClusterReadings(self.read, lambda: self.now_s, self.asked.append)
        self.scheduler = Scheduler(
            files,
            lambda: Machine(CPU_ONLY),
            prepare_without_build,
            runs.start,
            poll_s=0.0,
            clusters=clusters,
        )

    def read(self, address: str, _cancelled: threading.Event) -> ClusterReading:
        assert address == ADDRESS
        self.times_read += 1
        if isinstance(self.answer, ProblemError):
            raise self.answer
        return self.answer

    def answer_now(self) -> None:
        while self.asked:
            self.asked.pop()()

    def step(self) -> None:
        """See what is to be done, as after some seconds."""
        self.scheduler._selected_s = float("-inf")
        self.scheduler.step()

    def add(self, name: str, *, on_cluster: bool = True, visible: str = "") -> str:
        kind, table = "one_device", ""
        if on_cluster:
            kind, table = "multi_worker", f'[cluster]\naddress = "{ADDRESS}"'
        text = PROFILE.format(name=name, kind=kind, table=table, visible=visible)
        return orders.add(self.files, parse_profile(text), self.runs_dir).id

    def entry(self, entry_id: str) -> QueueEntry:
        return self.files.read().entry(entry_id)


@pytest.fixture
def desk(files: QueueFiles, runs: QueuedRuns, runs_dir: Path) -> Desk:
    return Desk(files, runs, runs_dir)


def test_that_an_entry_waits_for_its_clusters_answer_and_starts_on_its_nodes(desk: Desk) -> None:
    added = desk.add("far")
    desk.step()
    assert desk.entry(added).waits == "Waits for an answer of its cluster."
    desk.step()
    assert len(desk.asked) == 1  # it is being asked
    desk.answer_now()
    desk.step()
    entry = desk.entry(added)
    assert entry.state is EntryState.RUNNING
    assert entry.devices == ("RTX 4090 of a", "RTX 3060 of b")


def test_that_the_cluster_is_not_asked_while_a_run_holds_its_devices(desk: Desk) -> None:
    first, second = desk.add("first"), desk.add("second")
    desk.step()
    desk.answer_now()
    desk.step()
    assert desk.entry(first).state is EntryState.RUNNING
    assert desk.entry(second).waits == "Waits for RTX 4090 of a: “first” runs on it."
    for _ in range(5):
        desk.now_s += FRESH_S
        desk.step()
        desk.answer_now()
    assert desk.times_read == 1
    run = desk.entry(first).run
    assert run is not None
    desk.runs.end(run)
    # Nodes may be others by now.
    desk.step()
    assert desk.entry(second).waits == "Waits for an answer of its cluster."
    desk.answer = CPUS
    desk.answer_now()
    desk.step()
    assert desk.entry(second).devices == (f"{CPU.name} of a", f"{CPU.name} of b")


def test_that_processors_of_nodes_are_not_this_machines(desk: Desk) -> None:
    desk.answer = CPUS
    here, far = desk.add("here", on_cluster=False), desk.add("far")
    desk.step()
    desk.answer_now()
    desk.step()
    assert [desk.entry(each).state for each in (here, far)] == [EntryState.RUNNING] * 2
    another = desk.add("another", on_cluster=False)
    desk.step()
    assert desk.entry(another).waits == f"Waits for {CPU.name}: “here” runs on it."


def test_that_an_entry_here_is_not_kept_by_a_cluster_that_does_not_answer(desk: Desk) -> None:
    far, here = desk.add("far"), desk.add("here", on_cluster=False)
    desk.step()
    assert desk.entry(here).state is EntryState.RUNNING
    assert desk.entry(far).is_waiting


def test_that_a_cluster_that_is_gone_is_waited_for_and_asked_now_and_then(desk: Desk) -> None:
    problem = Problem(code="cluster_not_found", message="No Ray cluster answers.", hint="Start it.")
    desk.answer = ProblemError(problem)
    added = desk.add("far")
    for _ in range(2):
        desk.step()
        desk.answer_now()
    desk.step()
    assert desk.entry(added).waits == "Waits: No Ray cluster answers."
    assert desk.times_read == 1
    desk.now_s += 60.0
    desk.answer = GPUS
    desk.step()
    desk.answer_now()
    desk.step()
    assert desk.entry(added).state is EntryState.RUNNING


def test_that_an_entry_is_refused_where_somebody_has_to_do_something(desk: Desk) -> None:
    problem = Problem(code="ray_not_installed", message="Ray is not installed.", hint="Install it.")
    desk.answer = ProblemError(problem)
    added = desk.add("far")
    desk.step()
    desk.answer_now()
    desk.step()
    assert desk.entry(added).state is EntryState.REFUSED
    assert [each.code for each in desk.entry(added).problems] == ["ray_not_installed"]


def test_that_a_mistake_in_the_profile_is_said_of_the_nodes(desk: Desk) -> None:
    desk.answer = CPUS
    added = desk.add("far", visible='"GPU-4090"')
    desk.step()
    desk.answer_now()
    desk.step()
    assert desk.entry(added).state is EntryState.REFUSED
    assert "device_not_found" in [each.code for each in desk.entry(added).problems]


def test_that_asking_is_cancelled_when_the_scheduler_ends() -> None:
    entered = threading.Event()

    def read(_address: str, cancelled: threading.Event) -> ClusterReading:
        entered.set()
        assert cancelled.wait(10.0)
        raise ProblemError(Problem(code="cluster_cancelled", message="It was cancelled."))

    clusters = ClusterReadings(read)
    clusters.ask(ADDRESS)
    assert entered.wait(10.0)
    clusters.close()
    assert not [each for each in threading.enumerate() if each.name == "ask-cluster"]

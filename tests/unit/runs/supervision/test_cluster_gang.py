"""A gang on a cluster, by what its driver says: a stand-in of it that says it line by line."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpupanel.domain.checked_files import CheckedFiles
from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.plan import LaunchPlan, PlannedProcess, PlannedReplica, ProcessRole
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind
from gpupanel.files.bounded_log import BoundedLog
from gpupanel.runs.cluster import driver_process
from gpupanel.runs.cluster.driver_process import DriverProcess
from gpupanel.runs.cluster.messages import (
    DriverMessage,
    HeadSilent,
    NodeLost,
    NodeSeen,
    ProcessSeen,
    Ready,
    ReadyPlace,
    Refused,
    Started,
    StartGang,
    Waiting,
)
from gpupanel.runs.supervision import cluster_gang
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.cluster_gang import ClusterGang
from gpupanel.runs.supervision.gang import StartCancelledError
from gpupanel.runs.supervision.node_samples import NodeSamples
from tests.deaths.mortal_run import until

PLAN = LaunchPlan(
    environment={},
    devices=(),
    strategy=StrategyKind.MULTI_WORKER,
    replicas=tuple(
        PlannedReplica(
            index=index, device_key="cpu", logical_device="/device:CPU:0", share=8, process=index
        )
        for index in range(2)
    ),
    global_batch_size=16,
    processes=tuple(
        PlannedProcess(role=ProcessRole.WORKER, index=index, node=node)
        for index, node in enumerate("ab")
    ),
    cluster=ClusterSettings(address="10.0.0.1:6379"),
)
READY = Ready(
    places=tuple(
        ReadyPlace(address=f"10.0.0.{each}", interface="eth1", port=12_000) for each in (1, 2)
    )
)
STARTED = Started(pids=(11, 12))

Drive = Callable[..., ClusterGang]


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> Drive:
    """A gang whose driver says these words and then, unless it ends, waits for its end."""
    root = tmp_path / "run"
    root.mkdir()

    def gang(
        *words: DriverMessage,
        ends: bool = False,
        is_wanted: Callable[[Problem | None], bool] = lambda _: True,
    ) -> ClusterGang:
        text = "".join(f"{word.model_dump_json()}\n" for word in words)
        code = f"import sys; print({text!r}, end='', flush=True)"
        waits = "" if ends else "; sys.stdin.read()"
        monkeypatch.setattr(driver_process, "DRIVER", (sys.executable, "-c", code + waits))
        return ClusterGang(
            CheckedRun(RunLayout(root), CheckedFiles(digests={"profile.toml": "0"})),
            PLAN,
            NodeSamples(),
            lines.append,
            lambda append: append(),
            is_wanted,
        )

    return gang


def start(gang: ClusterGang) -> list[str]:
    names: list[str] = []
    gang.start(lambda member: names.append(f"{member.name}: {member.pid}"))
    return names


def test_that_the_log_of_the_cluster_has_a_bound(
    drive: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_gang, "BoundedLog", lambda path: BoundedLog(path, 2**16, 2**16))
    gang = drive(READY, STARTED)
    start(gang)
    log = tmp_path / "run" / "cluster.log"
    for _ in range(20):
        with log.open("ab") as file:  # as Ray's library prints
            file.write(b"(raylet) a warning that is said again and again\n" * 1_000)
        gang.poll()
    assert log.stat().st_blocks * 512 <= 4 * 2**16  # of its middle the disk has nothing
    assert log.read_bytes().endswith(b"again and again\n")
    gang.end()


def test_that_processes_are_known_by_their_nodes_and_ports_are_reported(drive: Drive) -> None:
    gang = drive(READY, STARTED)
    assert start(gang) == ["worker 0 on a: 11", "worker 1 on b: 12"]
    (notice,) = gang.notices
    assert notice.code == "cluster_ports_open"
    assert notice.severity is Severity.HINT
    assert "10.0.0.2:12000 (eth1)" in notice.detail
    gang.end()


def test_that_each_process_on_a_node_is_handed_what_was_checked(
    drive: Drive, monkeypatch: pytest.MonkeyPatch
) -> None:
    gang = drive(READY, STARTED)
    ordered: list[object] = []
    monkeypatch.setattr(DriverProcess, "send", lambda _, order: ordered.append(order))
    start(gang)
    (wanted,) = (order for order in ordered if isinstance(order, StartGang))
    handed = [each["GPUPANEL_CHECKED"] for each in wanted.environments]
    assert handed == [CheckedFiles(digests={"profile.toml": "0"}).model_dump_json()] * 2
    gang.end()


def test_that_ports_on_an_address_of_the_internet_are_a_warning(drive: Drive) -> None:
    place = ReadyPlace(address="8.8.8.8", interface="eth0", port=12_000)
    gang = drive(Ready(places=(place, place)), STARTED)
    start(gang)
    assert gang.notices[0].severity is Severity.WARNING
    gang.end()


def test_that_a_refusal_is_the_problem_of_the_run(drive: Drive) -> None:
    gang = drive(Refused(problem=Problem(code="cluster_too_small", message="It is.")), ends=True)
    with pytest.raises(ProblemError) as raised:
        start(gang)
    assert raised.value.problems[0].code == "cluster_too_small"
    gang.end()


def test_that_a_driver_that_ends_without_a_word_is_a_lost_cluster(drive: Drive) -> None:
    gang = drive(ends=True)
    with pytest.raises(ProblemError) as raised:
        start(gang)
    assert raised.value.problems[0].code == "cluster_lost"
    gang.end()


def test_that_a_reason_to_wait_is_said_once_and_that_nobody_has_to_wait(drive: Drive) -> None:
    said: list[Problem | None] = []

    def is_wanted(problem: Problem | None) -> bool:
        said.append(problem)
        return len(said) < 5

    waiting = Waiting(reason="it needs much")
    gang = drive(waiting, waiting, is_wanted=is_wanted)

    with pytest.raises(StartCancelledError):
        start(gang)
    assert [each.code for each in said if each is not None] == ["cluster_waiting"]
    gang.end()


def test_that_events_come_once_with_what_a_process_came_to(drive: Drive, lines: list[str]) -> None:
    seen = NodeSeen(
        node="a",
        processes=(ProcessSeen(place=0, exit_code=-9, lines=('{"a": 1}',), read_bytes=9),),
    )
    gang = drive(READY, STARTED, seen)
    start(gang)
    until(lambda: gang.poll() is None and not gang.members[0].is_there, "the exit", 20.0)
    assert gang.members[0].exit_code == -signal.SIGKILL
    assert gang.is_there()
    assert lines == ['{"a": 1}']
    gang.end()
    assert lines == ['{"a": 1}']


def test_that_a_lost_node_takes_its_processes_along_and_a_silent_head_none(drive: Drive) -> None:
    gang = drive(READY, STARTED, HeadSilent(address="h:1"), NodeLost(node="b", reason="it ended"))
    start(gang)
    until(lambda: gang.poll() is None and gang.members[1].lost is not None, "the loss", 20.0)
    assert gang.members[0].is_there
    assert [each.code for each in gang.notices[1:]] == ["cluster_head_silent", "node_lost"]
    lost = gang.members[1].lost
    assert lost is not None
    assert lost.message == "The node b was lost: it ended."
    gang.end()


def test_that_a_driver_that_ends_later_loses_every_process(drive: Drive) -> None:
    gang = drive(READY, STARTED, ends=True)
    start(gang)
    until(lambda: gang.poll() is None and not gang.is_there(), "the loss", 20.0)
    assert {each.lost.code for each in gang.members if each.lost is not None} == {"cluster_lost"}
    gang.end()

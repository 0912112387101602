"""A gang on the nodes of a Ray cluster, which a driver starts and watches for the supervisor."""

import signal
import time
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.process_environment import CHECKED_VARIABLE
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.bounded_log import BoundedLog
from gpupanel.files.guarded_files import status
from gpupanel.runs.cluster.driver_process import DriverProcess
from gpupanel.runs.cluster.environments import environments_on_nodes
from gpupanel.runs.cluster.messages import (
    EndGang,
    ForwardRequest,
    HeadSilent,
    NodeLost,
    NodeSeen,
    PlacementRequest,
    ProcessSeen,
    Ready,
    Refused,
    ReserveGang,
    SignalGang,
    Started,
    StartGang,
    Waiting,
)
from gpupanel.runs.processes.liveness import Activity, Liveness
from gpupanel.runs.processes.run_processes import end_processes_of
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.gang import (
    Member,
    StartCancelledError,
    clean_folder,
    remove_output_parts,
)
from gpupanel.runs.supervision.gang_reports import ProcessEvents
from gpupanel.runs.supervision.node_samples import NodeSamples
from gpupanel.runs.supervision.problems import (
    cluster_lost,
    cluster_ports_open,
    cluster_waiting,
    head_silent,
    node_lost,
)

_TICK_S: Final = 0.1
_SILENT_S: Final = 20.0
"""A driver reports four times a second; it has limits of its own for nodes that are lost."""
_START_SILENT_S: Final = 180.0
"""More than all that a driver waits for between two messages of a start: Ray's connection, agents,
and what a start before has left on the nodes."""
_LOST_ENDS_S: Final = 20.0
"""The longest time that processes on lost nodes are waited for."""
_NO_HEARTBEAT_S: Final = 3.0
"""Heartbeats come once a second."""

_MessageT = TypeVar("_MessageT", Ready, Started)


class RemoteMember(Member):
    """A process on a node of the cluster, as the agent there has last seen it.

    Attributes:
        node: The node that it is on.
    """

    def __init__(self, planned: PlannedProcess, place: int) -> None:
        super().__init__(place, planned.name)
        self.node = planned.node
        self._liveness: Liveness | None = None

    def take(self, seen: ProcessSeen) -> None:
        """Take in what its node has seen of it."""
        self.exit_code = seen.exit_code
        if seen.exit_code is not None or seen.processor_s is None:
            return
        self.processor_s = seen.processor_s
        now_s = time.monotonic()
        if self._liveness is None:
            self._liveness = Liveness(now_s)
        activity = Activity(seen.beat, seen.processor_s, seen.is_stopped, seen.is_held)
        self.frozen = self._liveness.observe(activity, now_s)


class ClusterGang:
    """The :class:`~gpupanel.runs.supervision.gang.Gang` of a run on a Ray cluster.

    A driver, a process of its own, holds the connection to the cluster: when that breaks the
    driver ends, and this says so.

    Args:
        run: In a folder that every node sees; each process is handed what was checked of it.
        plan: Its gang says what to start where.
        samples: Takes what the devices of the nodes report.
        append_line: Appends a line to the run's events.
        append_old: Called once while it starts, with what appends the last events of a start
            before this one: they are no events of this attempt.
        is_wanted: Called again and again while it waits for its places, with the reason where
            that is a new one; whether the run is still to be started.
    """

    def __init__(
        self,
        run: CheckedRun,
        plan: LaunchPlan,
        samples: NodeSamples,
        append_line: Callable[[str], None],
        append_old: Callable[[Callable[[], None]], None],
        is_wanted: Callable[[Problem | None], bool],
    ) -> None:
        self.members = [RemoteMember(each, place) for place, each in enumerate(plan.gang)]
        self.network_refusal = ""
        self.notices: list[Problem] = []
        self._layout = run.layout
        self._checked = run.files.model_dump_json()
        self._plan = plan
        self._samples = samples
        self._append_old = append_old
        self._is_wanted = is_wanted
        self._events = ProcessEvents(run.layout, len(plan.gang), append_line)
        self._driver: DriverProcess | None = None
        self._log = BoundedLog(run.layout.cluster_log)
        self._last_message_s = time.monotonic()

    @property
    def local_members(self) -> Sequence[RemoteMember]:
        """None: their pids are those of other machines."""
        return ()

    def start(self, on_started: Callable[[Member], None]) -> None:
        """Wait for the places in the cluster, and start every process."""
        clean_folder(self._layout)
        driver = self._driver = DriverProcess(self._layout.cluster_log)
        driver.send(_wanted(self._layout, self._plan))
        ready = self._await(Ready, driver)
        # By now no process of a start before writes any more: its nodes have waited for that.
        self._append_old(self._events.begin)
        if self._plan.communicates:
            self.notices.append(cluster_ports_open(ready.places))
        environments = tuple(
            {**each, CHECKED_VARIABLE: self._checked}
            for each in environments_on_nodes(self._plan, ready.places)
        )
        driver.send(StartGang(environments=environments))
        started = self._await(Started, driver)
        for member, pid in zip(self.members, started.pids, strict=True):
            member.pid = pid
            on_started(member)

    def poll(self) -> None:
        """Take in what the driver has reported of every process."""
        driver = self._driver
        if driver is None:
            return
        # Asked first: so what it reports before its end is read.
        is_there = driver.is_there
        self._log.bound()
        self._read(driver)
        if not is_there or time.monotonic() - self._last_message_s > _SILENT_S:
            for member in self.members:
                if member.is_there:
                    member.lost = cluster_lost(self._plan)

    def is_there(self) -> bool:
        """Whether a process of it had not ended when they were last polled."""
        return any(member.is_there for member in self.members)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to every process."""
        if self._driver is not None:
            self._driver.send(SignalGang(number=number))

    def show_request(self, request: Request) -> None:
        """Have the processes see what a person asked of the run, on whichever node they are."""
        if self._driver is not None:
            self._driver.send(ForwardRequest(request=request))

    def end(self) -> None:
        """Kill whatever is left on every node, and wait until none writes any more."""
        if self._driver is not None:
            self._driver.send(EndGang())
            self._driver.end()
            self._read(self._driver)
            self._log.close()
        end_processes_of(self._layout)
        if any(member.lost is not None for member in self.members):
            self._await_lost()
        self._events.finish()
        remove_output_parts(self._layout)

    def _await_lost(self) -> None:
        """Wait until processes on lost nodes have ended: until their heartbeats cease.

        They save and end when they see that they are alone; a gang that was started beside them
        would write into the same folder.
        """
        until_s = time.monotonic() + _LOST_ENDS_S
        beats: dict[int, float | None] = {}
        changed_s = time.monotonic()
        lost = [member.place for member in self.members if member.lost is not None]
        while time.monotonic() < until_s and time.monotonic() - changed_s < _NO_HEARTBEAT_S:
            for place in lost:
                beat = self._heartbeat(place)
                if beats.get(place) != beat:
                    beats[place], changed_s = beat, time.monotonic()
            time.sleep(_TICK_S)

    def _heartbeat(self, place: int) -> float | None:
        try:
            found = status(self._layout.heartbeats / str(place))
        except OSError:
            return None
        return None if found is None else found.st_mtime

    def _await(self, kind: type[_MessageT], driver: DriverProcess) -> _MessageT:
        """Read what the driver reports until a message of that kind.

        What follows that message is left to be read next.
        """
        reason = ""
        self._last_message_s = time.monotonic()
        while True:
            is_there = driver.is_there
            self._log.bound()
            waiting = None
            while (message := driver.next_message()) is not None:
                self._last_message_s = time.monotonic()
                if isinstance(message, kind):
                    return message
                if isinstance(message, Refused):
                    raise ProblemError(message.problem)
                if isinstance(message, Waiting) and message.reason != reason:
                    reason = message.reason
                    waiting = cluster_waiting(reason)
            if not is_there or time.monotonic() - self._last_message_s > _START_SILENT_S:
                raise ProblemError(cluster_lost(self._plan))
            if not self._is_wanted(waiting):
                raise StartCancelledError
            time.sleep(_TICK_S)

    def _read(self, driver: DriverProcess) -> None:
        while (message := driver.next_message()) is not None:
            self._last_message_s = time.monotonic()
            if isinstance(message, NodeSeen):
                self._take_processes(message)
            elif isinstance(message, HeadSilent):
                self.notices.append(head_silent(message.address))
            elif isinstance(message, NodeLost):
                self._lose_node(message)

    def _take_processes(self, seen: NodeSeen) -> None:
        for process in seen.processes:
            self.members[process.place].take(process)
            self._events.take(process.place, process.lines, process.read_bytes)
        if seen.sample is not None:
            self._samples.take(seen.node, seen.inventory, seen.sample)

    def _lose_node(self, loss: NodeLost) -> None:
        self._samples.lose(loss.node)
        lost = node_lost(loss.node, loss.reason)
        # Reported now: to end the others takes a while, and to plan for fewer nodes, too.
        self.notices.append(lost.model_copy(update={"severity": Severity.WARNING}))
        for member in self.members:
            if member.node == loss.node and member.is_there:
                member.lost = lost


def _wanted(layout: RunLayout, plan: LaunchPlan) -> ReserveGang:
    if plan.cluster is None:
        raise ValueError("the plan has no cluster")
    places = tuple(
        PlacementRequest(
            node=process.node,
            gpus=tuple(each.key for each in process.devices if each.kind is DeviceKind.GPU),
        )
        for process in plan.gang
    )
    return ReserveGang(cluster=plan.cluster, root=str(layout.root.resolve()), places=places)

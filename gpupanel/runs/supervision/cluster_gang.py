"""The processes of a run on the nodes of a cluster: as those of one machine, by word of others."""

import signal
import time
from collections.abc import Callable
from typing import Final, TypeVar

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.plan import LaunchPlan, PlannedProcess
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.process_environment import CHECKED_VARIABLE
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.bounded_log import BoundedLog
from gpupanel.files.guarded_files import make_folder, remove_folder, status
from gpupanel.planning.cluster_check import is_public
from gpupanel.runs.cluster.driver_process import DriverProcess
from gpupanel.runs.cluster.environments import environments_on_nodes
from gpupanel.runs.cluster.messages import (
    DriverWord,
    EndWanted,
    GangWanted,
    HeadSilent,
    NodeLost,
    NodeSeen,
    PlaceWanted,
    ProcessSeen,
    Ready,
    ReadyPlace,
    Refused,
    RequestWanted,
    SignalWanted,
    Started,
    StartWanted,
    Waiting,
)
from gpupanel.runs.processes.liveness import Activity, Frozen, Liveness
from gpupanel.runs.processes.run_processes import end_processes_of
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.exit_reading import cluster_lost, head_silent, node_lost
from gpupanel.runs.supervision.handed_outputs import remove_handed_outputs
from gpupanel.runs.supervision.node_samples import NodeSamples
from gpupanel.runs.supervision.process_events import Append, ProcessEvents

_TICK_S: Final = 0.1
_SILENT_S: Final = 20.0
"""A driver says something four times a second; it has waits of its own for nodes that are lost."""
_STUCK_S: Final = 180.0
"""More than all that a driver waits for before it says the next word: Ray's connection, agents,
and what a former start has left on the nodes."""
_FENCE_S: Final = 20.0
_CEASED_S: Final = 3.0
"""A heart beats once a second."""


_WordT = TypeVar("_WordT", Ready, Started)


class NotWantedError(Exception):
    """Somebody asked the run to end while it waited for its place in the cluster."""


class RemoteMember:
    """One process of a gang on a node; what it says of itself is of the last poll.

    Attributes:
        place: In the plan's gang.
        name: For people: "worker 1 on beta".
        node: The node that it is on.
        pid: On that node; 0 before it was started.
        exit_code: ``None`` while it is there; negative: the signal that killed it.
        frozen: Why it is taken for dead though it is there; ``None`` while it lives.
        lost: Why nothing is known of it any more; ``None``: its node answers.
        processor_s: Seconds of processor that it had used at its last observation.
    """

    def __init__(self, planned: PlannedProcess, place: int) -> None:
        self.place = place
        self.name = planned.name
        self.node = planned.node
        self.pid = 0
        self.exit_code: int | None = None
        self.frozen: Frozen | None = None
        self.lost: Problem | None = None
        self.processor_s = 0.0
        self._liveness: Liveness | None = None

    @property
    def is_there(self) -> bool:
        """Whether the process had not ended when it was last polled."""
        return self.exit_code is None and self.lost is None

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
    """Every process of a run, on the nodes that its plan names.

    A driver, a process of its own, holds the connection to the cluster: when that breaks the
    driver ends, and this says so.

    Args:
        run: In a folder that every node sees; each process is handed what was checked of it.
        plan: Its gang says what to start where.
        samples: Takes what the devices of the nodes report.
        append: Appends a line to the run's events.
        skip: Lets what it is given append lines that are no news of this start.

    Attributes:
        network_refusal: Empty: no network of the run's own is possible over several machines.
        notices: What is to be reported; whoever does it takes it away.
    """

    def __init__(
        self,
        run: CheckedRun,
        plan: LaunchPlan,
        samples: NodeSamples,
        append: Append,
        skip: Callable[[Callable[[], None]], None],
    ) -> None:
        layout = self._layout = run.layout
        self._checked = run.files.model_dump_json()
        self._plan = plan
        self._samples = samples
        self._skip = skip
        self._events = ProcessEvents(layout, len(plan.gang), append)
        self._driver: DriverProcess | None = None
        self._log = BoundedLog(run.layout.cluster_log)
        self._heard_s = time.monotonic()
        self.members = [RemoteMember(each, place) for place, each in enumerate(plan.gang)]
        self.network_refusal = ""
        self.notices: list[Problem] = []

    @property
    def leader(self) -> RemoteMember:
        """The one that reports events and saves."""
        return self.members[0]

    @property
    def local_members(self) -> tuple[RemoteMember, ...]:
        """Those whose numbers this machine's kernel knows: none."""
        return ()

    def start(
        self,
        on_started: Callable[[RemoteMember], None],
        meanwhile: Callable[[Problem | None], bool],
    ) -> None:
        """Wait for the places in the cluster, and start every process.

        Args:
            on_started: Called for each.
            meanwhile: Called again and again while it waits, with the reason where that is a new
                one; whether the run is still wanted.

        Raises:
            NotWantedError: It is not.
            OSError: The driver cannot be started.
            ProblemError: The cluster refuses, or a node cannot start its part.
        """
        remove_handed_outputs(self._layout)
        remove_folder(self._layout.heartbeats)
        make_folder(self._layout.heartbeats)
        driver = self._driver = DriverProcess(self._layout.cluster_log)
        driver.order(_wanted(self._layout, self._plan))
        ready = self._await(Ready, driver, meanwhile)
        # By now none of a former start writes any more: its nodes have waited for that.
        self._skip(self._events.begin)
        if self._plan.communicates:
            self.notices.append(_ports_open(ready.places))
        environments = tuple(
            {**each, CHECKED_VARIABLE: self._checked}
            for each in environments_on_nodes(self._plan, ready.places)
        )
        driver.order(StartWanted(environments=environments))
        started = self._await(Started, driver, meanwhile)
        for member, pid in zip(self.members, started.pids, strict=True):
            member.pid = pid
            on_started(member)

    def poll(self) -> None:
        """Take in what was heard of every process."""
        driver = self._driver
        if driver is None:
            return
        # Asked first: what it says before its end is heard then.
        is_there = driver.is_there
        self._log.bound()
        self._hear(driver)
        now_s = time.monotonic()
        if not is_there or now_s - self._heard_s > _SILENT_S:
            for member in self.members:
                if member.is_there:
                    member.lost = cluster_lost(self._plan)

    def _hear(self, driver: DriverProcess) -> None:
        while (word := driver.word()) is not None:
            self._heard_s = time.monotonic()
            self._take(word)

    def is_there(self) -> bool:
        """Whether a process of it had not ended when they were last polled."""
        return any(member.is_there for member in self.members)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to every process."""
        if self._driver is not None:
            self._driver.order(SignalWanted(number=number))

    def show_request(self, request: Request) -> None:
        """Have the processes see what a person asked of the run, on whichever node they are."""
        if self._driver is not None:
            self._driver.order(RequestWanted(request=request))

    def end(self) -> None:
        """Kill whatever is left on every node, and wait until none writes any more."""
        if self._driver is not None:
            self._driver.order(EndWanted())
            self._driver.end()
            self._hear(self._driver)
            self._log.close()
        end_processes_of(self._layout)
        if any(member.lost is not None for member in self.members):
            self._await_silence()
        self._events.finish()
        remove_handed_outputs(self._layout)

    def _await_silence(self) -> None:
        """Wait for the hearts of processes on lost nodes to cease.

        They save and end when they see that they are alone; a gang that was started beside them
        would write into the same folder.
        """
        until_s = time.monotonic() + _FENCE_S
        beats: dict[int, float | None] = {}
        changed_s = time.monotonic()
        lost = [member.place for member in self.members if member.lost is not None]
        while time.monotonic() < until_s and time.monotonic() - changed_s < _CEASED_S:
            for place in lost:
                beat = self._beat(place)
                if beats.get(place) != beat:
                    beats[place], changed_s = beat, time.monotonic()
            time.sleep(_TICK_S)

    def _beat(self, place: int) -> float | None:
        try:
            found = status(self._layout.heartbeats / str(place))
        except OSError:
            return None
        return None if found is None else found.st_mtime

    def _await(
        self,
        kind: type[_WordT],
        driver: DriverProcess,
        meanwhile: Callable[[Problem | None], bool],
    ) -> _WordT:
        said = ""
        self._heard_s = time.monotonic()
        while True:
            is_there = driver.is_there
            self._log.bound()
            waiting = None
            # What follows the word that is waited for is for whoever asks next.
            while (word := driver.word()) is not None:
                self._heard_s = time.monotonic()
                if isinstance(word, kind):
                    return word
                if isinstance(word, Refused):
                    raise ProblemError(word.problem)
                if isinstance(word, Waiting) and word.reason != said:
                    said = word.reason
                    waiting = _waiting(said)
            if not is_there or time.monotonic() - self._heard_s > _STUCK_S:
                raise ProblemError(cluster_lost(self._plan))
            if not meanwhile(waiting):
                raise NotWantedError
            time.sleep(_TICK_S)

    def _take(self, word: DriverWord) -> None:
        if isinstance(word, NodeSeen):
            for seen in word.processes:
                self.members[seen.place].take(seen)
                self._events.take(seen.place, seen.lines, seen.read_bytes)
            if word.sample is not None:
                self._samples.take(word.node, word.inventory, word.sample)
        elif isinstance(word, HeadSilent):
            self.notices.append(head_silent(word.address))
        elif isinstance(word, NodeLost):
            self._samples.lose(word.node)
            lost = node_lost(word.node, word.reason)
            # Said now: to end the others takes a while, and to plan anew.
            self.notices.append(lost.model_copy(update={"severity": Severity.WARNING}))
            for member in self.members:
                if member.node == word.node and member.is_there:
                    member.lost = lost


def _wanted(layout: RunLayout, plan: LaunchPlan) -> GangWanted:
    if plan.cluster is None:
        raise ValueError("the plan has no cluster")
    places = tuple(
        PlaceWanted(
            node=process.node,
            gpus=tuple(each.key for each in process.devices if each.kind is DeviceKind.GPU),
        )
        for process in plan.gang
    )
    return GangWanted(cluster=plan.cluster, root=str(layout.root.resolve()), places=places)


def _waiting(reason: str) -> Problem:
    return Problem(
        code="cluster_waiting",
        severity=Severity.HINT,
        message=f"The run waits for its place in the cluster: {reason}.",
        hint="It starts as soon as that is free; stopping it works meanwhile.",
    )


def _ports_open(places: tuple[ReadyPlace, ...]) -> Problem:
    listed = ", ".join(f"{each.address}:{each.port} ({each.interface})" for each in places)
    exposed = any(is_public(each.address) for each in places)
    return Problem(
        code="cluster_ports_open",
        severity=Severity.WARNING if exposed else Severity.HINT,
        field="cluster.network",
        message="The processes of this run communicate over ports without authentication: whoever "
        "reaches them can end the run, or read and write files as you.",
        hint="Set cluster.network to one that only the nodes of the cluster reach.",
        detail=listed,
    )

"""The gang of a run: all of its processes, wherever they run.

:mod:`local_gang` starts them on this machine or as tasks of Slurm, :mod:`cluster_gang` on the
nodes of a Ray cluster.
"""

import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from gpupanel.domain.problem import Problem
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.guarded_files import make_folder, remove, remove_folder

if TYPE_CHECKING:
    from gpupanel.runs.processes.liveness import Frozen


class StartCancelledError(Exception):
    """Somebody asked the run to end while it waited for what its processes need."""


class Member:
    """One process of a gang.

    What is known of it is of the last poll: so whoever polls first and then reads what the process
    wrote has read its last report when it is seen to have ended.

    Attributes:
        place: In the plan's gang.
        name: For people: "worker 1", "worker 1 on beta".
        pid: Of the process on the machine that it runs on; 0 before it was started.
        exit_code: ``None`` while it is there; negative: the signal that killed it.
        frozen: Why it is taken for dead though it is there; ``None`` while it lives.
        lost: Why nothing is known of it any more; ``None``: its machine answers.
        processor_s: Seconds of processor that it had used at its last observation.
    """

    def __init__(self, place: int, name: str, pid: int = 0) -> None:
        self.place = place
        self.name = name
        self.pid = pid
        self.exit_code: int | None = None
        self.frozen: Frozen | None = None
        self.lost: Problem | None = None
        self.processor_s = 0.0

    @property
    def is_there(self) -> bool:
        """Whether the process had not ended when it was last polled."""
        return self.exit_code is None and self.lost is None


class Gang(Protocol):
    """The processes of one attempt: started together, polled together, ended together.

    Attributes:
        network_refusal: Why its processes are in the network of this machine, where they should
            have one of their own; empty: they have, or open no ports, or cannot have one.
        notices: What else is to be reported; whoever does it takes it away.
    """

    network_refusal: str
    notices: list[Problem]

    @property
    def members(self) -> Sequence[Member]:
        """Its processes by their places; the first one leads: it reports events and saves."""

    @property
    def local_members(self) -> Sequence[Member]:
        """The processes whose pids this machine's kernel knows."""

    def start(self, on_started: Callable[[Member], None]) -> None:
        """Start every process; where one cannot be started the others stay to be ended.

        Args:
            on_started: Called for each.

        Raises:
            OSError: One cannot be started, or what starts them cannot.
            ProblemError: A cluster refuses the gang, or a node cannot start its part.
            StartCancelledError: Somebody asked the run to end before they were started.
        """

    def poll(self) -> None:
        """See what has become of every process."""

    def is_there(self) -> bool:
        """Whether a process of it had not ended when they were last polled."""

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to every process."""

    def show_request(self, request: Request) -> None:
        """Have every process see what a person asked of the run."""

    def end(self) -> None:
        """Kill whatever is left, and wait until it is gone."""


def clean_folder(layout: RunLayout) -> None:
    """Remove what processes of an attempt before have left for each other, and their heartbeats."""
    remove_output_parts(layout)
    remove_folder(layout.heartbeats)
    make_folder(layout.heartbeats)


def remove_output_parts(layout: RunLayout) -> None:
    """Remove the files by which processes of an evaluation hand their outputs to the leader.

    Each start computes all outputs.
    """
    for file in layout.root.glob("outputs-*.bin"):
        with suppress(OSError):
            remove(file, layout.root)

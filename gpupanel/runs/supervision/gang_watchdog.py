"""Asks the watchdogs about a gang, and carries out what they decide."""

import math
import signal
import time
from collections.abc import Callable

from gpupanel.domain.events import Event, ProblemReported, RequestAnswered
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.request import Request
from gpupanel.runs.processes.liveness import ProcessorUse
from gpupanel.runs.supervision.cluster_gang import ClusterGang
from gpupanel.runs.supervision.gang import Gang
from gpupanel.runs.supervision.gang_reports import GangReports
from gpupanel.runs.supervision.gpu_loss import GpuLossWatch
from gpupanel.runs.supervision.stop_requests import StopRequests
from gpupanel.runs.supervision.watchdogs import Act, Patience, Watched, decide


class GangWatchdog:
    """Ends a gang where a watchdog says so, or where a person asked and it does not end by itself.

    Args:
        plan: Says for which GPUs the driver compiles kernels.
        gang: Its processes are signalled.
        reports: What they report.
        requests: That end the run.
        patience: How long the watchdogs wait.
        report: Writes an event of the supervisor's.
        gpus: Knows which GPUs of the run are lost; ``None``: nobody asks.
    """

    def __init__(
        self,
        plan: LaunchPlan,
        gang: Gang | ClusterGang,
        reports: GangReports,
        requests: StopRequests,
        patience: Patience,
        report: Callable[[Event], None],
        gpus: GpuLossWatch | None,
    ) -> None:
        self._problem: Problem | None = None
        self._compiles_for = tuple(plan.device_name(key) for key in plan.compiles_for)
        self._gang = gang
        self._reports = reports
        self._requests = requests
        self._patience = patience
        self._report = report
        self._gpus = gpus
        self._use = ProcessorUse()
        self._is_wait_said = False
        self._stop_asked_s: float | None = None
        self._terminated_s: float | None = None
        self._killed_s: float | None = None

    @property
    def problem(self) -> Problem | None:
        """Why it ended the processes by itself; ``None``: it did not."""
        return self._problem

    @property
    def stop_asked(self) -> bool:
        """Whether a person asked the run to stop, to suspend or to end."""
        return self._stop_asked_s is not None

    @property
    def has_killed(self) -> bool:
        """Whether the processes were killed from here."""
        return self._killed_s is not None

    @property
    def has_ended_them(self) -> bool:
        """Whether the processes were ended from here, by a signal."""
        return self.has_killed or self._terminated_s is not None

    @property
    def has_killed_in_vain(self) -> bool:
        """Whether processes are there so long after SIGKILL that they wait in the kernel."""
        return time.monotonic() - (self._killed_s or math.inf) > self._patience.kill_s

    def is_start_wanted(self) -> bool:
        """Whether nobody has asked the run to end before its processes were started."""
        asked = self._requests.ending()
        if asked is None:
            return True
        self._stop_asked_s = time.monotonic()
        self._report_answered(asked)
        return False

    def note_request(self, asked: Request | None) -> None:
        """Take in what people ask of the run: the processes see it, too, from now on."""
        if asked is None or self._stop_asked_s is not None:
            return
        self._stop_asked_s = time.monotonic()
        self._gang.show_request(asked)
        if not self._requests.reach_trainers:
            self._gang.signal(signal.SIGTERM)

    def act(self) -> None:
        """See what the watchdogs say, report it and do it."""
        watched = self._watched(time.monotonic())
        act, problem = decide(self._reports.status, watched, self._patience)
        if act is Act.KILL and self.has_killed:
            return
        if problem is not None:
            self._is_wait_said |= act is Act.NOTHING
            self._problem = problem if problem.is_error else None
            self._report(ProblemReported(time_s=time.time(), problem=problem))
        if act is Act.TERMINATE:
            self._terminated_s = watched.now_s
            if (asked := self._requests.ending()) is not None:
                self._report_answered(asked)
            self._gang.signal(signal.SIGTERM)
        elif act is Act.KILL:
            self._killed_s = watched.now_s
            if watched.end_asked:
                self._report_answered(Request.END)
            self._gang.signal(signal.SIGKILL)

    def _watched(self, now_s: float) -> Watched:
        self._use.observe(now_s, sum(each.processor_s for each in self._gang.members))
        gpus = self._gpus
        return Watched(
            now_s=now_s,
            last_sign_s=self._reports.last_sign_s,
            stop_asked_s=self._stop_asked_s,
            end_asked=self._requests.ending() is Request.END,
            terminated_s=self._terminated_s,
            works=self._use.is_much,
            compiles_for=self._compiles_for,
            lost=gpus.lost_names if gpus is not None else (),
            lost_since_s=gpus.since_s if gpus is not None else None,
            others_answer=gpus is not None and gpus.others_answer,
            unanswered=gpus.unanswered(now_s) if gpus is not None else {},
            longest_silence_s=self._reports.longest_silence_s,
            is_wait_said=self._is_wait_said,
        )

    def _report_answered(self, request: Request) -> None:
        self._report(RequestAnswered(time_s=time.time(), request=request))

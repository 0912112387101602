"""Tests the devices of a profile before a long run: in a child, a minute at most, and remembered.

A child tests one case after the other. One that dies, or says nothing for longer than its case may
take, is killed with all that it started: that is what came of the case, and another child tests
the rest.
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from threading import Event
from typing import Final

from typing_extensions import override

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.last_lines import last_lines
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import (
    BegunCase,
    CaseOutcome,
    CaseResult,
    EndedCase,
    EndedSelfTest,
    ReadySelfTest,
    SelfTest,
    SelfTestCase,
    SelfTestKind,
    SelfTestProgress,
    SelfTestRequest,
)
from gpupanel.domain.value import Value
from gpupanel.planning.context import Known, PlanningContext, planning_context
from gpupanel.planning.self_test import self_test_request
from gpupanel.planning.self_test_findings import self_test_findings
from gpupanel.runs.cluster.environments import allowed, process_environments
from gpupanel.runs.questions.question import OnProgress, Question, Reply, ignore_progress
from gpupanel.runs.readiness import Machine, known_support
from gpupanel.runs.self_test_memory import recall_self_test, remember_self_test
from gpupanel.runs.tools.self_test.problems import died, never_ready, no_plan, not_started

SECONDS: Final = 60.0
"""How long the whole self-test may take."""
_START_S: Final = 40.0
"""How long TensorFlow may take to have its devices: a driver may have to compile kernels."""
_MOST_PATIENCE: Final = 4.0
"""Limits grow by this factor at most where other programs take the processors."""
_LEAST_S: Final = 4.0
"""Where less time is left no other child is started."""
_MOST_HANGS: Final = 2
"""After so many hangs of one way to sum, its further cases are not tested."""


try_devices: Final = Question[SelfTestRequest, EndedSelfTest](
    code="self_test_died",
    has_one_code=True,
    process="the process that tests the devices",
    work="testing the devices",
    command=python_module_command("gpupanel.trainer.tools.self_test"),
    answer=EndedSelfTest,
    lines={
        "ready": ReadySelfTest,
        "begun": BegunCase,
        "outcome": EndedCase,
        "ended": EndedSelfTest,
    },
    limit_s=SECONDS,
    death_hint="Test again; the detail has its last words.",
)


def run_self_test(
    profile: Profile,
    machine: Machine,
    seconds: float = SECONDS,
    *,
    again: bool = False,
    cancelled: Event | None = None,
    on_progress: OnProgress = ignore_progress,
    question: Question[SelfTestRequest, EndedSelfTest] = try_devices,
) -> SelfTest:
    """Test what is not known of the devices of a profile's plan, and remember what that shows.

    Whatever becomes of the processes, the answer is a :class:`SelfTest`: what went wrong is a
    problem in it. Of one that was cancelled nothing is remembered.

    Args:
        profile: What would be trained; a path in it is absolute.
        machine: Its devices, and what is free of them now.
        seconds: How long all of it may take.
        again: Also test what is remembered.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        on_progress: Called while it continues with how far it is: a :class:`SelfTestProgress`.
        question: Tests cases.
    """
    cancelled = cancelled or Event()
    context, request = _request(profile, machine)
    if request is None:
        return SelfTest(problems=(no_plan(context),))
    known = None if again else recall_self_test(machine.inventory)
    outcomes = {each.case.identity: each for each in (known.outcomes if known else ())}
    unknown = tuple(case for case in request.cases if case.identity not in outcomes)
    testing = _Testing(
        request.model_copy(update={"cases": unknown}),
        cancelled,
        on_progress,
        question,
        time.monotonic() + seconds,
    )
    tested, problems = testing.run()
    if not cancelled.is_set():
        remember_self_test(machine.inventory, tested)
    outcomes |= {each.case.identity: each for each in tested}
    in_order = tuple(outcomes[case.identity] for case in request.cases)
    return _of_outcomes(context, in_order, problems, is_remembered=not testing.was_needed)


def _request(profile: Profile, machine: Machine) -> tuple[PlanningContext, SelfTestRequest | None]:
    training = profile.model_copy(update={"task": "train"})
    # TensorFlow is not asked for it: without an answer all ways are tested.
    support = known_support(machine)
    context = planning_context(training, machine.inventory, Known(machine.sample, support=support))
    return context, self_test_request(context)


def _of_outcomes(
    context: PlanningContext,
    outcomes: tuple[CaseOutcome, ...],
    problems: tuple[Problem, ...] = (),
    *,
    is_remembered: bool = False,
) -> SelfTest:
    found = self_test_findings(context, outcomes)
    return SelfTest(
        outcomes=outcomes,
        problems=(*problems, *(each.problem for each in found)),
        tested_s=max((each.tested_s for each in outcomes), default=0.0),
        is_remembered=is_remembered,
    )


class _Testing:
    """A test of all cases, by as many children as it takes."""

    def __init__(
        self,
        request: SelfTestRequest,
        cancelled: Event,
        on_progress: OnProgress,
        question: Question[SelfTestRequest, EndedSelfTest],
        until_s: float,
    ) -> None:
        self._request = request
        self._cancelled = cancelled
        self._on_progress = on_progress
        self._question = question
        self._until_s = until_s
        self._left = list(request.cases)
        self.was_needed = False
        """Whether a child was started."""
        self._outcomes: dict[tuple[object, ...], CaseOutcome] = {}
        self._problems: list[Problem] = []

    def run(self) -> tuple[tuple[CaseOutcome, ...], tuple[Problem, ...]]:
        """What came of each case, and why nothing could be tested."""
        self._leave_out_code()
        while self._left and not self._problems and not self._cancelled.is_set():
            if self._until_s - time.monotonic() < _LEAST_S:
                break
            self._ask()
            self._leave_out_what_hangs()
        why = "" if self._problems or self._cancelled.is_set() else _TIME_UP
        for case in self._left:
            self._note(case, EndedCase(number=0, result=CaseResult.NOT_DONE, detail=why))
        in_order = tuple(self._outcomes[case.identity] for case in self._request.cases)
        return in_order, tuple(self._problems)

    def _ask(self) -> None:
        """One child: it tests what is left."""
        self.was_needed = True
        watch = _Watch(self._cancelled, self._until_s, tuple(self._left), self._take)
        self._report(None)
        request = self._request.model_copy(update={"cases": tuple(self._left)})
        reply = self._question.ask(
            request,
            self._variables(),
            limit_s=max(0.0, self._until_s - time.monotonic()),
            cancelled=watch,
            on_part=watch.take,
        )
        self._end(reply, watch)

    def _take(self, case: SelfTestCase, ended: EndedCase | None) -> None:
        """A case has begun, or has ended."""
        if ended is not None:
            self._left.remove(case)
            self._note(case, ended)
        self._report(case)

    def _end(self, reply: Reply[EndedSelfTest], watch: "_Watch") -> None:
        if reply.child is None:
            self._problems.append(not_started(reply))
            return
        case, exit_code = watch.begun, reply.exit_code
        if self._cancelled.is_set() or time.monotonic() >= self._until_s:
            return
        if watch.is_late:
            if case is None:
                self._problems.append(never_ready(reply.log, _START_S))
                return
            words = f"No answer within {watch.limit_s:.0f} s."
            self._take(case, EndedCase(number=0, result=CaseResult.HANGS, detail=words))
        elif reply.answer is not None and reply.answer.problems:
            self._problems += reply.answer.problems
        elif case is not None and exit_code:
            how = f"signal {-exit_code}" if exit_code < 0 else f"exit status {exit_code}"
            words = f"The process ended with {how}.\n{last_lines(reply.log)}"
            self._take(case, EndedCase(number=0, result=CaseResult.DIED, detail=words[:2_000]))
        elif self._left:
            self._problems.append(died(reply))

    def _leave_out_code(self) -> None:
        profile = self._request.profile
        if not (profile.data.is_code or profile.model.is_code):
            return
        for case in tuple(self._left):
            if case.kind is SelfTestKind.STEP:
                self._left.remove(case)
                words = "Python code of your own is executed by a run only."
                self._note(case, EndedCase(number=0, result=CaseResult.NOT_DONE, detail=words))

    def _leave_out_what_hangs(self) -> None:
        hangs: Counter[str] = Counter()
        for each in self._outcomes.values():
            if each.result is CaseResult.HANGS and each.case.all_reduce is not None:
                hangs[each.case.all_reduce] += 1
        for case in tuple(self._left):
            if case.all_reduce is not None and hangs[case.all_reduce] >= _MOST_HANGS:
                self._left.remove(case)
                words = f"{case.all_reduce.label} did not answer {_MOST_HANGS} times before."
                self._note(case, EndedCase(number=0, result=CaseResult.NOT_DONE, detail=words))

    def _note(self, case: SelfTestCase, ended: EndedCase) -> None:
        self._outcomes[case.identity] = CaseOutcome(
            case=case,
            result=ended.result,
            figure=ended.figure,
            seconds=ended.seconds,
            detail=ended.detail,
            tested_s=0.0 if ended.result is CaseResult.NOT_DONE else round(time.time(), 3),
        )

    def _report(self, case: SelfTestCase | None) -> None:
        done, count = len(self._outcomes), len(self._request.cases)
        self._on_progress(SelfTestProgress(done=done, count=count, case=case))

    def _variables(self) -> dict[str, str]:
        (of_process,) = process_environments(self._request.plan)
        planned = allowed(self._request.plan.environment)
        return {"TF_CPP_MIN_LOG_LEVEL": "2", **of_process, **planned}


_TIME_UP: Final = "The time for the self-test was up."


class _Watch(Event):
    """Follows a child's cases; set once it is to end: cancelled, or too late."""

    def __init__(
        self,
        cancelled: Event,
        until_s: float,
        cases: tuple[SelfTestCase, ...],
        take: Callable[[SelfTestCase, EndedCase | None], None],
    ) -> None:
        super().__init__()
        self._cancelled, self._cases, self._take = cancelled, cases, take
        self._patience = _patience()
        self._late_s = min(until_s, time.monotonic() + self._patience * _START_S)
        self.limit_s = 0.0
        """The limit of what is tested now."""
        self.begun: SelfTestCase | None = None
        self.is_late = False

    @override
    def is_set(self) -> bool:
        if time.monotonic() >= self._late_s:
            self.is_late = True
        return self.is_late or self._cancelled.is_set()

    def take(self, part: Value) -> None:
        """What a further line says."""
        if isinstance(part, BegunCase) and part.number < len(self._cases):
            self.begun = self._cases[part.number]
            self.limit_s = self._patience * self.begun.seconds
            self._late_s = time.monotonic() + self.limit_s
            self._take(self.begun, None)
        elif isinstance(part, EndedCase) and self.begun is not None:
            ended, self.begun = self.begun, None
            self._late_s = time.monotonic() + self._patience * _START_S
            self._take(ended, part)


def _patience() -> float:
    """How much longer everything takes now: processes that want a processor, for each there is."""
    waiting, _, _ = os.getloadavg()
    return min(_MOST_PATIENCE, max(1.0, waiting / (os.cpu_count() or 1)))

"""Which batches fit on this machine, by trying: a child process for each device, one by one.

A child that runs out of memory, or dies of it, is an answer; the next one continues from what was
tried. While one works, what is free of its device is watched, so that it ends before somebody else
lacks memory.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterable
from threading import Event
from typing import TYPE_CHECKING, Final, Self

from gpupanel.devices.child_process import ChildEnd
from gpupanel.domain.batch_fit import BatchFit, BatchProgress, DeviceBatch
from gpupanel.domain.batch_search import (
    BatchSearchRequest,
    BatchTrial,
    BegunTrial,
    EndedSearch,
    SearchEnd,
    most_that_fit,
    next_examples,
    search_end,
)
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest, summary_request
from gpupanel.domain.profile import Profile
from gpupanel.domain.value import Value
from gpupanel.planning.batch_fit import batch_fit, device_batch, measured_step
from gpupanel.planning.batch_targets import LEAST_ROOM_MIB, BatchTarget, batch_targets
from gpupanel.planning.context import Known, planning_context
from gpupanel.planning.memory_estimate import MOST_EXAMPLES
from gpupanel.planning.plan_memory import ON_THE_HOST
from gpupanel.runs.measured_memory import remember_measured
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.runs.questions.question import OnProgress, Question, Reply, ignore_progress
from gpupanel.runs.readiness import Machine
from gpupanel.runs.tools.batch_search.free_memory import MemoryReader, memory_reader
from gpupanel.runs.tools.batch_search.problems import (
    LAYERS_PLACED,
    NO_PLAN,
    TRIED_WITH_ALL_WEIGHTS,
    disturbed,
    no_room,
    nothing_fits,
    too_slow,
)

if TYPE_CHECKING:
    from gpupanel.domain.problem import Problem

SECONDS: Final = 60.0
"""How long one device is tried, unless somebody says otherwise."""
_GRACE_S: Final = 2.0
"""Beside its time, before a child is killed that tries something still."""
_LEAST_S: Final = 3.0
"""Where less time is left, no other child is started."""
_MOST_CHILDREN: Final = 40
_MOST_GROWTH_MIB: Final = 256
"""By so much the memory of other processes may grow: a desktop's does at any time."""
_TOO_MUCH: Final = frozenset({-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGKILL})
"""How a process dies whose libraries do not expect that memory is refused, or that the kernel
kills for it."""


try_batches: Final = Question[BatchSearchRequest, EndedSearch](
    code="fit_batch",
    process="the process that tries batches",
    work="trying batches",
    command=python_module_command("gpupanel.trainer.tools.batch_search"),
    answer=EndedSearch,
    lines={"begun": BegunTrial, "trial": BatchTrial, "ended": EndedSearch},
    limit_s=SECONDS,
    death_hint="The model alone may need more memory than there is; copy the detail.",
    field="training.global_batch_size",
)
MakeReader = Callable[[str], MemoryReader]


def find_batches(
    profile: Profile,
    machine: Machine,
    seconds: float = SECONDS,
    *,
    cancelled: Event | None = None,
    on_progress: OnProgress = ignore_progress,
    question: Question[BatchSearchRequest, EndedSearch] = try_batches,
    summarize: Question[SummaryRequest, ModelSummary] = summarize_model,
    make_reader: MakeReader = memory_reader,
) -> BatchFit:
    """Try batches on each device of a profile's plan, and remember what that shows.

    Whatever becomes of the processes, the answer is a :class:`BatchFit`: what went wrong is a
    problem in it. Of one that was cancelled nothing is known, or less than all.

    Args:
        profile: What would be trained; a path in it is absolute.
        machine: Its devices, and what is free of them now.
        seconds: How long each device is tried.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        on_progress: Called while it continues with how far it is: a :class:`BatchProgress`.
        question: Tries numbers of examples.
        summarize: Builds the model, for the estimate to begin with.
        make_reader: Makes what reads how much is free of a device.
    """
    if profile.data.is_code or profile.model.is_code:
        return BatchFit(needs_start=True)
    cancelled = cancelled or Event()
    request = summary_request(profile)
    summary = summarize(request, cancelled=cancelled)
    if summary.needs_download or summary.needs_start or summary.problems:
        return BatchFit(
            needs_download=summary.needs_download,
            needs_start=summary.needs_start,
            problems=summary.problems,
        )
    context = planning_context(profile, machine.inventory, Known(machine.sample, step=summary.step))
    if context.plan is None or context.plan.places:
        return BatchFit(problems=(NO_PLAN if context.plan is None else LAYERS_PLACED,))
    targets = batch_targets(context)
    found: list[DeviceBatch] = []
    example_count = 0
    for target in targets:
        if cancelled.is_set():
            break
        search = _DeviceSearch(target, seconds, cancelled, on_progress, question, make_reader)
        each = search.run()
        found.append(each)
        example_count = max(example_count, search.example_count)
        measured = measured_step(target, each)
        if measured is not None and summary.step is not None:
            remember_measured(request, summary.step, measured)
    fit = batch_fit(context, targets, found, example_count or None)
    notes = (TRIED_WITH_ALL_WEIGHTS,) if context.plan.strategy in ON_THE_HOST and found else ()
    return fit.model_copy(update={"problems": notes})


class _DeviceSearch:
    """The search on one device: as many children as it takes."""

    def __init__(
        self,
        target: BatchTarget,
        seconds: float,
        cancelled: Event,
        on_progress: OnProgress,
        question: Question[BatchSearchRequest, EndedSearch],
        make_reader: MakeReader,
    ) -> None:
        self._target = target
        self._seconds = seconds
        self._cancelled = cancelled
        self._on_progress = on_progress
        self._question = question
        self._make_reader = make_reader
        self._trials: list[BatchTrial] = []
        self._doubted: set[int] = set()
        self._problems: list[Problem] = []
        self._log = ""
        self.example_count = 0

    def run(self) -> DeviceBatch:
        """What was found."""
        begin_s = time.monotonic()
        stopped = SearchEnd.FAILED
        if self._target.room_mib < LEAST_ROOM_MIB:
            self._problems.append(no_room(self._target))
        else:
            with _Watch(self._target, self._cancelled, self._make_reader) as watch:
                stopped = self._search(begin_s + self._seconds, watch)
        if stopped is SearchEnd.DISTURBED and not most_that_fit(self._trials):
            self._problems.append(disturbed(self._target))
        if stopped is SearchEnd.NOTHING_FITS and not self._problems:
            self._problems.append(nothing_fits(self._target, self._log))
        seconds = time.monotonic() - begin_s
        trials, problems = tuple(self._trials), tuple(self._problems)
        return device_batch(self._target, trials, stopped, seconds, problems)

    def _search(self, until_s: float, watch: "_Watch") -> SearchEnd:
        for _ in range(_MOST_CHILDREN):
            if next_examples(self._target.first, MOST_EXAMPLES, self._trials) is None:
                return search_end(MOST_EXAMPLES, self._trials)
            left_s = until_s - time.monotonic()
            if left_s < _LEAST_S:
                break
            heard = _Heard(self._report)
            self._report(0)
            ended = self._end_of(self._ask(left_s, watch, heard), heard, watch)
            if ended is not SearchEnd.OUT_OF_MEMORY:
                return ended
        return self._time_up(None)

    def _ask(self, left_s: float, watch: "_Watch", heard: "_Heard") -> Reply[EndedSearch]:
        target = self._target
        request = BatchSearchRequest(
            profile=target.context.profile,
            plan=target.plan,
            first=target.first,
            most=MOST_EXAMPLES,
            trials=tuple(self._trials),
            seconds=left_s,
            memory_limit_bytes=target.memory_limit_bytes,
        )
        variables = {"TF_CPP_MIN_LOG_LEVEL": "2", **target.plan.environment}
        return self._question.ask(
            request,
            variables,
            limit_s=left_s + _GRACE_S,
            cancelled=watch.ended,
            on_part=heard.take,
        )

    def _end_of(self, reply: Reply[EndedSearch], heard: "_Heard", watch: "_Watch") -> SearchEnd:
        """Takes what a child has tried; out of memory: another one is to continue."""
        self._log = reply.log
        ended = reply.answer
        failed: BatchTrial | None = None
        if ended is not None and ended.end is SearchEnd.OUT_OF_MEMORY and heard.trials:
            failed = heard.trials.pop()
        self._trials += heard.trials
        if watch.is_disturbed:
            return SearchEnd.DISTURBED
        how = None if reply.child is None else reply.child.end
        if how is ChildEnd.CANCELLED:
            return SearchEnd.FAILED
        if how is ChildEnd.TIME_WAS_UP:
            return self._time_up(heard.begun)
        if ended is not None:
            self.example_count = max(self.example_count, ended.example_count)
        if failed is not None:
            self._refuse(failed.examples, is_doubtful=bool(heard.trials))
            return SearchEnd.OUT_OF_MEMORY
        if ended is not None:
            self._problems += ended.problems
            return self._time_up(None) if ended.end is SearchEnd.TIME else ended.end
        if reply.exit_code in _TOO_MUCH and heard.begun is not None:
            # One that was killed may have been killed by a person.
            self._refuse(heard.begun, is_doubtful=reply.exit_code == -signal.SIGKILL)
            return SearchEnd.OUT_OF_MEMORY
        if reply.problem is not None:
            self._problems.append(reply.problem)
        return SearchEnd.FAILED

    def _refuse(self, examples: int, *, is_doubtful: bool) -> None:
        """So many do not fit; where that is doubtful, they are tried once more by a fresh child.

        What a GPU's allocator has given to smaller steps may lie in the way of larger ones.
        """
        if is_doubtful and examples not in self._doubted:
            self._doubted.add(examples)
            return
        self._trials.append(BatchTrial(examples=examples, fits=False))

    def _time_up(self, begun: int | None) -> SearchEnd:
        if not most_that_fit(self._trials):
            self._problems.append(too_slow(self._seconds, begun))
        return SearchEnd.TIME

    def _report(self, examples: int, trials: Iterable[BatchTrial] = ()) -> None:
        largest = most_that_fit((*self._trials, *trials))
        news = BatchProgress(device=self._target.device, examples=examples, largest=largest)
        self._on_progress(news)


class _Heard:
    """What a child has begun and tried."""

    def __init__(self, report: Callable[[int, Iterable[BatchTrial]], None]) -> None:
        self._report = report
        self.begun: int | None = None
        self.trials: list[BatchTrial] = []

    def take(self, part: Value) -> None:
        """What a further line says."""
        if isinstance(part, BegunTrial):
            self.begun = part.examples
            self._report(self.begun, self.trials)
        elif isinstance(part, BatchTrial):
            self.begun = None
            self.trials.append(part)


class _Watch:
    """Ends what is tried on a device when nobody wants it any more, or somebody needs the memory.

    Attributes:
        ended: Set when it is to end.
        is_disturbed: Whether that is because of the memory of others.
    """

    def __init__(self, target: BatchTarget, cancelled: Event, make_reader: MakeReader) -> None:
        self.ended = Event()
        self.is_disturbed = False
        self._target = target
        self._cancelled = cancelled
        self._make_reader = make_reader
        self._closed = Event()
        self._thread = threading.Thread(target=self._work, name="batch-memory-watch")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()

    def _work(self) -> None:
        reader = self._make_reader(self._target.device)
        try:
            first = reader.read()
            at_first, room_mib = first.others_mib, self._target.room_mib
            if first.free_mib is not None and first.free_mib < room_mib + self._target.floor_mib:
                # What was free when it was planned is not any more, such as beside a run.
                self.is_disturbed = True
                self.ended.set()
            while not self.ended.is_set() and not self._closed.wait(reader.interval_s):
                if self._cancelled.is_set():
                    self.ended.set()
                    return
                now = reader.read()
                is_full = now.free_mib is not None and now.free_mib < self._target.floor_mib
                at_first = now.others_mib if at_first is None else at_first
                grown = (now.others_mib or 0) - (at_first or 0)
                if is_full or grown > _MOST_GROWTH_MIB:
                    self.is_disturbed = True
                    self.ended.set()
                    return
        finally:
            reader.close()

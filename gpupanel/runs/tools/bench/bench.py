"""Comparing the ways to train a profile on this machine, by some steps of each."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Event
from typing import Final

from gpupanel.domain.bench import (
    Bench,
    BenchProgress,
    BenchResult,
    LeftOut,
    fastest_of,
    with_efficiency,
)
from gpupanel.domain.problem import Change, Fix, Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.planning.bench.candidates import Candidates, PlannedCandidate, divisions, variants
from gpupanel.planning.chosen_devices import chosen_devices
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.runs.history.measured_speeds import remember, remembered
from gpupanel.runs.questions.question import OnProgress, ignore_progress
from gpupanel.runs.queue.bench_claim import claimed
from gpupanel.runs.readiness import AskSupport, Machine, ask_doctor, prepared_on
from gpupanel.runs.tools.bench.candidate_run import Measured, measure
from gpupanel.runs.trust.trusted import CodeNotTrustedError, check_trusted
from gpupanel.runs.trust.user_code import code_of_profile

SECONDS: Final = 600.0
"""How long it may take before nothing is repeated any more, unless somebody says otherwise."""
REPEATS: Final = 2
"""How often each candidate runs, where the time allows it."""

_NOT_TRAINED: Final = Problem(
    code="bench_without_training",
    field="task",
    message="The profile trains nothing: devices are compared by training steps.",
    hint="Choose a profile whose task is train.",
)
_ON_CLUSTER: Final = Problem(
    code="bench_on_cluster",
    field="cluster",
    message="The devices of one machine are compared, and the profile trains on the nodes of a "
    "cluster.",
    hint='Set strategy.shares to "balanced", which measures the devices of all nodes in training; '
    "or remove [cluster] to compare those of this machine.",
    fix=Fix(label="Use this machine", changes=(Change(path=("cluster",)),)),
)


def compare(
    profile: Profile,
    machine: Machine,
    seconds: float = SECONDS,
    repeats: int = REPEATS,
    *,
    cancelled: Event | None = None,
    on_progress: OnProgress = ignore_progress,
    runs_dir: Path | None = None,
    ask_support: AskSupport = ask_doctor,
) -> Bench:
    """Measure each device alone, all together, then XLA and mixed precision; remember that.

    A candidate that fails is reported with its problem, and the others continue. Each has run once
    before any is repeated. Of a comparison that was cancelled nothing is remembered.

    Args:
        profile: What would be trained.
        machine: Its devices, and what they report.
        seconds: How long it may take before nothing is repeated any more.
        repeats: How often each candidate runs.
        cancelled: Set, by any thread, when the answer is not wanted any more.
        on_progress: Called while it continues with how far it is: a :class:`BenchProgress`.
        runs_dir: A folder whose runs count, too, beside that of the user.
        ask_support: Asks which GPUs TensorFlow can use.

    Raises:
        CodeNotTrustedError: The profile names Python code that nobody trusted yet.
        ProblemError: Nothing can be compared: the profile is for a cluster, another comparison goes
            on, a run or the queue uses the devices, or nothing can be written.
    """
    if profile.task != "train":
        raise ProblemError(_NOT_TRAINED)
    if profile.cluster is not None:
        raise ProblemError(_ON_CLUSTER)
    profile = anchored(profile, Path.cwd())
    check_trusted(code_of_profile(profile))
    devices = chosen_devices(profile, machine.inventory, machine.sample)
    # What TensorFlow can use does not change from one candidate to the next.
    ask = cache(ask_support)

    def prepare(derived: Profile) -> Preparation:
        return prepared_on(machine, derived, None, ask)

    cancelled = cancelled or Event()
    begin_s = time.monotonic()
    with claimed({device.key: device.name for device in devices}, runs_dir) as folder:
        rounds = _Rounds(folder, repeats, begin_s + seconds, cancelled, on_progress)
        first = divisions(profile, devices, prepare)
        rounds.carry_out(first)
        fastest = fastest_of(rounds.results())
        if fastest is not None and not cancelled.is_set():
            rounds.carry_out(variants(profile, fastest.candidate, devices, prepare))
        bench = Bench(
            results=rounds.results(),
            left_out=tuple(rounds.left_out),
            measured_s=time.time() if rounds.results() else 0.0,
            seconds=time.monotonic() - begin_s,
        )
    if bench.fastest is not None and not cancelled.is_set():
        remember(profile, machine.inventory, bench)
    return bench


def compared_or_recalled(
    profile: Profile,
    machine: Machine,
    runs_dir: Path,
    *,
    recalls: bool,
    cancelled: Event,
    on_progress: OnProgress,
) -> Bench:
    """What a window shows: what is remembered where ``recalls`` is true, else a new comparison.

    All else is as of :func:`compare`, but that code that nobody trusts is a problem of the answer:
    the window asks before a run, where a person can read it.

    Raises:
        ProblemError: Nothing can be compared.
    """
    known = remembered(anchored(profile, Path.cwd()), machine.inventory) if recalls else None
    try:
        return known or compare(
            profile, machine, runs_dir=runs_dir, cancelled=cancelled, on_progress=on_progress
        )
    except CodeNotTrustedError as error:
        return Bench(problems=tuple(_asked_later(each) for each in error.problems))


def _asked_later(problem: Problem) -> Problem:
    hint = "Train with it once: the window asks then whether you trust it."
    return problem.model_copy(update={"hint": hint})


@dataclass
class _Tried:
    """A candidate, and what its runs came to."""

    planned: PlannedCandidate
    runs: list[Measured] = field(default_factory=list)
    problem: Problem | None = None

    def result(self) -> BenchResult:
        speeds = [run.examples_per_second for run in self.runs if run.examples_per_second]
        spents = [run.time_spent for run in self.runs if run.time_spent is not None]
        spent = spents[0] if spents else None
        for more in spents[1:]:
            spent = more if spent is None else spent.plus(more)
        median = statistics.median(speeds) if speeds else None
        several = median is not None and len(speeds) > 1
        return BenchResult(
            candidate=self.planned.candidate,
            name=self.planned.name,
            examples_per_second=median,
            speeds=tuple(speeds),
            spread=(max(speeds) - min(speeds)) / median if several and median else None,
            steps=sum(run.steps for run in self.runs),
            shares=self.runs[-1].shares if self.runs else (),
            time_spent=spent,
            problem=self.problem,
        )


class _Rounds:
    """Candidates by turns: one that is slower the second time meets what slowed it like others."""

    def __init__(
        self,
        folder: Path,
        repeats: int,
        until_s: float,
        cancelled: Event,
        on_progress: OnProgress,
    ) -> None:
        self.left_out: list[LeftOut] = []
        self._folder = folder
        self._repeats = repeats
        self._until_s = until_s
        self._cancelled = cancelled
        self._on_progress = on_progress
        self._tried: list[_Tried] = []
        self._number = 0
        self._of = 0

    def results(self) -> tuple[BenchResult, ...]:
        """What is known by now."""
        known = [each.result() for each in self._tried if each.runs or each.problem is not None]
        return with_efficiency(tuple(known))

    def carry_out(self, candidates: Candidates) -> None:
        """Let these run, and again as long as there is time."""
        self.left_out += candidates.left_out
        group = [_Tried(planned) for planned in candidates.tried]
        self._tried += group
        self._of += len(group)
        lasted_s = self._each_once(group)
        for _ in range(1, self._repeats):
            again = [each for each in group if each.problem is None]
            if not again or time.monotonic() + lasted_s > self._until_s:
                return
            self._of += len(again)
            lasted_s = self._each_once(again)

    def _each_once(self, group: Sequence[_Tried]) -> float:
        begin_s = time.monotonic()
        for each in group:
            if self._cancelled.is_set():
                break
            self._number += 1
            self._run(each)
        return time.monotonic() - begin_s

    def _run(self, tried: _Tried) -> None:
        def report(doing: str) -> None:
            self._on_progress(
                BenchProgress(
                    name=tried.planned.name,
                    number=self._number,
                    of=self._of,
                    doing=doing,
                    results=self.results(),
                )
            )

        report("starting")
        try:
            measured = measure(tried.planned, self._folder, self._cancelled, report)
        except ProblemError as error:
            tried.problem = error.problems[0]
        else:
            if measured.examples_per_second is not None:
                tried.runs.append(measured)

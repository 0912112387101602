"""Real sums, copies, patterns and steps on two logical CPU devices, well and broken on purpose."""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.model import CnnModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.self_test import (
    CaseOutcome,
    CaseResult,
    SelfTest,
    SelfTestKind,
    SelfTestProgress,
)
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning import self_test as planned
from gpupanel.runs.readiness import Machine
from gpupanel.runs.self_test_memory import recall_self_test
from gpupanel.runs.tools.self_test.testing import run_self_test, try_devices
from tests.fakes.devices import CPU_ONLY
from tests.forked.answers import forked_answers
from tests.forked.processes import child_processes

pytestmark = pytest.mark.tensorflow

MACHINE = Machine(CPU_ONLY)
BROKEN = Path(__file__).parents[2] / "fakes" / "broken_devices.py"
GENEROUS_S = 240.0


def profile(replicas: int = 2, **parts: object) -> Profile:
    return Profile(
        devices=DeviceSettings(visible=(CPU_KEY,), cpu_replicas=replicas),
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
        **parts,
    )


def examined(*how: str, of: Profile | None = None, **more: object) -> SelfTest:
    given = {"seconds": GENEROUS_S, **more}
    if how:
        command = (sys.executable, str(BROKEN), *how)
        given["question"] = replace(try_devices, command=command)
    found = run_self_test(of or profile(), MACHINE, **given)
    assert not child_processes()
    return found


def examined_forked(*how: str, of: Profile | None = None) -> SelfTest:
    """Of devices that are wrong, and answer: TensorFlow need not be imported each time."""
    with forked_answers():
        return examined(*how, of=of)


def of_sums(test: SelfTest, way: AllReduce) -> CaseOutcome:
    (found,) = (each for each in test.outcomes if each.case.all_reduce is way)
    return found


def results(test: SelfTest) -> dict[str, CaseResult]:
    return {
        " ".join(
            [each.case.kind, each.case.all_reduce or each.case.places[-1].logical_device]
        ): each.result
        for each in test.outcomes
    }


@pytest.mark.slow
def test_that_two_logical_devices_pass() -> None:
    """Where TensorFlow refuses its own clock, too: nothing of that is the devices' fault."""
    news: list[SelfTestProgress] = []
    of = profile(
        model=CnnModel(filters=(4,), batch_norm=True),
        training=TrainingSettings(deterministic=True),
    )
    found = examined(of=of, on_progress=news.append)
    assert {each.result for each in found.outcomes} == {CaseResult.PASSED}, found
    assert found.is_well
    assert not found.is_remembered
    assert {each.case.kind for each in found.outcomes} == set(SelfTestKind)
    for way in (AllReduce.AUTO, AllReduce.HIERARCHICAL_COPY, AllReduce.REDUCTION_TO_ONE_DEVICE):
        assert of_sums(found, way).figure > 0.0
    memory = next(each for each in found.outcomes if each.case.kind is SelfTestKind.MEMORY)
    assert memory.figure == memory.case.amount_mib == 64
    steps = [each.figure for each in found.outcomes if each.case.kind is SelfTestKind.STEP]
    assert len(steps) == 2
    assert max(steps) < 1e-5
    assert news[0].case is None
    assert [each.done for each in news] == sorted(each.done for each in news)
    assert news[-1].done == news[-1].count == len(found.outcomes)
    # Nothing is asked again, and no process is started.
    nobody = replace(try_devices, command=("/does/not/exist",))
    again = examined(question=nobody, of=of)
    assert again.is_remembered
    assert again.outcomes == found.outcomes


def test_that_a_replica_that_adds_noise_is_caught_and_named() -> None:
    found = examined_forked("noise", "HierarchicalCopyAllReduce")
    noisy = of_sums(found, AllReduce.HIERARCHICAL_COPY)
    assert noisy.result is CaseResult.WRONG, noisy
    assert "numbers differ" in noisy.detail
    assert of_sums(found, AllReduce.REDUCTION_TO_ONE_DEVICE).result is CaseResult.PASSED
    (problem,) = found.problems
    assert problem.code == "self_test_all_reduce"
    assert problem.message == (
        "Hierarchical copy sums wrongly over a CPU (CPU:0) and a CPU (CPU:1)."
    )
    assert not found.is_well


@pytest.mark.slow
def test_that_a_sum_that_is_no_number_is_caught() -> None:
    found = examined_forked("nan", "ReductionToOneDevice")
    # The strategy's own choice on the CPU is that one.
    for way in (AllReduce.AUTO, AllReduce.REDUCTION_TO_ONE_DEVICE):
        assert of_sums(found, way).result is CaseResult.NOT_A_NUMBER
    assert of_sums(found, AllReduce.HIERARCHICAL_COPY).result is CaseResult.PASSED
    first = found.problems[0]
    assert first.is_error
    assert first.fix is not None
    assert first.fix.changes[0].value == AllReduce.HIERARCHICAL_COPY


@pytest.mark.slow
def test_that_a_sum_that_never_answers_is_ended_and_the_others_are_tested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(planned._SECONDS, SelfTestKind.ALL_REDUCE, 8.0)
    found = examined("hang", "HierarchicalCopyAllReduce")
    hung = of_sums(found, AllReduce.HIERARCHICAL_COPY)
    assert hung.result is CaseResult.HANGS
    assert hung.detail.startswith("No answer within ")
    others = [each for each in found.outcomes if each is not hung]
    assert {each.result for each in others} == {CaseResult.PASSED}
    (problem,) = found.problems
    assert problem.message == (
        "Hierarchical copy does not answer over a CPU (CPU:0) and a CPU (CPU:1)."
    )


@pytest.mark.parametrize(
    "examine", [examined_forked, pytest.param(examined, marks=pytest.mark.slow)]
)
def test_that_a_sum_that_kills_its_process_is_named_and_the_others_are_tested(
    examine: Callable[..., SelfTest],
) -> None:
    found = examine("die", "HierarchicalCopyAllReduce")
    dead = of_sums(found, AllReduce.HIERARCHICAL_COPY)
    assert dead.result is CaseResult.DIED
    assert "signal 11" in dead.detail
    assert {each.result for each in found.outcomes if each is not dead} == {CaseResult.PASSED}


@pytest.mark.parametrize(
    ("how", "wrong", "code"),
    [
        ("step", "step /device:CPU:1", "self_test_step"),
        pytest.param("memory", "memory /device:CPU:0", "self_test_memory", marks=pytest.mark.long),
        pytest.param(
            "copy", "pair_transfer /device:CPU:1", "self_test_pair_transfer", marks=pytest.mark.long
        ),
    ],
)
def test_that_a_device_that_calculates_keeps_or_copies_wrongly_is_named(
    how: str, wrong: str, code: str
) -> None:
    found = examined_forked(how)
    bad = {name for name, result in results(found).items() if result is CaseResult.WRONG}
    assert bad == {wrong}
    assert [each.code for each in found.problems] == [code]


@pytest.mark.long
def test_that_of_slow_memory_only_as_much_is_tested_as_there_is_time_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = 2.0
    monkeypatch.setitem(planned._SECONDS, SelfTestKind.MEMORY, seconds)
    monkeypatch.setattr(planned, "_CPU_MIB", 640)
    found = examined_forked("slow")
    (memory,) = (each for each in found.outcomes if each.case.kind is SelfTestKind.MEMORY)
    assert memory.result is CaseResult.PASSED
    assert memory.figure is not None
    # Else a device that works were taken for one that hangs.
    assert memory.seconds < seconds
    assert 32 <= memory.figure < 640
    assert memory.detail == "640 MiB were to be tested."


@pytest.mark.slow
def test_that_three_replicas_are_tested_pair_by_pair() -> None:
    found = examined_forked("noise", "ReductionToOneDevice", of=profile(3))
    bad = [each for each in found.outcomes if each.result.is_bad]
    assert len(bad) == 8  # two names of it, over all three and over each pair
    first = next(each for each in found.problems if each.severity == "error")
    assert first.message.startswith(
        "Automatic all-reduce sums wrongly over a CPU (CPU:0) and a CPU"
    )
    well = {each.case.all_reduce for each in found.outcomes if not each.result.is_bad}
    assert AllReduce.HIERARCHICAL_COPY in well


@pytest.mark.long
def test_that_a_cancelled_test_ends_at_once_and_is_not_remembered() -> None:
    cancelled = Event()
    begun: list[float] = []

    def hear(news: SelfTestProgress) -> None:
        if news.case is not None and not begun:
            begun.append(time.monotonic())
            cancelled.set()

    found = examined("hang", "ReductionToOneDevice", cancelled=cancelled, on_progress=hear)
    assert time.monotonic() - begun[0] < 5.0
    assert {each.result for each in found.outcomes} == {CaseResult.NOT_DONE}
    assert recall_self_test(CPU_ONLY) is None


@pytest.mark.slow
def test_that_what_time_is_too_short_for_is_not_done_and_tested_the_next_time() -> None:
    found = examined("hang", "ReductionToOneDevice", seconds=5.0)
    assert {each.result for each in found.outcomes} == {CaseResult.NOT_DONE}
    assert not found.is_well
    assert recall_self_test(CPU_ONLY) is None

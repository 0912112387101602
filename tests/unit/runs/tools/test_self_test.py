"""Processes that test devices may die, hang or say nonsense: each is an answer, or a problem."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from gpupanel.domain.data import PythonData
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.memory import LimitedMemory
from gpupanel.domain.problem import Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.self_test import (
    CaseOutcome,
    CaseResult,
    SelfTest,
    SelfTestKind,
    SelfTestProgress,
)
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.planning import self_test as planned
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.runs import self_test_memory
from gpupanel.runs.locations import self_test_file
from gpupanel.runs.readiness import Machine, prepared_on
from gpupanel.runs.self_test_memory import recall_self_test
from gpupanel.runs.tools.self_test import testing as self_test
from gpupanel.runs.tools.self_test.testing import run_self_test, try_devices
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL, sample_with
from tests.fakes.self_test_child import CHILD
from tests.forked.processes import child_processes

MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
GPUS = Profile(devices=DeviceSettings(visible=(RTX_4090.key, RTX_3060.key)), strategy=MIRRORED)
CPUS = Profile(devices=DeviceSettings(visible=(CPU_KEY,), cpu_replicas=2), strategy=MIRRORED)
MACHINE = Machine(TWO_UNEQUAL, sample_with(gpu_4090=2_000, gpu_3060=1_000))
FOUR = DeviceInventory(
    driver="580.65",
    devices=(
        *(RTX_4090.model_copy(update={"key": f"GPU-{n}", "name": f"GPU {n}"}) for n in range(4)),
        CPU_ONLY.devices[0],
    ),
)
FOUR_GPUS = Profile(
    devices=DeviceSettings(visible=tuple(gpu.key for gpu in FOUR.gpus)), strategy=MIRRORED
)


def examined(
    folder: Path,
    code: str = "run()",
    profile: Profile = GPUS,
    machine: Machine = MACHINE,
    news: list[SelfTestProgress] | None = None,
    command: tuple[str, ...] = (),
    **more: object,
) -> SelfTest:
    command = command or (sys.executable, "-c", CHILD + code, str(folder))
    hear = (news if news is not None else []).append
    found = run_self_test(
        profile,
        machine,
        on_progress=hear,
        question=replace(try_devices, command=command),
        **more,
    )
    assert not child_processes()
    return found


def started(folder: Path) -> int:
    return int((folder / "started").read_text()) if (folder / "started").exists() else 0


def bad(test: SelfTest) -> list[CaseOutcome]:
    return list(test.bad)


def hasten(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    for kind in SelfTestKind:
        monkeypatch.setitem(planned._SECONDS, kind, seconds)


def test_that_all_that_passes_is_remembered_with_its_date_and_not_asked_again(
    tmp_path: Path,
) -> None:
    news: list[SelfTestProgress] = []
    before_s = time.time()
    found = examined(tmp_path, news=news)
    assert found.is_well
    assert {each.figure for each in found.outcomes} == {12345.6}
    assert news[-1].done == news[-1].count == len(found.outcomes)
    again = examined(tmp_path)
    assert again.is_remembered
    assert again.outcomes == found.outcomes
    assert before_s - 1.0 <= again.tested_s <= time.time()
    assert started(tmp_path) == 1
    assert not examined(tmp_path, again=True).is_remembered
    assert started(tmp_path) == 2


@pytest.mark.parametrize(
    "other",
    [
        TWO_UNEQUAL.model_copy(update={"driver": "590.00"}),
        TWO_UNEQUAL.model_copy(
            update={
                "devices": (
                    RTX_4090.model_copy(update={"key": "GPU-new"}),
                    *TWO_UNEQUAL.devices[1:],
                )
            }
        ),
    ],
    ids=["driver", "card"],
)
def test_that_it_is_forgotten_with_another_driver_or_card(
    tmp_path: Path, other: DeviceInventory
) -> None:
    examined(tmp_path)
    assert recall_self_test(TWO_UNEQUAL) is not None
    assert recall_self_test(other) is None


def test_that_it_is_forgotten_with_another_tensorflow_or_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examined(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(self_test_memory, "tensorflow_package", lambda: ("tensorflow", "9.9"))
        assert recall_self_test(TWO_UNEQUAL) is None
    other = tmp_path / "machine-id"
    other.write_text("another\n")
    monkeypatch.setattr(self_test_memory, "_MACHINE_ID", other)
    assert recall_self_test(TWO_UNEQUAL) is None


def test_that_a_memory_that_is_damaged_is_as_none_and_is_written_again(tmp_path: Path) -> None:
    examined(tmp_path)
    for content in (b"", b"{", b"\xff" * 100, b'{"entries": [{}]}', b"[" * 100_000, b"0" * 2**23):
        self_test_file().write_bytes(content)
        assert recall_self_test(TWO_UNEQUAL) is None
    whole = tmp_path / "elsewhere"
    self_test_file().unlink()
    whole.write_text("{}")
    self_test_file().symlink_to(whole)
    assert recall_self_test(TWO_UNEQUAL) is None
    assert not examined(tmp_path).is_remembered
    assert recall_self_test(TWO_UNEQUAL) is not None
    assert whole.read_text() == "{}"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tested_s", 1e17),
        ("tested_s", -1.0),
        ("figure", 1e300),
        ("result", "splendid"),
        ("detail", "x" * 10_000),
        ("case", {"all_reduce": None}),
        ("case", {"places": []}),
        ("case", {"kind": "memory"}),
    ],
)
def test_that_a_memory_that_somebody_wrote_cannot_end_a_window(
    tmp_path: Path, key: str, value: object
) -> None:
    examined(tmp_path, "run(lambda case: 'wrong')")
    kept = json.loads(self_test_file().read_text())
    outcome = kept["entries"][0]["outcomes"][0]
    outcome[key] = {**outcome[key], **value} if isinstance(value, dict) else value
    self_test_file().write_text(json.dumps(kept))
    assert recall_self_test(TWO_UNEQUAL) is None
    prepared_on(MACHINE, GPUS, ask_support=lambda *_: None)


def test_that_a_thousand_logical_devices_are_not_a_thousand_steps(tmp_path: Path) -> None:
    many = CPUS.model_copy(
        update={"devices": DeviceSettings(visible=(CPU_KEY,), cpu_replicas=1_000)}
    )
    found = examined(tmp_path, profile=many, machine=Machine(CPU_ONLY))
    assert len(found.outcomes) < 50
    assert len(found.outcomes[0].case.places) == 1_000


def test_that_a_state_folder_that_cannot_be_made_costs_the_note_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GPUPANEL_STATE_DIR", str(tmp_path / "file" / "below"))
    assert examined(tmp_path).is_well
    assert recall_self_test(TWO_UNEQUAL) is None


def test_that_a_full_disk_costs_the_note_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(self_test_memory, "write_whole", refuse)
    assert examined(tmp_path).is_well
    assert recall_self_test(TWO_UNEQUAL) is None


def test_that_a_sum_that_hangs_is_ended_named_and_avoided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasten(monkeypatch, 1.0)
    begin_s = time.monotonic()
    found = examined(tmp_path, "run(lambda case: 'hang' if is_sum(case, 'nccl') else None)")
    assert time.monotonic() - begin_s < 20.0
    assert started(tmp_path) == 2
    (hung,) = bad(found)
    assert (hung.result, hung.case.all_reduce) == (CaseResult.HANGS, AllReduce.NCCL)
    (problem,) = found.problems
    assert problem.message == "NCCL does not answer over RTX 4090 and RTX 3060."
    # The session sums in another way.
    assert problem.severity is Severity.WARNING


def test_that_a_busy_machine_is_given_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasten(monkeypatch, 1.0)
    slow = "run(lambda case: time.sleep(2.0) if is_sum(case, 'nccl') else None)"
    monkeypatch.setattr(self_test.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    assert [each.result for each in bad(examined(tmp_path, slow))] == [CaseResult.HANGS]
    monkeypatch.setattr(self_test.os, "getloadavg", lambda: (1e4, 0.0, 0.0))
    assert not bad(examined(tmp_path, slow, again=True))


def test_that_a_hang_of_what_the_run_uses_has_three_ways_round_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasten(monkeypatch, 1.0)
    wrong = "run(lambda case: 'hang' if is_sum(case, 'auto') or is_sum(case, 'nccl') else None)"
    found = examined(tmp_path, wrong)
    problem = next(each for each in found.problems if each.is_error)
    assert problem.message == "Automatic all-reduce does not answer over RTX 4090 and RTX 3060."
    fixes = (problem.fix, *problem.alternatives)
    assert [fix.label for fix in fixes if fix] == [
        "Use hierarchical copy",
        "Set NCCL_P2P_DISABLE=1",
        "Leave RTX 3060 out",
        "Train on the CPU",
    ]
    # It is a problem before the next start, and each fix is the end of it.
    remembered = recall_self_test(TWO_UNEQUAL)
    assert remembered is not None

    def said(profile: Profile) -> list[str]:
        made = prepare(profile, TWO_UNEQUAL, Known(MACHINE.sample, self_test=remembered))
        assert made.plan is not None
        return [each.message for each in made.problems if each.code.startswith("self_test")]

    assert said(GPUS) == [problem.message]
    for fix in fixes:
        assert fix is not None
        assert said(apply_fix(GPUS, fix)) == []
    without = apply_fix(GPUS, fixes[1])
    plan = prepare(without, TWO_UNEQUAL).plan
    assert plan is not None
    assert plan.environment["NCCL_P2P_DISABLE"] == "1"
    preparation = prepared_on(MACHINE, GPUS, ask_support=lambda *_: None)
    warned = [each for each in preparation.problems if each.code == "self_test_all_reduce"]
    assert [each.severity for each in warned] == [Severity.WARNING]
    assert "Seen by the self-test of" in warned[0].hint


def test_that_peer_to_peer_is_off_in_the_process_that_tests_without(tmp_path: Path) -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, peer_to_peer=False)
    examined(tmp_path)
    examined(tmp_path, profile=GPUS.model_copy(update={"strategy": strategy}))
    first, second = (json.loads((tmp_path / f"{n}.env").read_text()) for n in (0, 1))
    assert "NCCL_P2P_DISABLE" not in first
    assert second["NCCL_P2P_DISABLE"] == "1"
    # Only what it changes is tested again.
    ways = [case["all_reduce"] for case in json.loads((tmp_path / "1.json").read_text())["cases"]]
    assert ways == ["auto", "nccl"]


def test_that_one_wrong_pair_of_four_is_named_and_its_gpu_left_out(tmp_path: Path) -> None:
    code = (
        "def bad(case):\n"
        "    keys = {place['device_key'] for place in case['places']}\n"
        "    if case['all_reduce'] in ('auto', 'nccl') and 'GPU-2' in keys: return 'wrong'\n"
        "run(bad)"
    )
    found = examined(tmp_path, code, FOUR_GPUS, Machine(FOUR))
    problem = next(each for each in found.problems if each.is_error)
    assert problem.message == (
        "Automatic all-reduce sums wrongly over GPU 0 and GPU 2; GPU 1 and GPU 2; GPU 2 and GPU 3."
    )
    labels = [fix.label for fix in (problem.fix, *problem.alternatives) if fix]
    assert "Leave GPU 2 out" in labels
    pairs = {each.case.places for each in found.outcomes if len(each.case.places) == 2}
    assert len(pairs) == 6


def test_that_a_way_that_hangs_twice_is_tried_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasten(monkeypatch, 1.0)
    code = "run(lambda case: 'hang' if is_sum(case, 'nccl') else None)"
    found = examined(tmp_path, code, FOUR_GPUS, Machine(FOUR))
    assert [each.result for each in found.outcomes].count(CaseResult.HANGS) == 2
    left = {each.detail for each in found.not_done}
    assert left == {"NCCL did not answer 2 times before."}
    # What was not tested is the next time, unless it hangs again.
    assert not examined(tmp_path, code, FOUR_GPUS, Machine(FOUR)).is_remembered


def test_that_a_process_that_dies_is_followed_by_another(tmp_path: Path) -> None:
    found = examined(tmp_path, "run(lambda case: 'die' if case['kind'] == 'step' else None)")
    assert [each.result for each in bad(found)] == [CaseResult.DIED] * 2
    assert started(tmp_path) == 3
    assert "signal 9" in bad(found)[0].detail
    assert {each.code for each in found.problems} == {"self_test_step"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sys.exit(3)", "self_test_died"),
        ("print('nonsense'); print('{\"begun\": 7}')", "self_test_died"),
        ("say(ready={}); begin(10**6); end(0); say(ended={})", "self_test_died"),
        ("print('[' * 10**6)", "self_test_died"),
        (
            "say(ended={'problems': [{'code': 'devices_not_configured', 'message': 'No.'}]})",
            "devices_not_configured",
        ),
    ],
)
def test_that_a_process_that_tests_nothing_is_a_problem(
    tmp_path: Path, code: str, expected: str
) -> None:
    found = examined(tmp_path, code)
    assert [each.code for each in found.problems] == [expected]
    assert {each.result for each in found.outcomes} == {CaseResult.NOT_DONE}
    # It was not for lack of time.
    assert {each.detail for each in found.outcomes} == {""}
    assert found.tested_s == 0.0
    assert not found.is_well
    assert recall_self_test(TWO_UNEQUAL) is None


def test_that_a_process_that_never_begins_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_test, "_START_S", 0.5)
    found = examined(tmp_path, "time.sleep(1000)")
    assert [each.code for each in found.problems] == ["self_test_never_ready"]


def test_that_a_command_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    found = examined(tmp_path, command=("/does/not/exist",))
    assert [each.code for each in found.problems] == ["self_test_not_started"]


def test_that_a_cancelled_test_ends_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    cancelled = Event()

    class Stops(list[SelfTestProgress]):
        def append(self, news: SelfTestProgress) -> None:
            if news.case is not None and news.case.kind is SelfTestKind.STEP:
                cancelled.set()

    begin_s = time.monotonic()
    code = "run(lambda case: 'hang' if case['kind'] == 'step' else None)"
    found = examined(tmp_path, code, news=Stops(), cancelled=cancelled)
    assert time.monotonic() - begin_s < 5.0
    # Also what has passed before.
    assert found.tested_something
    assert recall_self_test(TWO_UNEQUAL) is None


def test_that_what_there_is_no_time_for_is_not_done_and_done_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "run(lambda case: 'hang' if case['kind'] == 'memory' and not count else None)"
    monkeypatch.setattr(self_test, "_LEAST_S", 0.1)
    found = examined(tmp_path, code, seconds=2.0)
    assert found.not_done
    assert not bad(found)
    assert {each.detail for each in found.not_done} == {"The time for the self-test was up."}
    done = len(found.outcomes) - len(found.not_done)
    whole = examined(tmp_path, code)
    assert not whole.not_done
    assert len(json.loads((tmp_path / "1.json").read_text())["cases"]) == len(whole.outcomes) - done


def test_that_no_more_memory_is_tested_than_is_free_or_the_limit(tmp_path: Path) -> None:
    limited = GPUS.model_copy(update={"memory": {RTX_3060.key: LimitedMemory(limit_mib=2_048)}})
    examined(tmp_path, profile=limited)
    request = json.loads((tmp_path / "0.json").read_text())
    limits = [device["logical_limits_mib"] for device in request["plan"]["devices"]]
    free = 24_564 - 2_000
    assert limits == [[free - round(0.1 * free) - 500], [2_048]]
    amounts = [case["amount_mib"] for case in request["cases"] if case["kind"] == "memory"]
    assert amounts == [round(0.75 * limits[0][0]), 1_536]
    assert request["plan"]["environment"]["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"


def test_that_a_full_gpu_is_not_tested(tmp_path: Path) -> None:
    machine = Machine(TWO_UNEQUAL, sample_with(gpu_4090=24_000, gpu_3060=1_000))
    found = examined(tmp_path, machine=machine)
    (problem,) = found.problems
    assert problem.message == "Too little memory is free on RTX 4090 to test it."
    assert not found.outcomes
    assert started(tmp_path) == 0


def test_that_code_of_ones_own_is_not_executed(tmp_path: Path) -> None:
    code = GPUS.model_copy(update={"data": PythonData(path="/p.py")})
    found = examined(tmp_path, profile=code)
    assert {each.case.kind for each in found.not_done} == {SelfTestKind.STEP}
    assert found.is_well
    assert examined(tmp_path, profile=code).is_remembered
    cases = json.loads((tmp_path / "0.json").read_text())["cases"]
    assert not [case for case in cases if case["kind"] == "step"]


def test_that_another_model_is_stepped_and_nothing_else_is_repeated(tmp_path: Path) -> None:
    examined(tmp_path)
    mixed = GPUS.training.model_copy(update={"mixed_precision": True})
    examined(tmp_path, profile=GPUS.model_copy(update={"training": mixed}))
    cases = json.loads((tmp_path / "1.json").read_text())["cases"]
    assert {case["kind"] for case in cases} == {"step"}


def test_that_a_run_on_one_device_tests_that_one(tmp_path: Path) -> None:
    one = Profile(devices=DeviceSettings(visible=(RTX_3060.key,)))
    found = examined(tmp_path, profile=one)
    assert [each.case.kind for each in found.outcomes] == ["step", "memory", "transfer"]


def test_that_workers_on_the_cpu_are_tested_as_devices_of_one_process(tmp_path: Path) -> None:
    gang = CPUS.model_copy(update={"strategy": StrategySettings(kind=StrategyKind.MULTI_WORKER)})
    found = examined(tmp_path, profile=gang, machine=Machine(CPU_ONLY))
    assert found.is_well
    assert len(found.outcomes[0].case.places) == 2

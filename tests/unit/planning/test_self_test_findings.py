"""Which outcome of a self-test leads to which problem, and that its fixes avoid what is wrong."""

import time
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import pytest

from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.memory import SplitMemory
from gpupanel.domain.model import SavedModel
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.self_test import (
    CaseOutcome,
    CaseResult,
    SelfTest,
    SelfTestKind,
    SelfTestPlace,
)
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.planning.context import Known, PlanningContext, planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.self_test_findings import SelfTestFinding, self_test_findings
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

BOTH = (RTX_4090.key, RTX_3060.key)
FIRST = SelfTestPlace(device_key=RTX_4090.key, logical_device="/device:GPU:0")
SECOND = SelfTestPlace(device_key=RTX_3060.key, logical_device="/device:GPU:1")
PART = SelfTestPlace(device_key=RTX_4090.key, part=1, logical_device="/device:GPU:1")
CPUS = tuple(
    SelfTestPlace(device_key=CPU_KEY, part=n, logical_device=f"/device:CPU:{n}") for n in range(2)
)
FOUR = DeviceInventory(
    driver="580.65",
    devices=(
        *(RTX_4090.model_copy(update={"key": f"GPU-{n}", "name": f"GPU {n}"}) for n in range(4)),
        CPU,
    ),
)
FOUR_PLACES = tuple(
    SelfTestPlace(device_key=f"GPU-{n}", logical_device=f"/device:GPU:{n}") for n in range(4)
)
MOMENT_S = 1_795_539_900.0
NO_FIX = "A training would learn from wrong gradients, or hang: train on one device."
HAS_FIX = "A training would learn from wrong gradients, or hang: use another way."
NOT_SO = "This session sums in another way: leave it so."
P2P_OFF = "Set NCCL_P2P_DISABLE=1"


@pytest.fixture(autouse=True)
def _in_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def on(
    *visible: str,
    kind: StrategyKind = StrategyKind.MIRRORED,
    inventory: DeviceInventory = TWO_UNEQUAL,
    replicas: int = 1,
    parts: dict[str, Any] | None = None,
    **strategy: Any,
) -> PlanningContext:
    """A session on these devices, or on all GPUs."""
    profile = Profile(
        devices=DeviceSettings(visible=visible, cpu_replicas=replicas),
        strategy=StrategySettings(kind=kind, **strategy),
        **(parts or {}),
    )
    return planning_context(profile, inventory)


def on_cpu(**more: Any) -> PlanningContext:
    return on(CPU_KEY, inventory=CPU_ONLY, replicas=2, **more)


def summed(
    result: CaseResult,
    *places: SelfTestPlace,
    way: AllReduce = AllReduce.AUTO,
    peers: bool = True,
    **more: object,
) -> CaseOutcome:
    case = {
        "kind": SelfTestKind.ALL_REDUCE,
        "places": places or (FIRST, SECOND),
        "all_reduce": way,
        "peer_to_peer": peers,
        "seconds": 1.0,
    }
    return CaseOutcome.model_validate({"case": case, "result": result, **more})


def wrong(*places: SelfTestPlace, **more: Any) -> CaseOutcome:
    return summed(CaseResult.WRONG, *places, **more)


def right(*places: SelfTestPlace, **more: Any) -> CaseOutcome:
    return summed(CaseResult.PASSED, *places, **more)


def of_device(
    kind: SelfTestKind, result: CaseResult, *places: SelfTestPlace, **more: object
) -> CaseOutcome:
    case = {"kind": kind, "places": places, "seconds": 1.0}
    return CaseOutcome.model_validate({"case": case, "result": result, **more})


def only(context: PlanningContext, *outcomes: CaseOutcome) -> SelfTestFinding:
    """The one finding; each fix of it leads to a session that it does not concern."""
    (found,) = self_test_findings(context, outcomes)
    assert found.problem.severity is (Severity.ERROR if found.concerns else Severity.WARNING)
    for fix in offered(found.problem):
        again = self_test_findings(fixed(context, fix), outcomes)
        assert [each.concerns for each in again] == [False], fix.label
    return found


def offered(problem: Problem) -> tuple[Fix, ...]:
    if problem.fix is None:
        assert problem.alternatives == ()
        return ()
    return problem.fix, *problem.alternatives


def labels(found: SelfTestFinding) -> list[str]:
    return [fix.label for fix in offered(found.problem)]


def fixed(context: PlanningContext, fix: Fix) -> PlanningContext:
    mended = context.with_profile(apply_fix(context.profile, fix))
    assert mended.plan is not None
    return mended


def fixed_by(context: PlanningContext, found: SelfTestFinding, label: str) -> Profile:
    (fix,) = (fix for fix in offered(found.problem) if fix.label == label)
    return fixed(context, fix).profile


def pairs_of(places: Sequence[SelfTestPlace]) -> list[tuple[SelfTestPlace, ...]]:
    return list(combinations(places, 2))


def test_that_what_passed_or_was_not_done_is_not_wrong() -> None:
    outcomes = (
        right(),
        summed(CaseResult.NOT_DONE),
        of_device(SelfTestKind.STEP, CaseResult.PASSED, FIRST),
        of_device(SelfTestKind.MEMORY, CaseResult.NOT_DONE, FIRST),
    )
    assert self_test_findings(on(*BOTH), outcomes) == ()
    assert self_test_findings(on(*BOTH), ()) == ()


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (CaseResult.WRONG, "sums wrongly"),
        (CaseResult.NOT_A_NUMBER, "makes sums that are not numbers"),
        (CaseResult.HANGS, "does not answer"),
        (CaseResult.DIED, "ends the process"),
        (CaseResult.FAILED, "fails"),
    ],
)
def test_that_a_bad_sum_of_the_run_is_an_error(result: CaseResult, words: str) -> None:
    found = only(on(*BOTH), summed(result))

    assert found.concerns
    problem = found.problem
    assert (problem.code, problem.field) == ("self_test_all_reduce", "strategy.all_reduce")
    assert problem.message == f"Automatic all-reduce {words} over RTX 4090 and RTX 3060."
    assert problem.hint == HAS_FIX
    assert problem.detail == f"RTX 4090 and RTX 3060: {result.label}"


@pytest.mark.parametrize(
    ("way", "called"),
    [
        (AllReduce.NCCL, "NCCL"),
        (AllReduce.HIERARCHICAL_COPY, "Hierarchical copy"),
        (AllReduce.REDUCTION_TO_ONE_DEVICE, "Reduction to one device"),
    ],
)
def test_that_a_bad_sum_in_a_way_that_was_not_chosen_is_a_warning(
    way: AllReduce, called: str
) -> None:
    found = only(on(*BOTH), wrong(way=way), right())

    assert not found.concerns
    assert found.problem.message == f"{called} sums wrongly over RTX 4090 and RTX 3060."
    assert found.problem.hint == NOT_SO
    assert labels(found) == []
    assert only(on(*BOTH, all_reduce=way), wrong(way=way)).concerns


def test_that_another_way_comes_first_then_nccl_without_peers_then_other_devices() -> None:
    context = on(*BOTH)
    found = only(
        context,
        wrong(),
        right(way=AllReduce.REDUCTION_TO_ONE_DEVICE),
        right(way=AllReduce.HIERARCHICAL_COPY),
        right(way=AllReduce.NCCL),
    )

    assert labels(found) == ["Use NCCL", P2P_OFF, "Leave RTX 3060 out", "Train on the CPU"]
    before = context.profile
    nccl = before.strategy.model_copy(update={"all_reduce": AllReduce.NCCL})
    without = before.strategy.model_copy(update={"peer_to_peer": False})
    alone = before.devices.model_copy(update={"visible": (RTX_4090.key,)})
    cpu = before.devices.model_copy(update={"visible": (CPU_KEY,), "cpu_replicas": 2})
    assert [apply_fix(before, fix) for fix in offered(found.problem)] == [
        before.model_copy(update={"strategy": nccl}),
        before.model_copy(update={"strategy": without}),
        before.model_copy(update={"devices": alone}),
        before.model_copy(update={"devices": cpu}),
    ]


@pytest.mark.parametrize(
    ("way", "label"),
    [
        (AllReduce.HIERARCHICAL_COPY, "Use hierarchical copy"),
        (AllReduce.REDUCTION_TO_ONE_DEVICE, "Use reduction to one device"),
        (AllReduce.AUTO, "Use automatic"),
    ],
)
def test_that_what_sums_rightly_replaces_nccl(way: AllReduce, label: str) -> None:
    context = on(*BOTH, all_reduce=AllReduce.NCCL)
    found = only(context, wrong(way=AllReduce.NCCL), right(way=way))

    assert labels(found)[0] == label
    assert fixed_by(context, found, label).strategy.all_reduce is way
    cpu = fixed_by(context, found, "Train on the CPU")
    assert cpu.strategy.all_reduce is AllReduce.AUTO


@pytest.mark.parametrize(
    "outcomes",
    [
        (summed(CaseResult.NOT_DONE, *FOUR_PLACES[:3], way=AllReduce.NCCL),),
        (right(*FOUR_PLACES[:2], way=AllReduce.NCCL),),
        (
            right(*FOUR_PLACES[:3], way=AllReduce.NCCL),
            right(*FOUR_PLACES, way=AllReduce.NCCL),
            summed(CaseResult.NOT_DONE, *FOUR_PLACES[:3], way=AllReduce.NCCL, peers=False),
        ),
    ],
    ids=["not done", "some devices only", "not all done"],
)
def test_that_a_way_that_was_not_seen_to_be_right_over_all_devices_is_not_offered(
    outcomes: tuple[CaseOutcome, ...],
) -> None:
    context = on("GPU-0", "GPU-1", "GPU-2", inventory=FOUR)
    found = only(context, wrong(*FOUR_PLACES[:3]), *outcomes)

    assert labels(found) == [P2P_OFF]


def test_that_a_way_that_is_wrong_between_some_devices_is_not_offered() -> None:
    context = on("GPU-0", "GPU-1", "GPU-2", inventory=FOUR)
    outcomes = (
        wrong(*FOUR_PLACES[:3]),
        right(*FOUR_PLACES[:3], way=AllReduce.NCCL),
        wrong(*FOUR_PLACES[1:3], way=AllReduce.NCCL),
    )
    auto, nccl = self_test_findings(context, outcomes)

    assert auto.concerns
    assert labels(auto) == [P2P_OFF]
    assert not nccl.concerns


def test_that_a_way_that_was_right_over_more_devices_than_are_used_is_offered() -> None:
    context = on("GPU-0", "GPU-1", "GPU-2", inventory=FOUR)
    found = only(context, wrong(*FOUR_PLACES[:3]), right(*FOUR_PLACES, way=AllReduce.NCCL))

    assert labels(found) == ["Use NCCL", P2P_OFF]


def test_that_the_fastest_of_the_right_ways_is_offered() -> None:
    outcomes = (
        right(way=AllReduce.REDUCTION_TO_ONE_DEVICE),
        right(way=AllReduce.HIERARCHICAL_COPY),
    )
    assert labels(only(on(*BOTH), wrong(), *outcomes))[0] == "Use hierarchical copy"


def test_that_nccl_without_peers_is_not_offered_where_it_has_none_already() -> None:
    context = on(*BOTH, peer_to_peer=False)
    found = only(context, wrong(peers=False))

    assert found.concerns
    assert labels(found) == ["Leave RTX 3060 out", "Train on the CPU"]
    # With peers it is wrong as well, but they are not used.
    assert not only(context, wrong(peers=True)).concerns
    assert not only(on(*BOTH), wrong(peers=False)).concerns


def test_that_copies_do_not_depend_on_what_nccl_may_do() -> None:
    way = AllReduce.HIERARCHICAL_COPY
    found = only(on(*BOTH, all_reduce=way, peer_to_peer=False), wrong(way=way))

    assert found.concerns
    assert labels(found) == ["Leave RTX 3060 out", "Train on the CPU"]


def test_that_each_way_is_a_finding_of_its_own_before_what_devices_do() -> None:
    context = on(*BOTH)
    outcomes = (
        of_device(SelfTestKind.STEP, CaseResult.HANGS, SECOND),
        wrong(way=AllReduce.REDUCTION_TO_ONE_DEVICE),
        wrong(way=AllReduce.NCCL),
        wrong(peers=False),
        wrong(),
        of_device(SelfTestKind.MEMORY, CaseResult.WRONG, FIRST),
        wrong(SECOND, FIRST, way=AllReduce.NCCL),
    )
    found = self_test_findings(context, outcomes)

    assert [each.problem.message for each in found] == [
        "Automatic all-reduce sums wrongly over RTX 4090 and RTX 3060.",
        "Automatic all-reduce sums wrongly over RTX 4090 and RTX 3060.",
        "NCCL sums wrongly over RTX 4090 and RTX 3060; RTX 3060 and RTX 4090.",
        "Reduction to one device sums wrongly over RTX 4090 and RTX 3060.",
        "A training step on RTX 3060 does not answer.",
        "The memory of RTX 4090 gives wrong values.",
    ]
    assert [each.concerns for each in found] == [False, True, False, False, True, True]


def test_that_the_fewest_devices_are_named_and_all_stand_in_the_detail() -> None:
    context = on(*(gpu.key for gpu in FOUR.gpus), inventory=FOUR)
    everywhere = summed(CaseResult.WRONG, *FOUR_PLACES, detail="7 for 10", tested_s=MOMENT_S)
    pair = summed(CaseResult.HANGS, *FOUR_PLACES[1:3])
    found = only(context, everywhere, pair)

    assert found.problem.message == "Automatic all-reduce does not answer over GPU 1 and GPU 2."
    assert found.problem.detail == (
        "GPU 0, GPU 1, GPU 2 and GPU 3, 24 November 2026, 17:05: Wrong values: 7 for 10\n"
        "GPU 1 and GPU 2: No answer"
    )


def test_that_four_pairs_are_named_and_the_others_counted() -> None:
    context = on(*(gpu.key for gpu in FOUR.gpus), inventory=FOUR)
    pairs = pairs_of(FOUR_PLACES)
    four = "GPU 0 and GPU 1; GPU 0 and GPU 2; GPU 0 and GPU 3; GPU 1 and GPU 2"
    found = only(context, *(wrong(*pair) for pair in pairs))

    assert found.problem.message == (
        f"Automatic all-reduce sums wrongly over {four} and 2 more pairs."
    )
    # No single card is in all of them.
    assert labels(found) == [P2P_OFF]
    fewer = self_test_findings(context, [wrong(*pair) for pair in pairs[:4]])
    assert fewer[0].problem.message == f"Automatic all-reduce sums wrongly over {four}."
    (five,) = self_test_findings(context, [wrong(*pair) for pair in pairs[:5]])
    assert f"{four} and 1 more pair." in five.problem.message


def test_that_the_one_card_of_all_wrong_pairs_is_left_out() -> None:
    context = on(*(gpu.key for gpu in FOUR.gpus), inventory=FOUR)
    outcomes = [
        summed(CaseResult.WRONG if FOUR_PLACES[1] in pair else CaseResult.PASSED, *pair)
        for pair in pairs_of(FOUR_PLACES)
    ]
    found = only(context, wrong(*FOUR_PLACES), *outcomes)

    assert labels(found) == [P2P_OFF, "Leave GPU 1 out", "Train on the CPU"]
    left = fixed_by(context, found, "Leave GPU 1 out")
    assert left.devices.visible == ("GPU-0", "GPU-2", "GPU-3")
    assert fixed_by(context, found, "Train on the CPU").devices.cpu_replicas == 4


@pytest.mark.parametrize(
    ("well", "suspect"),
    [((0,), "GPU 1"), ((1,), "GPU 0"), ((0, 1), "GPU 1"), ((), "GPU 1")],
)
def test_that_of_one_wrong_pair_the_card_that_is_right_with_another_is_kept(
    well: tuple[int, ...], suspect: str
) -> None:
    context = on("GPU-0", "GPU-1", "GPU-2", inventory=FOUR)
    outcomes = [right(FOUR_PLACES[number], FOUR_PLACES[2]) for number in well]
    # What is right in another way says nothing of it.
    outcomes += [right(FOUR_PLACES[n], FOUR_PLACES[2], way=AllReduce.NCCL) for n in (0, 1)]
    found = only(context, wrong(*FOUR_PLACES[:2]), *outcomes)

    assert labels(found) == [P2P_OFF, f"Leave {suspect} out", "Train on the CPU"]


def test_that_shares_given_one_by_one_become_equal_with_a_card_fewer() -> None:
    context = on(*BOTH, shares=(48, 16))
    found = only(context, wrong())

    left = fixed_by(context, found, "Leave RTX 3060 out")
    assert (left.devices.visible, left.strategy.shares) == ((RTX_4090.key,), "equal")
    balanced = on(*BOTH, shares="balanced")
    kept = fixed_by(balanced, only(balanced, wrong()), "Leave RTX 3060 out")
    assert kept.strategy.shares == "balanced"


def test_that_no_card_but_the_cpu_is_left_where_parts_of_one_sum_wrongly() -> None:
    context = on(
        RTX_4090.key, parts={"memory": {RTX_4090.key: SplitMemory(split_mib=(2_048, 2_048))}}
    )
    found = only(
        context,
        wrong(FIRST, PART, way=AllReduce.HIERARCHICAL_COPY),
        right(FIRST, PART, way=AllReduce.REDUCTION_TO_ONE_DEVICE),
    )

    assert found.problem.message == (
        "Hierarchical copy sums wrongly over RTX 4090 and RTX 4090 (GPU:1)."
    )
    assert labels(found) == ["Use reduction to one device", "Train on the CPU"]
    cpu = fixed_by(context, found, "Train on the CPU")
    assert (cpu.devices.visible, cpu.devices.cpu_replicas) == ((CPU_KEY,), 2)
    assert cpu.memory == Profile().memory


def test_that_nccl_without_peers_mends_no_sum_over_parts_of_one_card() -> None:
    split = {"memory": {RTX_4090.key: SplitMemory(split_mib=(2_048, 2_048))}}
    strategy = {"kind": StrategyKind.MULTI_WORKER, "all_reduce": AllReduce.NCCL}
    context = on(RTX_4090.key, parts=split, **strategy)
    found = only(context, wrong(FIRST, PART))

    assert found.concerns
    assert labels(found) == ["Sum over a ring", "Train on the CPU"]


def test_that_a_part_that_the_run_does_not_make_concerns_nothing() -> None:
    found = only(on(*BOTH), of_device(SelfTestKind.STEP, CaseResult.WRONG, PART))

    assert found.problem.message == "A training step on RTX 4090 (GPU:1) gives wrong values."
    assert not found.concerns


def test_that_the_cpu_is_not_left_out() -> None:
    context = on_cpu()
    found = only(context, wrong(*CPUS))

    assert found.concerns
    assert found.problem.message == (
        "Automatic all-reduce sums wrongly over a CPU (CPU:0) and a CPU (CPU:1)."
    )
    assert found.problem.hint == NO_FIX
    assert labels(found) == []
    other = AllReduce.REDUCTION_TO_ONE_DEVICE
    assert labels(only(context, wrong(*CPUS), right(*CPUS, way=other))) == [
        "Use reduction to one device"
    ]


def test_that_what_the_cpu_does_wrong_has_no_fix() -> None:
    found = only(on_cpu(), of_device(SelfTestKind.MEMORY, CaseResult.WRONG, CPUS[0]))

    assert found.concerns
    assert found.problem.message == "The memory of a CPU (CPU:0) gives wrong values."
    assert labels(found) == []


def test_that_workers_sum_by_nccl_where_it_was_chosen_and_else_over_a_ring() -> None:
    context = on(*BOTH, kind=StrategyKind.MULTI_WORKER, all_reduce=AllReduce.NCCL)
    found = only(context, wrong(way=AllReduce.NCCL), right(way=AllReduce.HIERARCHICAL_COPY))

    assert found.concerns
    # They cannot sum by copies.
    assert labels(found) == [
        "Sum over a ring",
        P2P_OFF,
        "Leave RTX 3060 out",
        "Train on the CPU",
    ]
    ring = on(*BOTH, kind=StrategyKind.MULTI_WORKER)
    assert fixed_by(context, found, "Sum over a ring") == ring.profile
    assert not only(ring, wrong(way=AllReduce.NCCL)).concerns
    cpu = fixed_by(context, found, "Train on the CPU")
    assert (cpu.strategy.workers, cpu.devices.cpu_replicas) == (2, 2)
    assert not only(context, wrong(way=AllReduce.HIERARCHICAL_COPY)).concerns


def test_that_workers_on_the_cpu_sum_in_a_way_of_their_own() -> None:
    found = only(on_cpu(kind=StrategyKind.MULTI_WORKER), wrong(*CPUS))

    assert not found.concerns
    assert found.problem.hint == NOT_SO


@pytest.mark.parametrize(
    "kind",
    [StrategyKind.ONE_DEVICE, StrategyKind.CENTRAL_STORAGE, StrategyKind.MODEL_PARALLEL],
)
def test_that_sums_do_not_concern_what_sums_nothing_in_a_chosen_way(kind: StrategyKind) -> None:
    found = only(on(*BOTH, kind=kind), wrong())

    assert not found.concerns
    assert labels(found) == []


def test_that_sums_over_cards_that_are_not_chosen_do_not_concern_a_run() -> None:
    context = on("GPU-0", "GPU-1", inventory=FOUR)

    assert not only(context, wrong(*FOUR_PLACES[1:3])).concerns
    assert only(context, wrong(*FOUR_PLACES[:2])).concerns


def test_that_one_wrong_sum_over_chosen_cards_is_enough_to_concern_a_run() -> None:
    context = on("GPU-0", "GPU-1", inventory=FOUR)

    assert only(context, wrong(*FOUR_PLACES[1:3]), wrong(*FOUR_PLACES[:2])).concerns


def test_that_of_a_gpu_and_the_cpu_the_gpu_is_given_up_and_nccl_is_left_alone() -> None:
    context = on(RTX_4090.key, CPU_KEY)
    found = only(context, wrong(FIRST, CPUS[0]))

    assert found.concerns
    assert labels(found) == ["Train on the CPU"]
    assert fixed_by(context, found, "Train on the CPU").devices.visible == (CPU_KEY,)


def test_that_nothing_concerns_a_run_that_cannot_be_planned() -> None:
    context = on(*BOTH, shares=(32, 16, 16))
    assert context.plan is None
    outcomes = (wrong(), of_device(SelfTestKind.TRANSFER, CaseResult.HANGS, SECOND))
    found = self_test_findings(context, outcomes)

    assert [each.concerns for each in found] == [False, False]
    assert [each.problem.severity for each in found] == [Severity.WARNING] * 2


@pytest.mark.parametrize(
    ("kind", "places", "code", "subject", "left_out"),
    [
        (
            SelfTestKind.STEP,
            (FIRST,),
            "self_test_step",
            "A training step on RTX 4090",
            "RTX 4090",
        ),
        (
            SelfTestKind.MEMORY,
            (SECOND,),
            "self_test_memory",
            "The memory of RTX 3060",
            "RTX 3060",
        ),
        (
            SelfTestKind.TRANSFER,
            (FIRST,),
            "self_test_transfer",
            "Copying between the host and RTX 4090",
            "RTX 4090",
        ),
        (
            SelfTestKind.PAIR_TRANSFER,
            (FIRST, SECOND),
            "self_test_pair_transfer",
            "Copying between RTX 4090 and RTX 3060",
            "RTX 3060",
        ),
    ],
)
def test_that_what_a_device_does_wrong_has_its_code_and_leaves_it_out(
    kind: SelfTestKind, places: tuple[SelfTestPlace, ...], code: str, subject: str, left_out: str
) -> None:
    context = on(*BOTH)
    found = only(context, of_device(kind, CaseResult.FAILED, *places))

    problem = found.problem
    assert found.concerns
    assert (problem.code, problem.field) == (code, "devices.visible")
    assert problem.message == f"{subject} fails."
    assert problem.hint == (
        "What is trained with it cannot be relied on: leave the device out, and have it examined."
    )
    assert labels(found) == [f"Leave {left_out} out", "Train on the CPU"]
    kept = {"RTX 4090": RTX_3060.key, "RTX 3060": RTX_4090.key}[left_out]
    left = fixed_by(context, found, f"Leave {left_out} out")
    assert left.devices.visible == (kept,)
    cpu = fixed_by(context, found, "Train on the CPU")
    assert (cpu.devices.visible, cpu.devices.cpu_replicas) == ((CPU_KEY,), 2)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (CaseResult.WRONG, "gives wrong values"),
        (CaseResult.NOT_A_NUMBER, "gives values that are not numbers"),
        (CaseResult.HANGS, "does not answer"),
        (CaseResult.DIED, "ends the process"),
        (CaseResult.FAILED, "fails"),
    ],
)
def test_that_the_words_say_what_a_device_does(result: CaseResult, words: str) -> None:
    outcome = of_device(
        SelfTestKind.STEP, result, SECOND, detail="nan in layer 1", tested_s=MOMENT_S
    )
    problem = only(on(*BOTH), outcome).problem

    assert problem.message == f"A training step on RTX 3060 {words}."
    assert problem.detail == f"RTX 3060, 24 November 2026, 17:05: {result.label}: nan in layer 1"


def test_that_each_case_of_a_device_is_a_finding_of_its_own() -> None:
    outcomes = [of_device(SelfTestKind.STEP, CaseResult.WRONG, each) for each in (FIRST, SECOND)]

    assert [each.problem.message for each in self_test_findings(on(*BOTH), outcomes)] == [
        "A training step on RTX 4090 gives wrong values.",
        "A training step on RTX 3060 gives wrong values.",
    ]


def test_that_the_only_card_is_replaced_by_the_cpu() -> None:
    context = on(RTX_4090.key, kind=StrategyKind.ONE_DEVICE)
    found = only(context, of_device(SelfTestKind.MEMORY, CaseResult.WRONG, FIRST))

    assert labels(found) == ["Train on the CPU"]
    cpu = fixed_by(context, found, "Train on the CPU")
    assert (cpu.devices.visible, cpu.devices.cpu_replicas) == ((CPU_KEY,), 1)


def test_that_a_card_that_is_chosen_but_idle_does_not_concern_a_run() -> None:
    context = on(*BOTH, kind=StrategyKind.ONE_DEVICE)

    assert not only(context, of_device(SelfTestKind.STEP, CaseResult.WRONG, SECOND)).concerns
    assert only(context, of_device(SelfTestKind.STEP, CaseResult.WRONG, FIRST)).concerns


def test_that_every_card_that_layers_are_placed_on_concerns_a_run() -> None:
    context = on(*BOTH, kind=StrategyKind.MODEL_PARALLEL)
    outcome = of_device(SelfTestKind.PAIR_TRANSFER, CaseResult.WRONG, FIRST, SECOND)

    assert only(context, outcome).concerns


def test_that_a_card_that_is_not_chosen_is_not_left_out() -> None:
    found = only(on(RTX_4090.key), of_device(SelfTestKind.STEP, CaseResult.DIED, SECOND))

    assert not found.concerns
    assert found.problem.message == "A training step on RTX 3060 ends the process."
    assert labels(found) == []


def test_that_a_card_that_is_no_longer_here_is_called_by_its_key() -> None:
    gone = SelfTestPlace(device_key="GPU-gone", logical_device="/device:GPU:0")
    found = only(on(*BOTH), of_device(SelfTestKind.STEP, CaseResult.DIED, gone))

    assert not found.concerns
    assert found.problem.message == "A training step on GPU-gone ends the process."
    assert labels(found) == []


def test_that_what_only_predicts_uses_the_cpu_instead() -> None:
    parts = {"task": "predict", "model": SavedModel(path="/model.keras")}
    context = on(*BOTH, parts=parts)
    transfer = of_device(SelfTestKind.TRANSFER, CaseResult.WRONG, SECOND)

    assert labels(only(context, transfer)) == ["Leave RTX 3060 out", "Use the CPU"]
    assert not only(context, wrong()).concerns


def test_that_a_finding_is_a_warning_before_the_start_until_it_is_fixed() -> None:
    profile = on(*BOTH).profile
    outcomes = (wrong(), right(way=AllReduce.NCCL), wrong(way=AllReduce.HIERARCHICAL_COPY))
    test = SelfTest(outcomes=outcomes, tested_s=MOMENT_S)
    said = prepare(profile, TWO_UNEQUAL, Known(self_test=test))
    (problem,) = (each for each in said.problems if each.code == "self_test_all_reduce")

    assert problem.severity is Severity.WARNING
    assert problem.hint == (
        f"{HAS_FIX} Seen by the self-test of 24 November 2026, 17:05; it can be repeated."
    )
    assert said.is_startable
    for fix in offered(problem):
        after = prepare(apply_fix(profile, fix), TWO_UNEQUAL, Known(self_test=test))
        assert after.is_startable, fix.label
        assert "self_test_all_reduce" not in {each.code for each in after.problems}, fix.label

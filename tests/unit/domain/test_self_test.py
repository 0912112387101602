"""What was tested of a machine, what is still true of it, and how it is put in words."""

import time
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.self_test import (
    CaseOutcome,
    CaseResult,
    SelfTest,
    SelfTestCase,
    SelfTestKind,
    SelfTestPlace,
    SelfTestProgress,
    newest,
)
from gpupanel.domain.self_test_text import (
    case_text,
    date_text,
    figure_text,
    place_text,
    places_text,
    progress_text,
    self_test_sentence,
)
from gpupanel.domain.strategy import AllReduce
from tests.fakes.devices import CPU, RTX_3060, RTX_4090

NAMES = {device.key: device.name for device in (RTX_4090, RTX_3060, CPU)}
FIRST = SelfTestPlace(device_key=RTX_4090.key, logical_device="/device:GPU:0")
SECOND = SelfTestPlace(device_key=RTX_3060.key, logical_device="/device:GPU:1")
PART = SelfTestPlace(device_key=RTX_4090.key, part=1, logical_device="/device:GPU:1")
ON_CPU = SelfTestPlace(device_key=CPU_KEY, logical_device="/device:CPU:0")
MOMENT_S = 1_795_539_900.0
MOMENT = "24 November 2026, 17:05"


@pytest.fixture(autouse=True)
def _in_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def case(
    kind: SelfTestKind = SelfTestKind.STEP, *places: SelfTestPlace, **more: object
) -> SelfTestCase:
    given = {"kind": kind, "places": places or (FIRST,), "seconds": 1.0, **more}
    return SelfTestCase.model_validate(given)


def summed(*places: SelfTestPlace, way: AllReduce = AllReduce.AUTO, **more: object) -> SelfTestCase:
    return case(SelfTestKind.ALL_REDUCE, *places, all_reduce=way, **more)


def outcome(result: CaseResult, tested: SelfTestCase | None = None, **more: object) -> CaseOutcome:
    given = {"case": tested or case(), "result": result, **more}
    return CaseOutcome.model_validate(given)


def having(*results: CaseResult, **more: object) -> SelfTest:
    outcomes = tuple(outcome(result) for result in results)
    return SelfTest.model_validate({"outcomes": outcomes, **more})


@pytest.mark.parametrize("result", CaseResult)
def test_that_only_what_passed_or_was_not_done_is_not_bad(result: CaseResult) -> None:
    assert result.is_bad is (result.value not in ("passed", "not_done"))


@pytest.mark.parametrize("kind", SelfTestKind)
def test_that_an_all_reduce_and_nothing_else_says_how_is_summed(kind: SelfTestKind) -> None:
    is_sum = kind is SelfTestKind.ALL_REDUCE
    right, wrong = (AllReduce.NCCL, None) if is_sum else (None, AllReduce.NCCL)

    assert case(kind, FIRST, SECOND, all_reduce=right).all_reduce is right
    with pytest.raises(ValidationError, match="an all-reduce, and nothing else, says how"):
        case(kind, FIRST, SECOND, all_reduce=wrong)


def test_that_a_case_without_a_device_is_none() -> None:
    with pytest.raises(ValidationError, match="places"):
        SelfTestCase(kind=SelfTestKind.STEP, places=(), seconds=1.0)


def test_that_a_case_is_the_same_whatever_tensorflow_calls_its_device() -> None:
    renamed = FIRST.model_copy(update={"logical_device": "/device:GPU:7"})

    assert case(SelfTestKind.MEMORY, renamed, amount_mib=9, seconds=9.0).identity == (
        case(SelfTestKind.MEMORY, FIRST, amount_mib=1).identity
    )


@pytest.mark.parametrize(
    "other",
    [
        summed(FIRST, SECOND, way=AllReduce.NCCL),
        summed(FIRST, SECOND, peer_to_peer=False),
        summed(SECOND, FIRST),
        summed(FIRST, PART),
        summed(FIRST, SECOND, basis="another model"),
        case(SelfTestKind.PAIR_TRANSFER, FIRST, SECOND),
    ],
    ids=["way", "peers", "order", "part", "basis", "kind"],
)
def test_that_a_case_is_another_one_with_what_its_result_depends_on(other: SelfTestCase) -> None:
    assert other.identity != summed(FIRST, SECOND).identity


def test_that_parts_of_one_card_are_tested_each_for_itself() -> None:
    assert case(SelfTestKind.STEP, PART).identity != case(SelfTestKind.STEP, FIRST).identity


def test_that_of_each_case_the_latest_outcome_counts_where_the_case_came_first() -> None:
    memory = case(SelfTestKind.MEMORY)
    early = outcome(CaseResult.WRONG, tested_s=10.0)
    late = outcome(CaseResult.PASSED, tested_s=20.0)
    other = outcome(CaseResult.PASSED, memory, tested_s=5.0)

    assert newest([early, other, late]) == (late, other)
    assert newest([late, other, early]) == (late, other)


def test_that_of_two_outcomes_of_one_moment_the_first_stays() -> None:
    first, second = outcome(CaseResult.PASSED), outcome(CaseResult.HANGS)

    assert newest([first, second]) == (first,)
    assert newest([]) == ()


def test_that_all_that_passed_is_well() -> None:
    test = having(CaseResult.PASSED, CaseResult.NOT_DONE)

    assert test.is_well
    assert test.tested_something
    assert test.bad == ()
    assert test.not_done == (outcome(CaseResult.NOT_DONE),)


def test_that_one_bad_case_is_enough_not_to_be_well() -> None:
    test = having(CaseResult.PASSED, CaseResult.HANGS, CaseResult.WRONG)

    assert not test.is_well
    assert test.tested_something
    assert [each.result for each in test.bad] == [CaseResult.HANGS, CaseResult.WRONG]
    assert test.not_done == ()


@pytest.mark.parametrize("results", [(), (CaseResult.NOT_DONE, CaseResult.NOT_DONE)])
def test_that_where_nothing_was_tested_nothing_is_well(results: tuple[CaseResult, ...]) -> None:
    test = having(*results)

    assert not test.is_well
    assert not test.tested_something
    assert self_test_sentence(test) == "Nothing could be tested."


@pytest.mark.parametrize(
    ("severity", "is_well"), [(Severity.ERROR, False), (Severity.WARNING, True)]
)
def test_that_an_error_is_not_well_and_a_warning_is(severity: Severity, *, is_well: bool) -> None:
    problem = Problem(code="some_code", severity=severity, message="Something is odd.")

    assert having(CaseResult.PASSED, problems=(problem,)).is_well is is_well


def test_that_a_gpu_is_called_by_its_name_and_a_part_of_it_also_by_tensorflows() -> None:
    assert place_text(FIRST, NAMES) == "RTX 4090"
    assert place_text(PART, NAMES) == "RTX 4090 (GPU:1)"
    assert place_text(ON_CPU, NAMES) == "a CPU (CPU:0)"


def test_that_a_device_without_a_name_is_called_by_its_key() -> None:
    assert place_text(FIRST, {}) == "GPU-4090"


def test_that_devices_are_named_one_after_the_other() -> None:
    assert places_text(case(), NAMES) == "RTX 4090"
    assert places_text(summed(FIRST, SECOND), NAMES) == "RTX 4090 and RTX 3060"
    assert places_text(summed(FIRST, SECOND, ON_CPU), NAMES) == (
        "RTX 4090, RTX 3060 and a CPU (CPU:0)"
    )
    assert places_text(summed(FIRST, PART), NAMES) == "RTX 4090 and RTX 4090 (GPU:1)"


def test_that_cards_of_one_name_are_told_apart_by_tensorflows_names() -> None:
    twins = {RTX_4090.key: "RTX 4090", RTX_3060.key: "RTX 4090"}

    assert places_text(summed(FIRST, SECOND), twins) == "RTX 4090 (GPU:0) and RTX 4090 (GPU:1)"
    beside = SECOND.model_copy(update={"logical_device": "/device:GPU:2"})
    assert places_text(summed(FIRST, PART, beside), twins) == (
        "RTX 4090 (GPU:0), RTX 4090 (GPU:1) and RTX 4090 (GPU:2)"
    )


def test_that_more_than_four_devices_are_only_counted() -> None:
    places = [
        SelfTestPlace(device_key=CPU_KEY, part=n, logical_device=f"/device:CPU:{n}")
        for n in range(5)
    ]

    assert places_text(summed(*places[:4]), NAMES) == (
        "a CPU (CPU:0), a CPU (CPU:1), a CPU (CPU:2) and a CPU (CPU:3)"
    )
    assert places_text(summed(*places), NAMES) == "5 devices"


@pytest.mark.parametrize(
    ("tested", "text"),
    [
        (case(SelfTestKind.STEP), "Training step"),
        (case(SelfTestKind.MEMORY), "Memory"),
        (case(SelfTestKind.TRANSFER), "Host to device"),
        (case(SelfTestKind.PAIR_TRANSFER), "Device to device"),
        (summed(way=AllReduce.NCCL), "All-reduce: NCCL"),
        (
            summed(way=AllReduce.AUTO, peer_to_peer=False),
            "All-reduce: Automatic, without peer-to-peer",
        ),
    ],
)
def test_that_a_case_says_what_is_tested(tested: SelfTestCase, text: str) -> None:
    assert case_text(tested) == text


@pytest.mark.parametrize(
    ("tested", "figure", "text"),
    [
        (case(SelfTestKind.MEMORY), 12_345.6, "12,346 MiB"),
        (case(SelfTestKind.STEP), 0.000_123, "differs by 0.0001"),
        (case(SelfTestKind.STEP), 0.0, "the same"),
        (case(SelfTestKind.TRANSFER), 9_876.4, "9,876 MiB/s"),
        (case(SelfTestKind.PAIR_TRANSFER), 0.0, "0 MiB/s"),
        (summed(FIRST, SECOND), 1_000.0, "1,000 MiB/s"),
        (case(SelfTestKind.MEMORY), None, ""),
    ],
)
def test_that_a_figure_has_the_unit_of_its_kind(
    tested: SelfTestCase, figure: float | None, text: str
) -> None:
    assert figure_text(outcome(CaseResult.PASSED, tested, figure=figure)) == text


def test_that_a_moment_is_in_the_time_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert date_text(MOMENT_S) == MOMENT

    monkeypatch.setenv("TZ", "XYZ-9")
    time.tzset()

    assert date_text(MOMENT_S) == "25 November 2026, 02:05"


def test_that_progress_says_what_is_tested_on_which_devices() -> None:
    starting = SelfTestProgress(done=0, count=2)
    testing = SelfTestProgress(done=1, count=2, case=summed(FIRST, SECOND, way=AllReduce.NCCL))

    assert progress_text(starting, NAMES) == "Starting TensorFlow on the devices…"
    assert progress_text(testing, NAMES) == "All-reduce: NCCL on RTX 4090 and RTX 3060…"


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (having(CaseResult.PASSED), "1 of 1 tests passed."),
        (
            having(CaseResult.PASSED, CaseResult.WRONG, CaseResult.DIED),
            "1 of 3 tests passed, 2 failed.",
        ),
        (
            having(CaseResult.PASSED, CaseResult.FAILED, CaseResult.NOT_DONE),
            "1 of 3 tests passed, 1 failed, 1 not done.",
        ),
        (having(CaseResult.PASSED, is_remembered=True), "1 of 1 tests passed."),
        (
            having(CaseResult.PASSED, tested_s=MOMENT_S),
            f"1 of 1 tests passed. Tested on {MOMENT}.",
        ),
        (
            having(CaseResult.PASSED, CaseResult.NOT_DONE, tested_s=MOMENT_S, is_remembered=True),
            (
                f"1 of 2 tests passed, 1 not done. Tested on {MOMENT}, "
                "with the same driver, devices and TensorFlow."
            ),
        ),
    ],
)
def test_that_a_self_test_is_one_sentence_or_two(test: SelfTest, text: str) -> None:
    assert self_test_sentence(test) == text

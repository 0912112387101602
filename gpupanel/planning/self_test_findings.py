"""What a self-test says is wrong, as problems with what avoids it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import (
    CaseOutcome,
    CaseResult,
    SelfTestCase,
    SelfTestKind,
)
from gpupanel.domain.self_test_text import date_text, places_text
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.context import PlanningContext
from gpupanel.planning.device_fixes import on_the_cpu

_BY_NCCL: Final = (AllReduce.AUTO, AllReduce.NCCL)
_FASTEST_FIRST: Final = (
    AllReduce.NCCL,
    AllReduce.HIERARCHICAL_COPY,
    AllReduce.REDUCTION_TO_ONE_DEVICE,
    AllReduce.AUTO,
)
_SUM_WORDS: Final = {
    CaseResult.WRONG: "sums wrongly",
    CaseResult.NOT_A_NUMBER: "makes sums that are not numbers",
    CaseResult.HANGS: "does not answer",
    CaseResult.DIED: "ends the process",
    CaseResult.FAILED: "fails",
}
_CODES: Final = {
    SelfTestKind.STEP: "self_test_step",
    SelfTestKind.MEMORY: "self_test_memory",
    SelfTestKind.TRANSFER: "self_test_transfer",
    SelfTestKind.PAIR_TRANSFER: "self_test_pair_transfer",
}
_SUBJECTS: Final = {
    SelfTestKind.STEP: "A training step on {}",
    SelfTestKind.MEMORY: "The memory of {}",
    SelfTestKind.TRANSFER: "Copying between the host and {}",
    SelfTestKind.PAIR_TRANSFER: "Copying between {}",
}
_OTHER_WORDS: Final = {
    CaseResult.WRONG: "gives wrong values",
    CaseResult.NOT_A_NUMBER: "gives values that are not numbers",
    CaseResult.HANGS: "does not answer",
    CaseResult.DIED: "ends the process",
    CaseResult.FAILED: "fails",
}


@dataclass(frozen=True, slots=True)
class SelfTestFinding:
    """One thing that is wrong.

    Attributes:
        problem: In words, with what avoids it.
        concerns: Whether the run would do what was seen to be wrong.
    """

    problem: Problem
    concerns: bool


def self_test_findings(
    context: PlanningContext, outcomes: Sequence[CaseOutcome]
) -> tuple[SelfTestFinding, ...]:
    """What is wrong, the sums first; each way to sum once, each other case of its own."""
    bad = [each for each in outcomes if each.result.is_bad]
    sums = [each for each in bad if each.case.all_reduce is not None]
    found = [_of_sums(context, group, outcomes) for group in _by_way(sums)]
    others = [each for each in bad if each.case.all_reduce is None]
    found += [_of_device(context, each) for each in others]
    return tuple(found)


def _by_way(sums: Iterable[CaseOutcome]) -> Iterator[list[CaseOutcome]]:
    def way(outcome: CaseOutcome) -> tuple[str, bool]:
        return str(outcome.case.all_reduce), outcome.case.peer_to_peer

    for _, group in groupby(sorted(sums, key=way), way):
        yield list(group)


def _of_sums(
    context: PlanningContext, bad: list[CaseOutcome], outcomes: Sequence[CaseOutcome]
) -> SelfTestFinding:
    way = bad[0].case.all_reduce or AllReduce.AUTO
    # The fewest devices say most about where it is.
    fewest = min(len(each.case.places) for each in bad)
    narrow = [each for each in bad if len(each.case.places) == fewest]
    where = "; ".join(places_text(each.case, _names(context)) for each in narrow[:4])
    rest = len(narrow) - 4
    more = f" and {rest} more pair{'s' if rest > 1 else ''}" if rest > 0 else ""
    first = narrow[0]
    called = f"{way.label} all-reduce" if way is AllReduce.AUTO else way.label
    concerns = any(_sums_so(context, each.case) for each in bad)
    fixes = tuple(_sum_fixes(context, bad, outcomes)) if concerns else ()
    return SelfTestFinding(
        Problem(
            code="self_test_all_reduce",
            severity=Severity.ERROR if concerns else Severity.WARNING,
            field="strategy.all_reduce",
            message=f"{called} {_SUM_WORDS[first.result]} over {where}{more}.",
            hint=_sum_hint(concerns=concerns, has_fix=bool(fixes)),
            detail=_detail(bad, context),
            fix=fixes[0] if fixes else None,
            alternatives=fixes[1:],
        ),
        concerns,
    )


def _sum_hint(*, concerns: bool, has_fix: bool) -> str:
    if not concerns:
        return "This session sums in another way: leave it so."
    if has_fix:
        return "A training would learn from wrong gradients, or hang: use another way."
    return "A training would learn from wrong gradients, or hang: train on one device."


def _sum_fixes(
    context: PlanningContext, bad: list[CaseOutcome], outcomes: Sequence[CaseOutcome]
) -> Iterator[Fix]:
    profile, way = context.profile, bad[0].case.all_reduce
    other = _other_way(context, outcomes)
    if other is not None:
        yield Fix.of(
            f"Use {other.label.lower() if other is not AllReduce.NCCL else other.label}",
            "strategy.all_reduce",
            other.value,
        )
    if profile.strategy.kind is StrategyKind.MULTI_WORKER:
        yield Fix.of("Sum over a ring", "strategy.all_reduce", AllReduce.AUTO.value)
    by_nccl = way in _BY_NCCL and not any(
        place.device_key == CPU_KEY or place.part for each in bad for place in each.case.places
    )
    if by_nccl and profile.strategy.peer_to_peer:
        label = "Set NCCL_P2P_DISABLE=1"
        yield Fix.of(label, "strategy.peer_to_peer", value=False)
    suspect = _suspect(bad, outcomes)
    if suspect is not None:
        yield from _leave_out(context, suspect)


def _other_way(context: PlanningContext, outcomes: Sequence[CaseOutcome]) -> AllReduce | None:
    """A way that is right over all devices of the run, wherever it was tested."""
    if context.profile.strategy.kind is not StrategyKind.MIRRORED or context.plan is None:
        return None
    used = _used(context.plan)
    for way in _FASTEST_FIRST:
        of_way = [each for each in outcomes if each.case.all_reduce is way]
        whole = [each for each in of_way if used <= _parts(each.case)]
        is_right = bool(whole) and all(each.result is CaseResult.PASSED for each in whole)
        if is_right and not any(each.result.is_bad for each in of_way):
            return way
    return None


def _suspect(bad: list[CaseOutcome], outcomes: Sequence[CaseOutcome]) -> str | None:
    """The one GPU that is in everything that is wrong, while another pair sums rightly."""
    way = bad[0].case.all_reduce
    pairs = [each for each in bad if len(each.case.places) == 2]
    if not pairs:
        return None
    common = set.intersection(*({key for key, _ in _parts(each.case)} for each in pairs))
    common.discard(CPU_KEY)
    if len(common) == 1:
        return common.pop()
    well = {
        key
        for each in outcomes
        if each.case.all_reduce is way and each.result is CaseResult.PASSED
        for key, _ in _parts(each.case)
    }
    in_order = [place.device_key for place in pairs[0].case.places if place.device_key in common]
    suspects = [key for key in in_order if key not in well] or in_order
    return suspects[-1] if suspects else None


def _of_device(context: PlanningContext, outcome: CaseOutcome) -> SelfTestFinding:
    case = outcome.case
    where = places_text(case, _names(context))
    subject = _SUBJECTS[case.kind].format(where)
    concerns = context.plan is not None and _parts(case) <= _used(context.plan)
    fixes = tuple(_leave_out(context, case.places[-1].device_key))
    return SelfTestFinding(
        Problem(
            code=_CODES[case.kind],
            field="devices.visible",
            severity=Severity.ERROR if concerns else Severity.WARNING,
            message=f"{subject} {_OTHER_WORDS[outcome.result]}.",
            hint="What is trained with it cannot be relied on: leave the device out, and have it "
            "examined.",
            detail=_detail([outcome], context),
            fix=fixes[0] if fixes else None,
            alternatives=fixes[1:],
        ),
        concerns,
    )


def _leave_out(context: PlanningContext, key: str) -> Iterator[Fix]:
    profile = context.profile
    device = context.inventory.device(key)
    if device is None or device not in context.gpus:
        return
    others = [gpu.key for gpu in context.gpus if gpu.key != key]
    if others:
        yield _without(profile, device.name, others)
    yield on_the_cpu(profile, tuple(gpu.key for gpu in context.gpus))


def _without(profile: Profile, name: str, others: list[str]) -> Fix:
    changes = [Change(path=("devices", "visible"), value=others)]
    if isinstance(profile.strategy.shares, tuple):
        # They were given replica by replica.
        changes.append(Change(path=("strategy", "shares"), value="equal"))
    return Fix(label=f"Leave {name} out", changes=tuple(changes))


def _sums_so(context: PlanningContext, case: SelfTestCase) -> bool:
    """Whether the run would sum so over these devices."""
    plan = context.plan
    if plan is None or not context.sums_gradients or not _parts(case) <= _used(plan):
        return False
    on_cpu = any(place.device_key == CPU_KEY for place in case.places)
    by_nccl = case.all_reduce in _BY_NCCL and not on_cpu
    if by_nccl and case.peer_to_peer != context.profile.strategy.peer_to_peer:
        return False
    if plan.processes:
        # Processes sum by NCCL, or over a ring of their own, which one process cannot test.
        return by_nccl and plan.all_reduce is AllReduce.NCCL
    return case.all_reduce is plan.all_reduce


def _parts(case: SelfTestCase) -> set[tuple[str, int]]:
    return {(place.device_key, place.part) for place in case.places}


def _used(plan: LaunchPlan) -> set[tuple[str, int]]:
    """The logical devices of a run, each with its number within its physical device."""
    keys = [place.device_key for place in plan.places] or [
        replica.device_key for replica in plan.replicas
    ]
    counts: Counter[str] = Counter()
    used = set()
    for key in keys:
        used.add((key, counts[key]))
        counts[key] += 1
    return used


def _names(context: PlanningContext) -> dict[str, str]:
    return {device.key: device.name for device in context.inventory.devices}


def _detail(outcomes: list[CaseOutcome], context: PlanningContext) -> str:
    lines = []
    for each in outcomes:
        where = places_text(each.case, _names(context))
        when = f", {date_text(each.tested_s)}" if each.tested_s else ""
        seen = f": {each.detail}" if each.detail else ""
        lines.append(f"{where}{when}: {each.result.label}{seen}")
    return "\n".join(lines)

"""What was tested of a machine before a long run: each case, what came of it, and its figure."""

from collections.abc import Iterable
from typing import Annotated, Final, Self

from pydantic import Field, model_validator

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce
from gpupanel.domain.value import MOST_PLACES, Count, Value

STEP_TOLERANCE: Final = 1e-3
"""By so much, relative to its norm, the update of a step in float32 may differ between devices.
What differs is the order of sums: some 1e-6 of a small network, 1e-4 of a deep one."""
MIXED_STEP_TOLERANCE: Final = 5e-2
"""The same with bfloat16, whose 8 bits round each number by up to 4e-3."""
MOST_CASES: Final = 4_096

_Text = Annotated[str, Field(max_length=2_000)]
_Key = Annotated[str, Field(max_length=200)]
_Amount = Annotated[float, Field(ge=0.0, le=1e12)]
_Moment = Annotated[float, Field(ge=0.0, le=2e11)]
"""Seconds since 1970, up to a year that a calendar still knows."""


class SelfTestKind(ChoiceEnum):
    """What can be tested."""

    ALL_REDUCE = "all_reduce", "All-reduce", "Known numbers are summed over replicas."
    STEP = "step", "Training step", "A step of the model is compared with the CPU's."
    MEMORY = "memory", "Memory", "Patterns are written to free memory and read again."
    TRANSFER = "transfer", "Host to device", "Numbers are copied to the device and back."
    PAIR_TRANSFER = "pair_transfer", "Device to device", "Numbers are copied in both directions."


class CaseResult(ChoiceEnum):
    """What came of a case."""

    PASSED = "passed", "OK"
    WRONG = "wrong", "Wrong values"
    NOT_A_NUMBER = "not_a_number", "Not a number"
    HANGS = "hangs", "No answer"
    DIED = "died", "Process died"
    FAILED = "failed", "Failed"
    NOT_DONE = "not_done", "Not done"

    @property
    def is_bad(self) -> bool:
        """Whether something is wrong with what was tested."""
        return self not in (CaseResult.PASSED, CaseResult.NOT_DONE)


class SelfTestPlace(Value):
    """A logical device that takes part.

    Attributes:
        device_key: The physical device.
        part: Which of its logical devices, counted from 0.
        logical_device: TensorFlow's name of it in the process that tests.
    """

    device_key: _Key
    part: Count = 0
    logical_device: _Key


class SelfTestCase(Value):
    """One test.

    Attributes:
        places: The logical devices, in the order of the plan.
        all_reduce: How is summed; of an all-reduce only.
        peer_to_peer: Whether NCCL may hand data from GPU to GPU directly.
        amount_mib: How much memory is tested at most; of memory only.
        basis: A digest of what else a result depends on: the model, of a step.
        seconds: After so long without an answer it is taken to hang.
    """

    kind: SelfTestKind
    places: Annotated[tuple[SelfTestPlace, ...], Field(min_length=1, max_length=MOST_PLACES)]
    all_reduce: AllReduce | None = None
    peer_to_peer: bool = True
    amount_mib: Count = 0
    basis: _Key = ""
    seconds: _Amount

    @model_validator(mode="after")
    def _only_sums_have_a_way(self) -> Self:
        if (self.all_reduce is None) is (self.kind is SelfTestKind.ALL_REDUCE):
            raise ValueError("an all-reduce, and nothing else, says how is summed")
        return self

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes a later test the same as this one."""
        places = tuple((place.device_key, place.part) for place in self.places)
        return self.kind, places, self.all_reduce, self.peer_to_peer, self.basis


class CaseOutcome(Value):
    """What came of a case.

    Attributes:
        figure: MiB a second of a sum or copy, MiB of tested memory, or by how much a step differs;
            ``None``: there is none.
        seconds: How long it took.
        detail: What was seen, in words.
        tested_s: When, in seconds since 1970.
    """

    case: SelfTestCase
    result: CaseResult
    figure: _Amount | None = None
    seconds: _Amount = 0.0
    detail: _Text = ""
    tested_s: _Moment = 0.0


class SelfTestRequest(Value):
    """What one process tests, one case after the other.

    Attributes:
        profile: Whose model is trained for a step; a path in it is absolute.
        plan: Of one process; it has every logical device of the cases.
    """

    profile: Profile
    plan: LaunchPlan
    cases: tuple[SelfTestCase, ...]


class ReadySelfTest(Value):
    """The process has its devices."""


class BegunCase(Value):
    """What is tested now: a number in the request's cases."""

    number: Count


class EndedCase(Value):
    """What came of a case; as :class:`CaseOutcome`."""

    number: Count
    result: CaseResult
    figure: _Amount | None = None
    seconds: _Amount = 0.0
    detail: _Text = ""


class EndedSelfTest(Value):
    """Nothing more is tested.

    Attributes:
        problems: Why nothing could be.
    """

    problems: tuple[Problem, ...] = ()


class SelfTestProgress(Value):
    """How far it is.

    Attributes:
        case: What is tested now; ``None``: a process is starting.
    """

    done: Count
    count: Count
    case: SelfTestCase | None = None


class SelfTest(Value):
    """All that is known of tests of a machine.

    Attributes:
        outcomes: One for each case.
        problems: What is wrong, with its fixes, or why nothing could be tested.
        tested_s: When it was tested last, in seconds since 1970; 0: never.
        is_remembered: Whether that was before, and it was not tested again now.
    """

    outcomes: tuple[CaseOutcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    tested_s: _Moment = 0.0
    is_remembered: bool = False

    @property
    def is_well(self) -> bool:
        """Whether something was tested, and all that was is well."""
        tested = any(each.result is CaseResult.PASSED for each in self.outcomes)
        return tested and not self.bad and not any(each.is_error for each in self.problems)

    @property
    def tested_something(self) -> bool:
        """Whether there is a case that was not left undone."""
        return len(self.not_done) < len(self.outcomes)

    @property
    def bad(self) -> tuple[CaseOutcome, ...]:
        """The cases that something is wrong with."""
        return tuple(each for each in self.outcomes if each.result.is_bad)

    @property
    def not_done(self) -> tuple[CaseOutcome, ...]:
        """The cases that were not tested."""
        return tuple(each for each in self.outcomes if each.result is CaseResult.NOT_DONE)


def newest(outcomes: Iterable[CaseOutcome]) -> tuple[CaseOutcome, ...]:
    """Of each case the latest outcome; in the order in which the cases come first."""
    latest: dict[tuple[object, ...], CaseOutcome] = {}
    for each in outcomes:
        known = latest.get(each.case.identity)
        if known is None or each.tested_s > known.tested_s:
            latest[each.case.identity] = each
    return tuple(latest.values())

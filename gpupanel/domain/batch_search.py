"""How many examples a device really takes: the question to the trying process, and its search.

Which number is tried next is a function of what was tried before, so that a process that dies of
one leaves nothing to guess: the next process goes on from the same trials.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.value import Count, PositiveInt, Value

_GRAIN_BITS = 4
"""Numbers differ by 1 part in 8 to 16: less decides nothing that a run would notice."""
_FIRST_REACH = 16
"""Beyond the first number that fits, the search reaches by 1/8 of it, then 1/4, then 1/2."""

_Amount = Annotated[float, Field(ge=0.0)]


class BatchTrial(Value):
    """Some steps of training with one number of examples.

    Attributes:
        examples: Of a step on one replica, all its micro-batches together.
        fits: Whether the memory was enough.
        step_seconds: Of one step, the median; ``None`` where it does not fit.
        examples_per_second: What follows from that.
        peak_mib: The most that a step held of what TensorFlow's allocator gives, beside weights,
            what the optimizer keeps and data; ``None`` where that is not known.
    """

    examples: PositiveInt
    fits: bool
    step_seconds: _Amount | None = None
    examples_per_second: _Amount | None = None
    peak_mib: _Amount | None = None


class SearchEnd(StrEnum):
    """Why no more was tried."""

    FOUND = "found"
    """One that fits and one that does not are as near as they need be."""
    ALL_EXAMPLES = "all_examples"
    """Even the whole data set fits."""
    NOTHING_FITS = "nothing_fits"
    """Not even one example does."""
    TIME = "time"
    """The time for it was up: what was found may be too little."""
    DISTURBED = "disturbed"
    """Another process took memory of the device."""
    OUT_OF_MEMORY = "out_of_memory"
    """Of one process: another one continues, with memory that nothing has used before."""
    FAILED = "failed"
    """For a reason that has nothing to do with how many examples there are."""


class BatchSearchRequest(Value):
    """What one process tries, on one device.

    Attributes:
        profile: What is trained; a path in it is absolute.
        plan: Of one replica, on that device alone.
        first: How many examples are said to fit.
        most: More are not tried, nor are more than the training examples.
        trials: What other processes have tried on that device.
        seconds: How long it may take.
        memory_limit_bytes: What the process may take of the host's memory beside what TensorFlow
            has taken when it was imported; ``None``: the plan limits the memory of a GPU.
    """

    profile: Profile
    plan: LaunchPlan
    first: PositiveInt
    most: PositiveInt
    trials: tuple[BatchTrial, ...] = ()
    seconds: Annotated[float, Field(gt=0.0)]
    memory_limit_bytes: Annotated[int, Field(gt=0)] | None = None


class BegunTrial(Value):
    """What is tried now.

    Attributes:
        examples: As of :class:`BatchTrial`.
    """

    examples: PositiveInt


class EndedSearch(Value):
    """How one process ended.

    Attributes:
        end: Why it tries no more.
        example_count: How many training examples there are.
        problems: Why it failed.
    """

    end: SearchEnd
    example_count: Count = 0
    problems: tuple[Problem, ...] = ()


def most_that_fit(trials: Sequence[BatchTrial]) -> int:
    """The largest number that was seen to fit, below all that were not; 0: none was."""
    over = least_that_does_not(trials)
    fitting = (each.examples for each in trials if each.fits)
    return max((each for each in fitting if over is None or each < over), default=0)


def least_that_does_not(trials: Sequence[BatchTrial]) -> int | None:
    """The least number that was too large; ``None``: none was."""
    return min((each.examples for each in trials if not each.fits), default=None)


def next_examples(first: int, most: int, trials: Sequence[BatchTrial]) -> int | None:
    """What to try next; ``None``: nothing more is to be found.

    A quarter, a half and all of what is said to fit, which shows how the speed grows; then further
    and further beyond it until one does not fit; then between the two.

    Args:
        first: How many are said to fit.
        most: How many there are.
        trials: What was tried.
    """
    first = min(first, most)
    fits, over = most_that_fit(trials), least_that_does_not(trials)
    if over is not None:
        return _between(fits, over)
    if not fits:
        return max(1, first // 4)
    if fits >= most:
        return None
    if fits < first:
        return min(2 * fits, first)
    beyond = sum(each.examples >= first for each in trials)
    reach = min(2**beyond, _FIRST_REACH)
    return min(max(_grained(fits + fits * reach // _FIRST_REACH), fits + 1), most)


def search_end(most: int, trials: Sequence[BatchTrial]) -> SearchEnd:
    """Why nothing more is to be found, where :func:`next_examples` says so."""
    fits = most_that_fit(trials)
    if not fits:
        return SearchEnd.NOTHING_FITS
    return SearchEnd.ALL_EXAMPLES if fits >= most else SearchEnd.FOUND


def _between(fits: int, over: int) -> int | None:
    if not fits:
        # What was said to fit is far from true.
        return over // 2 or None
    middle = _grained((fits + over) // 2, fits)
    if middle <= fits:
        middle += _grain(fits)
    return middle if middle < over else None


def _grained(examples: int, beside: int | None = None) -> int:
    grain = _grain(examples if beside is None else beside)
    return examples // grain * grain


def _grain(examples: int) -> int:
    return int(2 ** max(0, examples.bit_length() - _GRAIN_BITS))

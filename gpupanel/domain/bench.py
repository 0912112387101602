"""How fast a training is with each device alone and with all, measured by training some steps."""

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from gpupanel.domain.batch_fit import NEARLY_AS_FAST
from gpupanel.domain.number_text import rate
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.time_spent import TimeSpent
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import PlaceCount, Value

MOST_CANDIDATES: Final = 64
"""More devices than that are in no workstation."""
Speed = Annotated[float, Field(gt=0.0, le=1e15)]
"""Examples a second."""


class BenchDivision(StrEnum):
    """How a candidate divides each global batch."""

    ALONE = "alone"
    """One device takes all of it."""
    EQUAL = "equal"
    BALANCED = "balanced"
    CHOSEN = "chosen"
    """The profile's own settings, where they equal no other candidate."""


class BenchCandidate(Value):
    """What of a profile a candidate has of its own.

    Attributes:
        device_keys: The physical devices that work.
        replicas: Copies of the model.
        variant: What differs from the profile beside devices and shares: "with XLA"; may be empty.
        visible: These and those below stand in the profile's keys of that name.
    """

    division: BenchDivision
    device_keys: Annotated[tuple[str, ...], Field(min_length=1, max_length=1024)]
    replicas: PlaceCount = 1
    variant: str = ""
    visible: tuple[str, ...]
    cpu_replicas: PlaceCount = 1
    strategy: StrategySettings
    jit_compile: bool = False
    mixed_precision: bool = False

    def name(self, device: str) -> str:
        """What it is called.

        Args:
            device: What its first device is called.
        """
        several = "all" if len(self.device_keys) > 1 else f"{self.replicas} replicas"
        names = {
            BenchDivision.ALONE: f"{device} alone",
            BenchDivision.EQUAL: f"{several}, equal shares",
            BenchDivision.BALANCED: f"{several}, balanced",
            BenchDivision.CHOSEN: "as in the profile",
        }
        return ", ".join(filter(None, (names[self.division], self.variant)))

    def applied(self, profile: Profile) -> Profile:
        """The profile that trains so."""
        devices = {"visible": self.visible, "cpu_replicas": self.cpu_replicas}
        training = {"jit_compile": self.jit_compile, "mixed_precision": self.mixed_precision}
        return profile.model_copy(
            update={
                "devices": profile.devices.model_copy(update=devices),
                "strategy": self.strategy,
                "training": profile.training.model_copy(update=training),
            }
        )


class BenchResult(Value):
    """What was measured of a candidate.

    Attributes:
        name: What the candidate is called.
        examples_per_second: The median of its runs; ``None``: none made its steps.
        speeds: Of each run.
        spread: The greatest of them less the least, as a fraction of the median; ``None``: there
            was one.
        steps: That were measured, of all runs.
        efficiency: The speed as a fraction of the sum of what its devices reach alone, in the same
            way; ``None``: not all of these are known.
        shares: Of the replicas at the end.
        time_spent: Where the time of the measured steps went; ``None``: nobody said it.
        problem: Why a run of it did not make its steps.
    """

    candidate: BenchCandidate
    name: Annotated[str, Field(max_length=1000)]
    examples_per_second: Speed | None = None
    speeds: Annotated[tuple[Speed, ...], Field(max_length=100)] = ()
    spread: Annotated[float, Field(ge=0.0)] | None = None
    steps: int = 0
    efficiency: Annotated[float, Field(ge=0.0)] | None = None
    shares: tuple[int, ...] = ()
    time_spent: TimeSpent | None = None
    problem: Problem | None = None


class LeftOut(Value):
    """A candidate that this machine or the rules refuse, and why."""

    name: str
    problem: Problem


class BenchFailure(Value):
    """A problem, and the names of the candidates that met it."""

    names: tuple[str, ...]
    problem: Problem

    @property
    def sentence(self) -> str:
        """Which ones they are."""
        return f"Failed: {'; '.join(self.names)}."


class Bench(Value):
    """What was measured.

    Attributes:
        results: In the order in which they were tried first: each device alone, all, then variants
            of the fastest.
        left_out: What could not be tried.
        measured_s: When it ended, in seconds since the epoch (UTC); 0: nothing was measured.
        seconds: How long it took.
        problems: Why nothing could be tried.
    """

    results: Annotated[tuple[BenchResult, ...], Field(max_length=MOST_CANDIDATES)] = ()
    left_out: Annotated[tuple[LeftOut, ...], Field(max_length=MOST_CANDIDATES)] = ()
    measured_s: float = 0.0
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()

    @property
    def fastest(self) -> BenchResult | None:
        """The fastest one; of nearly equal ones the first, which is the simplest."""
        return fastest_of(self.results)

    @property
    def failures(self) -> tuple[BenchFailure, ...]:
        """What kept candidates from making their steps; what several met once."""
        problems = dict.fromkeys(each.problem for each in self.results if each.problem is not None)
        return tuple(
            BenchFailure(
                names=tuple(each.name for each in self.results if each.problem == problem),
                problem=problem,
            )
            for problem in problems
        )


class BenchProgress(Value):
    """How far it is.

    Attributes:
        name: The candidate that is tried.
        number: Counted from 1, among all runs that are known to be made.
        of: How many these are; variants come on top when the fastest division is known.
        doing: What its run does.
        results: What is known by now.
    """

    name: str
    number: int
    of: int
    doing: str = ""
    results: tuple[BenchResult, ...] = ()


def bench_request(profile: Profile) -> Profile:
    """What a comparison depends on: the same for any name, learning rate and number of epochs."""
    plain = TrainingSettings()
    unused = ("learning_rate", "schedule", "epochs", "seed")
    training = profile.training.model_copy(update={each: getattr(plain, each) for each in unused})
    return profile.model_copy(update={"name": "any", "training": training})


def fastest_of(results: tuple[BenchResult, ...]) -> BenchResult | None:
    """The fastest one; of nearly equal ones the first."""
    speeds = [result.examples_per_second for result in results if result.examples_per_second]
    if not speeds:
        return None
    enough = NEARLY_AS_FAST * max(speeds)
    return next(each for each in results if (each.examples_per_second or 0.0) >= enough)


def with_efficiency(results: tuple[BenchResult, ...]) -> tuple[BenchResult, ...]:
    """The results, each held against what its devices reach alone.

    With XLA or mixed precision the devices alone were not tried: a variant is held against the
    devices alone as the profile has them, so that more than 1 is what the variant gains.
    """
    alone = {
        result.candidate.device_keys[0]: result.examples_per_second
        for result in reversed(results)
        if result.candidate.division is BenchDivision.ALONE and not result.candidate.variant
    }
    found = []
    for result in results:
        reached = [alone.get(key) for key in result.candidate.device_keys]
        known = [speed for speed in reached if speed]
        efficiency = None
        if result.examples_per_second and len(known) == len(reached):
            efficiency = result.examples_per_second / sum(known)
        found.append(result.model_copy(update={"efficiency": efficiency}))
    return tuple(found)


def bench_sentence(found: Bench) -> str:
    """What was found, in a sentence or two."""
    fastest = found.fastest
    if fastest is None:
        return "No speed could be measured."
    words = f"The fastest is {fastest.name}, with {rate(fastest.examples_per_second)}."
    best = max(each.examples_per_second or 0.0 for each in found.results)
    if best > (fastest.examples_per_second or 0.0):
        words += " What is faster by less than 3 % may be slower the next time."
    return words

"""How fast the examples of a profile can be read: the question to the process, and its answer."""

from typing import Annotated, Final

from pydantic import Field

from gpupanel.domain.data import DataCache
from gpupanel.domain.number_text import count, duration
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import Count, Value

SECONDS: Final = 10.0
"""How long examples are read, unless somebody says otherwise."""
_Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
_BYTES_PER_MIB: Final = 2**20


class ReadSpeedRequest(Value):
    """What to read.

    Attributes:
        profile: Whose training examples; a path in it is absolute.
        seconds: For how long.
    """

    profile: Profile
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = SECONDS


def read_speed_request(profile: Profile, seconds: float = SECONDS) -> ReadSpeedRequest:
    """What is asked about a profile: with what the reading depends on, and no more of it."""
    training = TrainingSettings(
        global_batch_size=profile.training.global_batch_size, seed=profile.training.seed
    )
    read = Profile(data=profile.data, model=profile.model, training=training)
    return ReadSpeedRequest(profile=read, seconds=seconds)


class ReadSpeed(Value):
    """What reading came to.

    Attributes:
        examples: Training examples of an epoch, those that are repeated as often as they come.
        example_bytes: What the features of one take in memory.
        is_in_memory: Whether all are held in memory, so that no step reads any.
        opening_seconds: From the start of the process's work until examples could be read.
        read_examples: How many were read, batch by batch, in the order of the first epochs.
        read_seconds: How long that took.
        cache: What keeps decoded examples for later epochs; it was not used.
        needs_download: Nothing was read, because the data is not on this machine.
        needs_start: Nothing was read: Python code of one's own is executed by a run only.
        problems: Why they cannot be read.
    """

    examples: Count = 0
    example_bytes: Count = 0
    is_in_memory: bool = False
    opening_seconds: _Seconds = 0.0
    read_examples: Count = 0
    read_seconds: _Seconds = 0.0
    cache: DataCache = DataCache.NONE
    needs_download: bool = False
    needs_start: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def examples_per_second(self) -> float | None:
        """How many are read; ``None``: none were."""
        return self.read_examples / self.read_seconds if self.read_seconds > 0.0 else None

    @property
    def epoch_seconds(self) -> float | None:
        """How long an epoch's examples take to be read; ``None``: not known."""
        speed = self.examples_per_second
        return self.examples / speed if speed else None


def read_speed_sentence(found: ReadSpeed) -> str:
    """What it means for a training."""
    if found.needs_download:
        return "The data has not been downloaded yet: download it first."
    if found.needs_start:
        return "Python code of your own is executed by a run only."
    if found.is_in_memory:
        return (
            f"All {count(found.examples)} training examples are held in memory, "
            f"{_time(found.opening_seconds)} after the start: no step waits for them."
        )
    speed, epoch_seconds = found.examples_per_second, found.epoch_seconds
    if speed is None or epoch_seconds is None:
        return "Nothing was read."
    mib = speed * found.example_bytes / _BYTES_PER_MIB
    sentence = (
        f"{_amount(speed)} examples a second can be read ({_amount(mib)} MiB/s "
        f"decoded), an epoch of {count(found.examples)} in {_time(epoch_seconds)}. "
        "A training that computes faster waits for its data."
    )
    if found.cache is not DataCache.NONE:
        sentence += " That is the first epoch; later ones read from the cache."
    return sentence


def _time(seconds: float) -> str:
    return "less than a second" if seconds < 1.0 else duration(seconds)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 100.0 else f"{value:,.1f}"

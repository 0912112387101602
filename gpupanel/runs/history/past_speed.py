"""How fast a training like this one was on this machine before, found among its runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.profile_file import run_profile_if_readable
from gpupanel.runs.history import measured_speeds as remembered
from gpupanel.runs.history.run_summary import RunSummary

_MOST_READ: Final = 40
"""The profiles of so many runs are read at most: the newest that used the same devices."""
_DECIDE_SPEED: Final = frozenset(
    (
        "accumulation_steps",
        "clip_norm",
        "deterministic",
        "ema",
        "global_batch_size",
        "jit_compile",
        "mixed_precision",
        "optimizer",
        "recompute",
    )
)
"""What of ``[training]`` changes how long a step takes."""


_LONGEST_BETWEEN_S: Final = 2.0
"""Most seconds between the creation of a run's folder and the start of the run."""


@dataclass(frozen=True, slots=True)
class PastSpeed:
    """The speed of an earlier run that trained the same on the same devices.

    Attributes:
        run: What it is called for people; a comparison of devices, too.
        examples_per_second: Over its whole training, without start-up, validation and saving.
        training_fraction: The part of the time between its start-up and its end in which it
            trained, above 0 and at most 1: it validated and saved in the rest. As it would have
            been with as many validations an epoch as are asked for now.
        around_s: What its start-up and its end took together; ``None``: that is not known, and
            neither is the part that it trained.
    """

    run: str
    examples_per_second: float
    training_fraction: float = 1.0
    around_s: float | None = None

    def seconds(self, examples: int) -> float:
        """How long such a run takes for so many examples; as far as it is known, all of it."""
        training_s = examples / self.examples_per_second
        return training_s / self.training_fraction + (self.around_s or 0.0)


class PastSpeeds:
    """Looks for them; a run's profile is read once, since it does not change."""

    def __init__(self) -> None:
        self._profiles: dict[Path, Profile | None] = {}

    def find(
        self,
        profile: Profile,
        device_keys: frozenset[str],
        runs: Iterable[RunSummary],
        inventory: DeviceInventory | None = None,
    ) -> PastSpeed | None:
        """The speed of the newest run of the same data, model, strategy and batch.

        Where there is none, that of the nearest candidate of a comparison of devices.

        Args:
            profile: What is to be trained; its paths are absolute, as those in a run are.
            device_keys: Of the physical devices that it would use.
            runs: Newest first.
            inventory: The devices of this machine; ``None``: not known yet.

        Returns:
            ``None`` where no such run is known, and nothing was compared.
        """
        found = self._of_a_run(profile, device_keys, runs)
        if found is not None or inventory is None:
            return found
        nearest = remembered.nearest(profile, device_keys, inventory)
        if nearest is None or nearest.examples_per_second is None:
            return None
        title = f"the comparison of devices ({nearest.name})"
        return PastSpeed(title, nearest.examples_per_second)

    def _of_a_run(
        self, profile: Profile, device_keys: frozenset[str], runs: Iterable[RunSummary]
    ) -> PastSpeed | None:
        wanted = workload(profile)
        read = 0
        for run in runs:
            speed = run.examples_per_second
            if run.task != "train" or run.is_running or not speed or speed <= 0.0:
                continue
            if run.strategy != profile.strategy.kind or frozenset(run.device_keys) != device_keys:
                continue
            past = self._profile(run.path)
            if past is not None and workload(past) == wanted:
                seldom = profile.training.validations_an_epoch / past.training.validations_an_epoch
                return PastSpeed(run.title, speed, *_around(run, seldom))
            read += 1
            if read == _MOST_READ:
                break
        return None

    def _profile(self, path: Path) -> Profile | None:
        if path not in self._profiles:
            self._profiles[path] = run_profile_if_readable(RunLayout(path))
        return self._profiles[path]


def _around(run: RunSummary, seldom: float) -> tuple[float, float | None]:
    """The part of the time that a run trained, and what its start-up and its end took.

    Args:
        run: That has ended.
        seldom: How often the model is to be validated, for each time that it was in this run.
    """
    spent, lasted_s = run.time_spent, run.lasted_s
    if spent is None or lasted_s is None or spent.seconds <= 0.0:
        return 1.0, None
    # What is known of the time is of the last segment, and of the last processes.
    stood_still_s = (run.ended_s or 0.0) - (run.started_s or 0.0) - lasted_s
    if run.restarts != 0 or stood_still_s > _LONGEST_BETWEEN_S:
        return 1.0, None
    training_s = spent.seconds - spent.validating_s - spent.saving_s
    if training_s <= 0.0:
        return 1.0, None
    beside_s = seldom * spent.validating_s + spent.saving_s
    return training_s / (training_s + beside_s), max(0.0, lasted_s - spent.seconds)


def workload(profile: Profile) -> tuple[object, ...]:
    """What decides how long a step takes."""
    training = profile.training.model_dump(include=set(_DECIDE_SPEED))
    devices = profile.devices.cpu_replicas
    return profile.data, profile.model, profile.strategy, devices, training

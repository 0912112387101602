"""Which batches were seen to fit on the devices of a plan, and how fast they are."""

from gpupanel.domain.batch_search import BatchTrial, SearchEnd
from gpupanel.domain.number_text import count, rate
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import Value

NEARLY_AS_FAST = 0.97
"""Speeds that are nearer to each other are the same: measured again they may be the other way."""


class DeviceBatch(Value):
    """What was tried on one device, or on a logical device with a limit of its own.

    Attributes:
        device: The key of the physical device.
        logical_device: TensorFlow's name of the logical device; empty: all of the physical one.
        replicas: How many replicas of the plan are there; each was given an equal part.
        room_mib: What one replica could take: what TensorFlow can have, or its limit, with a margin
            to what is free.
        trials: In the order in which they were tried.
        largest: The most examples of one replica that fitted; 0: none did.
        fastest: Those with which most examples a second were trained on.
        peak_mib: What a step held with the largest; ``None``: not known.
        estimated_mib: What was estimated for it: gradients and activations.
        ratio: What was held over what was estimated.
        seconds: How long the search took.
        stopped: Why it ended.
        problems: What went wrong.
    """

    device: str
    logical_device: str = ""
    replicas: int = 1
    room_mib: int
    trials: tuple[BatchTrial, ...] = ()
    largest: int = 0
    fastest: int | None = None
    peak_mib: float | None = None
    estimated_mib: float | None = None
    ratio: float | None = None
    seconds: float = 0.0
    stopped: SearchEnd
    problems: tuple[Problem, ...] = ()


class BatchSpeed(Value):
    """How fast a global batch is, as far as that follows from each device by itself.

    Attributes:
        global_batch_size: Divided as the plan divides its own.
        examples_per_second: Of all devices; what summing gradients costs is not in it.
    """

    global_batch_size: int
    examples_per_second: float


class BatchFit(Value):
    """What was found.

    Attributes:
        devices: Each with what was tried on it.
        largest_batch: The largest global batch whose parts all fitted, divided as the plan divides
            its own; ``None``: nothing could be tried; 0: not even one example fits.
        shares: Of that batch.
        fastest_batch: Of those that were tried, the one with the most examples a second; of nearly
            equal ones the smallest.
        speeds: Of global batches, the smallest first.
        uneven_batch: A larger one that fits with other shares; ``None``: there is none.
        uneven_shares: These.
        needs_download: The data, or the weights to begin with, are not on this machine yet.
        needs_start: Data or model come from Python code, which only a run carries out.
        problems: Why nothing could be tried, and what else is to be known.
    """

    devices: tuple[DeviceBatch, ...] = ()
    largest_batch: int | None = None
    shares: tuple[int, ...] = ()
    fastest_batch: int | None = None
    speeds: tuple[BatchSpeed, ...] = ()
    uneven_batch: int | None = None
    uneven_shares: tuple[int, ...] = ()
    needs_download: bool = False
    needs_start: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """All problems of the search, those of its devices included."""
        return (*self.problems, *(each for device in self.devices for each in device.problems))

    def speed_of(self, batch: int | None) -> float | None:
        """Examples a second with that global batch; ``None``: not known."""
        found = (each for each in self.speeds if each.global_batch_size == batch)
        return next((each.examples_per_second for each in found), None)


class BatchProgress(Value):
    """How far it is.

    Attributes:
        device: The key of the device that is tried.
        examples: What is tried now on one replica; 0: its process only starts.
        largest: The most that fitted there until now.
    """

    device: str
    examples: int = 0
    largest: int = 0


def batch_fit_request(profile: Profile) -> Profile:
    """What the answer depends on: the same for any batch, learning rate and number of epochs."""
    plain = TrainingSettings()
    unused = ("global_batch_size", "learning_rate", "schedule", "epochs")
    training = profile.training.model_copy(update={each: getattr(plain, each) for each in unused})
    return profile.model_copy(update={"name": "any", "training": training})


def fastest_trial(trials: tuple[BatchTrial, ...]) -> int | None:
    """The examples of the fastest one that fits; of nearly equal ones the fewest."""
    speeds = [
        (each.examples, each.examples_per_second)
        for each in trials
        if each.fits and each.examples_per_second is not None
    ]
    return _fastest(speeds)


def fastest_of(speeds: tuple[BatchSpeed, ...]) -> int | None:
    """The global batch of the fastest one; of nearly equal ones the smallest."""
    return _fastest([(each.global_batch_size, each.examples_per_second) for each in speeds])


def _fastest(speeds: list[tuple[int, float]]) -> int | None:
    if not speeds:
        return None
    enough = NEARLY_AS_FAST * max(speed for _, speed in speeds)
    return min(number for number, speed in speeds if speed >= enough)


_ENDS = {
    SearchEnd.FOUND: "",
    SearchEnd.ALL_EXAMPLES: "all examples fit",
    SearchEnd.NOTHING_FITS: "nothing fits",
    SearchEnd.TIME: "the time was up: more may fit",
    SearchEnd.DISTURBED: "stopped: another process took memory",
    SearchEnd.FAILED: "could not be tried",
}


def end_text(device: DeviceBatch) -> str:
    """Why the search ended, in some words; empty where nothing is to be said."""
    return _ENDS.get(device.stopped, "")


def batch_fit_sentence(found: BatchFit) -> str:
    """What was found, in a sentence or three."""
    if found.needs_download:
        return "Download the data set, or the weights, first."
    if found.needs_start:
        return "Data or model come from Python code, which is executed only by a run."
    if found.largest_batch is None:
        return "No batch could be tried."
    if not found.largest_batch:
        return "Not even one example at a time fits."
    unsure = any(each.stopped in (SearchEnd.TIME, SearchEnd.DISTURBED) for each in found.devices)
    least = "at least " if unsure else ""
    sentences = [f"A global batch of {least}{count(found.largest_batch)} fits."]
    fastest = found.fastest_batch
    if fastest is not None and fastest != found.largest_batch:
        speed = rate(found.speed_of(fastest))
        sentences.append(f"The fastest one that was tried is {count(fastest)}, with {speed}.")
    if found.uneven_batch is not None:
        shares = " + ".join(map(count, found.uneven_shares))
        sentences.append(f"With shares of {shares} even {count(found.uneven_batch)} fit.")
    return " ".join(sentences)

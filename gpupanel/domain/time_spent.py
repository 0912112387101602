"""Where the time of a training goes, for each of its replicas."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, NamedTuple, Self

from gpupanel.domain.value import PerPlace, Value


class TimeCategory(StrEnum):
    """What a replica's time goes to, in the order in which it is drawn."""

    COMPUTING = "computing"
    EXCHANGING = "exchanging"
    WAITING_FOR_REPLICAS = "waiting_for_replicas"
    WAITING_FOR_DATA = "waiting_for_data"
    HOST = "host"
    VALIDATING = "validating"
    SAVING = "saving"

    @property
    def label(self) -> str:
        """The label that is shown."""
        return _TEXTS[self].label

    @property
    def short_label(self) -> str:
        """The label where there is little room."""
        return _TEXTS[self].short_label

    @property
    def description(self) -> str:
        """What it is and how it was measured, in a sentence."""
        return _TEXTS[self].description


_LEAST_SAID = 0.01


class _Text(NamedTuple):
    label: str
    short_label: str
    description: str


_TEXTS = {
    TimeCategory.COMPUTING: _Text(
        "Computing",
        "compute",
        "Loss and gradients of the replica's share; on one device the update of the weights, too.",
    ),
    TimeCategory.EXCHANGING: _Text(
        "Gradient exchange",
        "exchange",
        "Summing gradients over the replicas and updating the weights, as far as it is not done "
        "while gradients are still computed.",
    ),
    TimeCategory.WAITING_FOR_REPLICAS: _Text(
        "Waiting for replicas",
        "replicas",
        "The replica was done with its share, and the slowest one was not.",
    ),
    TimeCategory.WAITING_FOR_DATA: _Text(
        "Waiting for data", "data", "The next examples were not yet read and decoded."
    ),
    TimeCategory.HOST: _Text(
        "Host",
        "host",
        "Python between two calls of TensorFlow: requests, reports, starting the next steps.",
    ),
    TimeCategory.VALIDATING: _Text("Validation", "validation", "Measuring on the validation set."),
    TimeCategory.SAVING: _Text(
        "Checkpoints",
        "saving",
        "The training stood still for a checkpoint; most of it is written beside the training.",
    ),
}


class ReplicaTime(Value):
    """How one replica spent the time in which steps were done; seconds.

    Attributes:
        exchanging_s: ``None``: the strategy does not exchange gradients in steps, or it was not
            measured apart from computing.
    """

    computing_s: float = 0.0
    exchanging_s: float | None = None
    waiting_for_replicas_s: float = 0.0
    waiting_for_data_s: float = 0.0

    def plus(self, more: Self) -> Self:
        """This and later times."""
        exchanging_s = self.exchanging_s
        if more.exchanging_s is not None:
            exchanging_s = more.exchanging_s + (exchanging_s or 0.0)
        return self.model_copy(
            update={
                "computing_s": self.computing_s + more.computing_s,
                "exchanging_s": exchanging_s,
                "waiting_for_replicas_s": self.waiting_for_replicas_s + more.waiting_for_replicas_s,
                "waiting_for_data_s": self.waiting_for_data_s + more.waiting_for_data_s,
            }
        )


class TimeSpent(Value):
    """Where a stretch of a training went, by the wall clock; seconds.

    The times of each replica and those of the run add up to all of it.

    Attributes:
        seconds: All of it; building the graph and its first call are not counted.
        host_s: See :class:`TimeCategory`.
        validating_s: In which a validation or test set was measured.
        saving_s: In which the training stood still for a checkpoint.
        replicas: By their index in the plan.
    """

    seconds: float = 0.0
    host_s: float = 0.0
    validating_s: float = 0.0
    saving_s: float = 0.0
    replicas: Annotated[tuple[ReplicaTime, ...], PerPlace] = ()

    def plus(self, more: Self) -> Self:
        """This and a later stretch; of replicas that differ in number, those of the later one."""
        replicas = more.replicas
        if len(self.replicas) == len(more.replicas):
            replicas = tuple(
                one.plus(other) for one, other in zip(self.replicas, more.replicas, strict=True)
            )
        return self.model_copy(
            update={
                "seconds": self.seconds + more.seconds,
                "host_s": self.host_s + more.host_s,
                "validating_s": self.validating_s + more.validating_s,
                "saving_s": self.saving_s + more.saving_s,
                "replicas": replicas,
            }
        )

    def of_replica(self, replica: int) -> dict[TimeCategory, float]:
        """Seconds of each activity; none of one that was not measured."""
        time = self.replicas[replica]
        found = {
            TimeCategory.COMPUTING: time.computing_s,
            TimeCategory.EXCHANGING: time.exchanging_s,
            TimeCategory.WAITING_FOR_REPLICAS: time.waiting_for_replicas_s,
            TimeCategory.WAITING_FOR_DATA: time.waiting_for_data_s,
            TimeCategory.HOST: self.host_s,
            TimeCategory.VALIDATING: self.validating_s,
            TimeCategory.SAVING: self.saving_s,
        }
        return {activity: seconds for activity, seconds in found.items() if seconds is not None}

    def mean(self, replicas: Iterable[int] | None = None) -> dict[TimeCategory, float]:
        """Mean seconds of each activity over these replicas; over all where none are named."""
        chosen = range(len(self.replicas)) if replicas is None else list(replicas)
        each = [self.of_replica(replica) for replica in chosen]
        return {
            activity: sum(one.get(activity, 0.0) for one in each) / len(each)
            for activity in TimeCategory
            if any(activity in one for one in each)
        }

    @property
    def words(self) -> str:
        """What took a percent of the time or more, most first: "71 % computing, 12 % host"."""
        found = sorted(self.fractions().items(), key=lambda each: -each[1])
        return ", ".join(
            f"{100 * fraction:.0f} % {activity.label.lower()}"
            for activity, fraction in found
            if fraction >= _LEAST_SAID
        )

    def fractions(self, replicas: Iterable[int] | None = None) -> dict[TimeCategory, float]:
        """The parts of :meth:`mean` as fractions of the whole time, 0 to 1; empty without any."""
        if self.seconds <= 0.0 or not self.replicas:
            return {}
        return {
            activity: min(1.0, max(0.0, seconds / self.seconds))
            for activity, seconds in self.mean(replicas).items()
        }

"""One run as a list shows it."""

from pathlib import Path

from gpupanel.domain.energy import RunEnergy
from gpupanel.domain.finding import Finding
from gpupanel.domain.outcome import Metrics, Outcome, SavedWork
from gpupanel.domain.problem import Problem
from gpupanel.domain.time_spent import TimeCategory, TimeSpent
from gpupanel.domain.value import Value


class RunProgress(Value):
    """How far a run is that goes on; what is not known yet is ``None``.

    Attributes:
        epoch: The one being trained, counted from 1.
        step: Optimizer updates done; examples done where a saved model is evaluated or predicts.
        step_total: Of the whole run.
    """

    epoch: int | None = None
    epoch_total: int | None = None
    step: int | None = None
    step_total: int | None = None

    @property
    def fraction(self) -> float | None:
        """The part that is done, from 0 to 1."""
        if self.step is None or not self.step_total:
            return None
        return min(1.0, max(0.0, self.step / self.step_total))


class RunSummary(Value):
    """One run in a list.

    Attributes:
        name: That of its directory.
        profile_name: That of its profile; the directory's where the profile cannot be read.
        label: What a person called the run; empty: nothing.
        notes: What a person noted about it.
        tags: Short words that a person gave it.
        task: ``train``, ``evaluate``, ``predict`` or ``script``.
        model_run: Of an evaluation or a prediction: the directory of the run whose model it took,
            which may be gone; ``None``: the model is another file.
        strategy: Its kind, as a profile names it; empty: not known.
        started_s: Seconds since the epoch (UTC).
        since_s: Of a run that goes on: from when it would have run until now had it never stood
            still, seconds since the epoch (UTC). What the machine slept is left out, and what
            passed until it was resumed.
        ended_s: Of a lost run: when it was heard of last.
        outcome: ``None`` while it runs, and where it is not known.
        progress: How far it is; ``None`` once it ended.
        metrics: Of the whole run, of the evaluation where it is one; as long as it runs, and
            where it ended without any, of the last epoch done.
        examples_per_second: Over the whole training; over the last steps while it runs.
        waiting_for_data: The share of that time, 0 to 1, in which steps waited for examples; once
            the run ended.
        time_spent: Where the time of its last segment went, once it ended; ``None``: it trained
            nothing, was lost, or an older version ran it.
        energy: What its devices took, once it ended; ``None``: none of them says it.
        kept_epoch: The epoch whose weights its model has, and of which the metrics are.
        findings: What held its last segment up, once it ended.
        devices: Names of the physical devices that it used.
        device_keys: Their keys, in the same order.
        problem: What ended it, where it did not end well; while it runs, what keeps it from
            going on.
        saved: What of a training is saved, once it ended; ``None`` where nobody reported it.
        restarts: How often its processes were started again; ``None``: it goes on, was lost, or an
            older version ran it.
        active_s: How long all of its segments lasted, without the time between them; ``None``: it
            still runs, or nobody counted them.
        hours_begin_s: Of one that was suspended as its hours ended: when they begin again, seconds
            since the epoch (UTC).
        flaw: Why not all of it can be shown: its directory is of a newer version, incomplete,
            damaged or unreadable.
    """

    name: str
    path: Path
    profile_name: str
    label: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    task: str = "train"
    model_run: Path | None = None
    strategy: str = ""
    started_s: float | None = None
    since_s: float | None = None
    ended_s: float | None = None
    outcome: Outcome | None = None
    is_running: bool = False
    progress: RunProgress | None = None
    metrics: Metrics = Metrics()
    kept_epoch: int | None = None
    examples_per_second: float | None = None
    waiting_for_data: float | None = None
    time_spent: TimeSpent | None = None
    energy: RunEnergy | None = None
    findings: tuple[Finding, ...] = ()
    devices: tuple[str, ...] = ()
    device_keys: tuple[str, ...] = ()
    problem: Problem | None = None
    saved: SavedWork | None = None
    restarts: int | None = None
    active_s: float | None = None
    hours_begin_s: float | None = None
    flaw: Problem | None = None

    @property
    def title(self) -> str:
        """What it is called for people: its label, else its profile's name."""
        return self.label or self.profile_name

    def lasts_s(self, now_s: float) -> float | None:
        """How long it is there by now, or was; ``None`` where nobody knows.

        Args:
            now_s: Seconds since the epoch (UTC).
        """
        if not self.is_running:
            return self.lasted_s
        since_s = self.started_s if self.since_s is None else self.since_s
        return None if since_s is None else max(0.0, now_s - since_s)

    @property
    def lasted_s(self) -> float | None:
        """How long it was there; ``None`` while it runs, or where the clock went back meanwhile.

        From start to end where nobody counted its segments.
        """
        if self.active_s is not None:
            return self.active_s
        if self.started_s is None or self.ended_s is None or self.ended_s < self.started_s:
            return None
        return self.ended_s - self.started_s

    def part_of_time(self, activity: TimeCategory) -> float | None:
        """Fraction of the training's time, 0 to 1, averaged over its devices; ``None``: unknown."""
        return None if self.time_spent is None else self.time_spent.fractions().get(activity)

    @property
    def is_training(self) -> bool:
        """Whether it trains: by gpupanel, or by a program of the person's own."""
        return self.task in ("train", "script")

    @property
    def quality(self) -> Metrics:
        """What says how good the model is: of the validation, or of the data it was evaluated on.

        Named without prefixes; all ``None`` where a training had no validation.
        """
        return self.metrics.of_part("val") if self.is_training else self.metrics

    def quality_of(self, name: str) -> float | None:
        """One metric of :attr:`quality`, for tables of thousands of runs."""
        value: float | None = getattr(self.metrics, f"val_{name}" if self.is_training else name)
        return value

    @property
    def tested(self) -> Metrics:
        """What the test set showed that did not validate; named as those of :attr:`quality`."""
        return self.metrics.of_part("test")

    @property
    def trained(self) -> Metrics:
        """What a training reached on the examples that it trains with; empty for other tasks."""
        return self.metrics if self.is_training else Metrics()

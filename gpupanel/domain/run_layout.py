"""The names inside a run's directory, which every process that touches a run agrees on."""

from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.visible_text import visible_line


class _Inside:
    """A path of that name inside the run's directory."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, layout: "RunLayout", owner: type["RunLayout"]) -> Path:
        return layout.root / self._name


@dataclass(frozen=True, slots=True)
class RunLayout:
    """The paths of one run.

    Attributes:
        root: The run's directory, ``runs/2026-11-21T10-15-02-digits``.
    """

    root: Path

    @property
    def name(self) -> str:
        """The run's name: that of its directory.

        Control characters and bytes that are no UTF-8 stand in it as escapes, so that it can be
        shown and written anywhere; backslashes are doubled, so that no two names become the same.
        """
        return visible_line(self.root.name.replace("\\", "\\\\"))

    profile = _Inside("profile.toml")
    """The profile as it was started, or started again with something changed, whole."""

    def former_profile(self, number: int) -> Path:
        """The profile as it was before the run was changed for the n-th time, counted from 1."""
        return self.root / f"profile-{number}.toml"

    label = _Inside("label.toml")
    """The name and the notes that a person gave the run; absent where none were given."""
    code = _Inside("code")
    """The Python code that the profile names, as it was when the run was started."""
    model_code = _Inside("code/model.py")
    """The file that builds the model; absent where the profile names none."""
    data_code = _Inside("code/data.py")
    """The file that loads the data; absent where the profile names none."""
    script_code = _Inside("code/program")
    """The program of the person's own, as it was when the run was started; it runs in its place."""
    script_command = _Inside("code/program.toml")
    """How that is started, as it was trusted."""
    script_reports = _Inside("reports.jsonl")
    """What the program reports, until it is among the events; there while it runs."""
    script_files = _Inside("program")
    """The folder in which the program may keep what it continues from."""
    start_model = _Inside("start.keras")
    """The saved model that is trained further, as it was when the run was started."""
    data_fingerprint = _Inside("data.json")
    """What the data was that the run learns from; absent in runs of earlier versions."""
    accepted_data = _Inside("accept-changed-data")
    """There as long as a person lets the run go on with data that is other than before."""
    outside_hours = _Inside("outside-hours")
    """There as long as a person lets the run work though its hours have not begun."""
    plan = _Inside("plan.json")
    """What was decided from the profile and the devices."""

    def former_plan(self, number: int) -> Path:
        """The plan that belongs to :meth:`former_profile`."""
        return self.root / f"plan-{number}.json"

    amendment = _Inside("amendment.json")
    """A new profile and its plan, while they take the places of the former ones."""
    events = _Inside("events.jsonl")
    """The truth about the run, one event a line."""

    def process_events(self, place: int) -> Path:
        """The events of one process on a node of a cluster, until the supervisor has taken them.

        Several machines that append to one file of a network's file system write over each other.
        """
        return self.root / f"events-{place}.jsonl"

    def process_outputs(self, place: int) -> Path:
        """A model's outputs as a process on a node computed them, for the process that leads."""
        return self.root / f"outputs-{place}.bin"

    reserve = _Inside("reserve")
    """Space that is given up for the supervisor's last words when the disk is full."""
    telemetry = _Inside("telemetry.jsonl")
    """Readings of the devices, one sample a line."""
    trainer_log = _Inside("trainer.log")
    """Standard output and standard error of the trainer."""
    cluster_log = _Inside("cluster.log")
    """What the process that holds the connection to a cluster prints, Ray's library too."""

    def process_log(self, place: int) -> Path:
        """Standard output and standard error of one process of the gang.

        Each has a file of its own, since lines of several in one would not show whose they are.
        """
        return self.root / f"trainer-{place}.log" if place else self.trainer_log

    requests = _Inside("requests")
    """A file for each thing that people asked of the run."""
    heartbeats = _Inside("heartbeats")
    """A file for each process of the gang, named by its place in it (``0``, ``1``).

    The process touches it once a second as long as it is not frozen.
    """
    lock = _Inside("run.lock")
    """Held by the supervisor as long as it lives."""
    resume_lock = _Inside("resume.lock")
    """Held by whoever starts the run again, so that only one does."""
    checkpoints = _Inside("checkpoints")
    """Complete checkpoints, a folder each."""
    tensorboard = _Inside("tensorboard")
    """Event files for TensorBoard."""

    def trace(self, number: int) -> Path:
        """The profiler's n-th trace, counted from 1, where TensorBoard finds it, too."""
        return self.tensorboard / f"trace-{number}"

    validation_examples = _Inside("validation-examples.jsonl")
    """Some validation examples, and what the model says of them epoch by epoch."""
    confusion = _Inside("evaluation.npz")
    """The confusion matrix that the task ``evaluate`` found."""

    def predictions(self, output: str) -> Path:
        """What the task ``predict`` wrote, in that format: ``npz`` or ``csv``."""
        return self.root / f"predictions.{output}"

    model = _Inside("model.keras")
    """The trained model."""

    def other_model(self, *, is_best: bool) -> Path:
        """The model with the weights that were not kept: the best epoch's, or the last step's.

        Absent where :attr:`model` has these, too.
        """
        return self.root / f"model-{'best' if is_best else 'last'}.keras"

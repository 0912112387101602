"""The names inside a run's directory, which every process that touches a run agrees on."""

from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.visible_text import visible_line


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

    @property
    def profile(self) -> Path:
        """The profile as it was started, or started again with something changed, whole."""
        return self.root / "profile.toml"

    def former_profile(self, number: int) -> Path:
        """The profile as it was before the run was changed for the n-th time, counted from 1."""
        return self.root / f"profile-{number}.toml"

    @property
    def label(self) -> Path:
        """The name and the notes that a person gave the run; absent where none were given."""
        return self.root / "label.toml"

    @property
    def code(self) -> Path:
        """The Python code that the profile names, as it was when the run was started."""
        return self.root / "code"

    @property
    def model_code(self) -> Path:
        """The file that builds the model; absent where the profile names none."""
        return self.code / "model.py"

    @property
    def data_code(self) -> Path:
        """The file that loads the data; absent where the profile names none."""
        return self.code / "data.py"

    @property
    def start_model(self) -> Path:
        """The saved model that is trained further, as it was when the run was started."""
        return self.root / "start.keras"

    @property
    def data_fingerprint(self) -> Path:
        """What the data was that the run learns from; absent in runs of earlier versions."""
        return self.root / "data.json"

    @property
    def accepted_data(self) -> Path:
        """There as long as a person lets the run go on with data that is other than before."""
        return self.root / "accept-changed-data"

    @property
    def plan(self) -> Path:
        """What was decided from the profile and the devices."""
        return self.root / "plan.json"

    def former_plan(self, number: int) -> Path:
        """The plan that belongs to :meth:`former_profile`."""
        return self.root / f"plan-{number}.json"

    @property
    def amendment(self) -> Path:
        """A new profile and its plan, while they take the places of the former ones."""
        return self.root / "amendment.json"

    @property
    def events(self) -> Path:
        """The truth about the run, one event a line."""
        return self.root / "events.jsonl"

    def process_events(self, place: int) -> Path:
        """The events of one process on a node of a cluster, until the supervisor has taken them.

        Several machines that append to one file of a network's file system write over each other.
        """
        return self.root / f"events-{place}.jsonl"

    def process_outputs(self, place: int) -> Path:
        """A model's outputs as a process on a node computed them, for the process that leads."""
        return self.root / f"outputs-{place}.bin"

    @property
    def reserve(self) -> Path:
        """Space that is given up for the supervisor's last words when the disk is full."""
        return self.root / "reserve"

    @property
    def telemetry(self) -> Path:
        """Readings of the devices, one sample a line."""
        return self.root / "telemetry.jsonl"

    @property
    def trainer_log(self) -> Path:
        """Standard output and standard error of the trainer."""
        return self.root / "trainer.log"

    @property
    def cluster_log(self) -> Path:
        """What the process that holds the connection to a cluster prints, Ray's library too."""
        return self.root / "cluster.log"

    def process_log(self, place: int) -> Path:
        """Standard output and standard error of one process of the gang.

        Each has a file of its own, since lines of several in one would not show whose they are.
        """
        return self.root / f"trainer-{place}.log" if place else self.trainer_log

    @property
    def requests(self) -> Path:
        """A file for each thing that people asked of the run."""
        return self.root / "requests"

    @property
    def heartbeats(self) -> Path:
        """A file for each process of the gang, named by its place in it (``0``, ``1``).

        The process touches it once a second as long as it is not frozen.
        """
        return self.root / "heartbeats"

    @property
    def lock(self) -> Path:
        """Held by the supervisor as long as it lives."""
        return self.root / "run.lock"

    @property
    def resume_lock(self) -> Path:
        """Held by whoever starts the run again, so that only one does."""
        return self.root / "resume.lock"

    @property
    def checkpoints(self) -> Path:
        """Complete checkpoints, a folder each."""
        return self.root / "checkpoints"

    @property
    def tensorboard(self) -> Path:
        """Event files for TensorBoard."""
        return self.root / "tensorboard"

    def trace(self, number: int) -> Path:
        """The profiler's n-th trace, counted from 1, where TensorBoard finds it, too."""
        return self.tensorboard / f"trace-{number}"

    @property
    def confusion(self) -> Path:
        """The confusion matrix that the task ``evaluate`` found."""
        return self.root / "evaluation.npz"

    def predictions(self, output: str) -> Path:
        """What the task ``predict`` wrote, in that format: ``npz`` or ``csv``."""
        return self.root / f"predictions.{output}"

    @property
    def model(self) -> Path:
        """The trained model."""
        return self.root / "model.keras"

    def other_model(self, *, is_best: bool) -> Path:
        """The model with the weights that were not kept: the best epoch's, or the last step's.

        Absent where :attr:`model` has these, too.
        """
        return self.root / f"model-{'best' if is_best else 'last'}.keras"

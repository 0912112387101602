"""A profile: what a person chose, saved as a TOML file whose format is public."""

from typing import Literal, Self

from pydantic import Field, model_validator

from gpupanel.domain.choice import Choice
from gpupanel.domain.cluster import ClusterSettings
from gpupanel.domain.data import DEFAULT_DATA, DataSettings
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.hours import HoursText
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.memory import DEFAULT_MEMORY_KEY, Allocator, GrowingMemory, MemoryPolicy
from gpupanel.domain.model import DEFAULT_MODEL, ModelSettings
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.setting import setting
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.sweep import SweepSettings
from gpupanel.domain.task import Task
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import MOST_PLACES, Mib, PlaceCount, Value

SCHEMA_VERSION = 1
"""The format that this version reads and writes."""
LONGEST_NAME = 200
"""Characters of a profile's name."""


class DeviceDescription(Value):
    """What a device was that a profile names by its key, for a machine that does not have it."""

    name: str = setting("Name", "The GPU's name as NVML reports it.")
    memory_total_mib: Mib | None = setting(
        "Memory", "The GPU's total memory.", default=None, unit="MiB", off="not known"
    )


class DeviceSettings(Value):
    """The ``[devices]`` table of a profile."""

    visible: tuple[str, ...] = setting(
        "Devices in use",
        "Which devices the run trains on: the GPUs' UUIDs as NVML reports them, or cpu.",
        default=(),
        max_length=MOST_PLACES,
        off="every GPU, or the CPU where there is none",
        examples=[["cpu"]],
    )
    cpu_replicas: PlaceCount = setting(
        "Logical replicas",
        "How many logical devices to make of the CPU. A replica is one copy of the model; with two "
        "or more, a mirrored strategy can be tried out without any GPU.",
        default=1,
    )
    allocator: Allocator = setting(
        "Allocator",
        "Which allocator TensorFlow uses for GPU memory, on all GPUs of the run.",
        default=Allocator.BFC,
        advanced=True,
    )
    described: dict[str, DeviceDescription] = setting(
        "Device descriptions",
        "Descriptions of the GPUs that the profile names. Written when a profile is saved, "
        "so that another machine can find its most similar GPU.",
        default_factory=dict,
        max_length=MOST_PLACES,
        advanced=True,
    )


class Profile(Value):
    """Everything that decides a run, except the machine it runs on."""

    schema_version: Literal[1] = 1
    name: str = setting(
        "Name",
        "The name of the profile and of its runs.",
        default="untitled",
        min_length=1,
        max_length=LONGEST_NAME,
    )
    task: Task = setting(
        "Task",
        "Train a model, run a saved one on all devices, or run a program of your own. Only the "
        "settings of the task are shown.",
        default="train",
        choices=(
            Choice("train", "Train", "A model learns from the data."),
            Choice(
                "evaluate",
                "Evaluate",
                "A saved model is measured: loss, accuracy, confusion matrix.",
            ),
            Choice(
                "predict",
                "Predict",
                "A saved model predicts each example; the predictions are written to a file, "
                "in order.",
            ),
            Choice(
                "script",
                "Own program",
                "A program of your own, such as train.py, runs on the chosen devices, unedited.",
            ),
        ),
    )
    hours: HoursText | None = setting(
        "Hours",
        "The run works in these hours only, by this machine's clock: it is suspended when they end "
        "and continues when they begin again, also while no window is open.",
        default=None,
        off="any time",
        advanced=True,
        examples=["22:00-07:00", "Mon-Fri 19:00-07:00, Sat-Sun"],
    )
    devices: DeviceSettings = DeviceSettings()
    memory: dict[str, MemoryPolicy] = Field(
        default_factory=dict,
        max_length=MOST_PLACES,
        description="How much of a GPU's memory TensorFlow may take, by the UUID that NVML gives "
        "the GPU; `default` is for each GPU without a table of its own. Without either, memory "
        "grows as it is needed.",
    )
    strategy: StrategySettings = StrategySettings()
    data: DataSettings = DEFAULT_DATA
    model: ModelSettings = DEFAULT_MODEL
    training: TrainingSettings = TrainingSettings()
    inference: InferenceSettings = InferenceSettings()
    script: ScriptSettings | None = Field(
        default=None,
        description="A program of your own that runs in place of `[data]`, `[model]`, "
        "`[training]` and `[inference]`, which such a profile does not have.",
    )
    cluster: ClusterSettings | None = Field(
        default=None,
        description="The Ray cluster whose nodes train, where one machine is not enough. "
        "Needs `pip install 'gpupanel[cluster]'` on each of them.",
    )
    sweep: SweepSettings | None = Field(
        default=None,
        description="What `gpupanel sweep PROFILE` tries: settings with values or ranges, each "
        "trial a run of its own. A run of the profile alone does without it.",
    )

    @model_validator(mode="after")
    def _script_is_the_task(self) -> Self:
        if (self.task == "script") != (self.script is not None):
            raise ValueError('the task "script" and the table [script] go together')
        return self

    @property
    def leaves_examples_open(self) -> bool:
        """Whether it is found in data and model which examples are evaluated."""
        return self.task == "evaluate" and self.inference.examples == "automatic"

    @property
    def for_one_run(self) -> "Profile":
        """The profile without what is for sweeps only."""
        return self if self.sweep is None else self.model_copy(update={"sweep": None})

    @property
    def normalises_batches(self) -> bool:
        """Whether the model to be built has batch normalisation, as far as the profile says."""
        return bool(self.model.normalises_batches)

    @property
    def synchronizes_batch_norm(self) -> bool:
        """Whether, likewise, it takes its statistics over all replicas, where several are."""
        return self.normalises_batches and self.model.synchronizes_batch_norm

    @property
    def fine_tuning(self) -> FineTuning | None:
        """Which layers begin to learn within the epochs of the training; ``None``: none do."""
        chosen = self.model.fine_tuning
        begins = chosen is not None and chosen.from_epoch <= self.epochs_to_train
        return chosen if begins else None

    @property
    def epochs_to_train(self) -> int:
        """Passes over the training examples; none for the tasks that do not train."""
        return self.training.epochs if self.task == "train" else 0

    def memory_policy(self, key: str) -> MemoryPolicy:
        """The policy of a device: its own, else the default one, else growth."""
        return self.memory.get(key) or self.memory.get(DEFAULT_MEMORY_KEY) or GrowingMemory()

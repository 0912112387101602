"""How a model is trained."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from gpupanel.domain.optimizer import DEFAULT_OPTIMIZER, Optimizer, optimizers_taking
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Count, Float32, Fraction, PositiveInt, Value

MOST_MINUTES = 1e6
"""About two years between two checkpoints."""
LEAST_PROGRESS = 1e-6
"""By how much of itself a loss falls at least for early stopping to see progress. The last bits of
a sum are rounded as its steps were added up, which a run does by time."""


class TrainingSettings(Value):
    """The ``[training]`` table of a profile."""

    epochs: PositiveInt = setting(
        "Epochs",
        "How many times the training goes through all examples.",
        default=3,
    )
    global_batch_size: PositiveInt = setting(
        "Global batch size",
        "Examples of one optimizer update, over all replicas together. Each replica "
        "takes its share of them, so the result does not depend on how many devices train.",
        default=64,
        unit="example",
    )
    accumulation_steps: PositiveInt = setting(
        "Accumulation steps",
        "Each replica takes its share in this many smaller parts and applies the summed gradient "
        "once. It needs less memory; the result is mathematically the same.",
        default=1,
    )
    optimizer: Optimizer = setting(
        "Optimizer",
        "The algorithm that updates the weights from the gradients.",
        default=DEFAULT_OPTIMIZER,
    )
    learning_rate: Float32 = setting(
        "Learning rate",
        "How large a step each update makes. You can type 1e-3; the arrows go 1, 2, 5, "
        "10. Too large and the loss jumps, too small and it hardly falls.",
        default=1e-3,
    )
    momentum: Fraction = setting(
        "Momentum",
        "How much of the last step carries over to the next one, from 0 to below 1. SGD and "
        "RMSprop only: Adam and AdamW keep a momentum of their own.",
        default=0.0,
        applies={"optimizer": optimizers_taking("momentum")},
    )
    clip_norm: Float32 | None = setting(
        "Clip gradients",
        "Scale the gradient of an update down to this norm when it is longer: one unusual "
        "batch then changes the weights less. It is the norm of the whole gradient, summed "
        "over all replicas.",
        default=None,
        off="off",
        advanced=True,
        examples=[1.0],
    )
    mixed_precision: bool = setting(
        "Mixed precision",
        "Compute in 16-bit floats and keep the weights in 32: about half the memory, "
        "and faster on GPUs with tensor cores (compute capability 7.0 or more). On a CPU it is "
        "slower.",
        default=False,
    )
    jit_compile: bool = setting(
        "XLA (jit_compile)",
        "Let XLA compile the step for the device. The first step takes longer; later "
        "ones may be faster.",
        default=False,
        advanced=True,
    )
    seed: Annotated[int, Field(ge=0, lt=2**31)] = setting(
        "Seed",
        "Determines the order of the examples, which of them are held out for validation, and the "
        "initial weights. The same seed gives the same training.",
        default=7,
        advanced=True,
    )
    checkpoint_every_epochs: Count = setting(
        "Checkpoint",
        "Save the weights and the optimizer's state every this many epochs; 0 saves none.",
        default=1,
        prefix="every ",
        unit="epoch",
        off="never",
    )
    checkpoint_every_minutes: Annotated[float, Field(gt=0.0, le=MOST_MINUTES)] | None = setting(
        "Timed checkpoints",
        "Also save one within an epoch, when the last one is this many minutes old: a power cut "
        "then costs at most that much work.",
        default=None,
        unit="minute",
        off="off",
        advanced=True,
        examples=[10.0],
    )
    checkpoints_kept: PositiveInt = setting(
        "Checkpoints kept",
        "This many of the newest checkpoints are kept; older ones are deleted.",
        default=3,
        prefix="the newest ",
        advanced=True,
    )
    keep_best_checkpoint: bool = setting(
        "Keep the best checkpoint",
        "Of the checkpoints saved at the end of an epoch, the one with the least validation loss "
        "(the training loss where nothing is validated) is kept, however old it is.",
        default=True,
        advanced=True,
    )
    early_stopping_patience: PositiveInt | None = setting(
        "Early stopping",
        "End when the validation loss (the training loss where nothing is validated) has not "
        "fallen for this many epochs.",
        default=None,
        prefix="after ",
        unit="epoch",
        off="off",
        examples=[3],
    )
    max_restarts: Annotated[int, Field(ge=0, le=100)] = setting(
        "Restart automatically",
        "When a process of the run dies or hangs, end its other processes and restart all of "
        "them from the last checkpoint, at most this many times.",
        default=0,
        prefix="up to ",
        unit="time",
        off="never",
        advanced=True,
    )
    out_of_memory_retries: Annotated[int, Field(ge=0, le=10)] = setting(
        "When out of memory",
        "When a run ends because memory was not enough, restart it automatically with twice "
        "the accumulation steps: less memory, the same mathematics. The run reports what was "
        "changed.",
        default=0,
        prefix="retry up to ",
        unit="time",
        off="stop",
        advanced=True,
    )
    tensorboard: bool = setting(
        "TensorBoard files",
        "Also write TensorBoard event files into the run's folder.",
        default=True,
        advanced=True,
    )

    @property
    def optimizer_arguments(self) -> Mapping[str, object]:
        """What Keras's class takes by keyword, beside the learning rate."""
        return {name: getattr(self, name) for name in self.optimizer.traits.takes}

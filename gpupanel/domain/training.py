"""How a model is trained."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpupanel.domain.value import Count, Float32, PositiveInt, Value

MOST_MINUTES = 1e6
"""About two years between two checkpoints."""


class Optimizer(StrEnum):
    """Keras's optimizers that a profile can name."""

    ADAM = "adam"
    ADAMW = "adamw"
    SGD = "sgd"
    RMSPROP = "rmsprop"


class TrainingSettings(Value):
    """The ``[training]`` table of a profile.

    Attributes:
        global_batch_size: Examples of one optimizer update, over all replicas.
        accumulation_steps: Each replica takes its share in this many micro-batches and applies
            the summed gradient once: less memory, the same mathematics.
        momentum: Of ``sgd`` and ``rmsprop``.
        clip_norm: Scale the whole gradient of an update down to this global norm when it is
            greater; left out: never.
        seed: Decides the order of examples, the validation split and the initial weights.
        checkpoint_every_epochs: 0 for none.
        checkpoint_every_minutes: Also save one, within an epoch, when the last one is so old;
            left out: never.
        checkpoints_kept: The newest so many are kept.
        keep_best_checkpoint: Also keep the one of the epoch with the least validation loss
            (training loss where nothing is validated).
        early_stopping_patience: End when the validation loss (the training loss where nothing
            is validated) has not fallen for this many epochs; left out: never.
        max_restarts: How often a run is started again by itself, from its last checkpoint, when
            one of its processes dies or hangs.
        out_of_memory_retries: How often a run that ran out of memory is started again by itself
            with less at a time: twice the accumulation steps, which is the same mathematics.
        tensorboard: Also write TensorBoard event files into the run's directory.
    """

    epochs: PositiveInt = 3
    global_batch_size: PositiveInt = 64
    accumulation_steps: PositiveInt = 1
    optimizer: Optimizer = Optimizer.ADAM
    learning_rate: Float32 = 1e-3
    momentum: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    clip_norm: Float32 | None = None
    mixed_precision: bool = False
    jit_compile: bool = False
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 7
    checkpoint_every_epochs: Count = 1
    checkpoint_every_minutes: Annotated[float, Field(gt=0.0, le=MOST_MINUTES)] | None = None
    checkpoints_kept: PositiveInt = 3
    keep_best_checkpoint: bool = True
    early_stopping_patience: PositiveInt | None = None
    max_restarts: Annotated[int, Field(ge=0, le=100)] = 0
    out_of_memory_retries: Annotated[int, Field(ge=0, le=10)] = 0
    tensorboard: bool = True

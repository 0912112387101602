"""How a model is trained."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpupanel.domain.value import PositiveInt, Value


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
        early_stopping_patience: End when the validation loss (the training loss where nothing
            is validated) has not fallen for this many epochs; left out: never.
        max_restarts: How often a run is started again by itself, from its last checkpoint, when
            one of its processes dies or hangs.
        tensorboard: Also write TensorBoard event files into the run's directory.
    """

    epochs: PositiveInt = 3
    global_batch_size: PositiveInt = 64
    accumulation_steps: PositiveInt = 1
    optimizer: Optimizer = Optimizer.ADAM
    learning_rate: Annotated[float, Field(gt=0.0)] = 1e-3
    momentum: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    clip_norm: Annotated[float, Field(gt=0.0)] | None = None
    mixed_precision: bool = False
    jit_compile: bool = False
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 7
    checkpoint_every_epochs: Annotated[int, Field(ge=0)] = 1
    early_stopping_patience: PositiveInt | None = None
    max_restarts: Annotated[int, Field(ge=0, le=100)] = 0
    tensorboard: bool = True

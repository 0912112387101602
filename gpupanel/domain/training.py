"""How a model is trained."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from gpupanel.domain.best_epoch import BestMetric, Keep
from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.duration import Duration, seconds_of
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.optimizer import (
    DEFAULT_OPTIMIZER,
    Optimizer,
    is_fine_in_float32,
    optimizers_taking,
)
from gpupanel.domain.schedule import NO_SCHEDULE, RateCurve, ScheduleSettings
from gpupanel.domain.setting import EVERY, setting
from gpupanel.domain.value import Count, Float32, Fraction, PositiveInt, Value

MOST_MINUTES = 1e6
"""About two years between two checkpoints."""
Beta = Annotated[float, Field(gt=0.0, lt=1.0)]


class Loss(ChoiceEnum):
    """What a training makes small."""

    AUTO = "auto", "By the labels", "Cross-entropy of classes and labels, squared error of values."
    FOCAL = "focal", "Focal", "Cross-entropy in which examples that are nearly right count less."


class CheckpointPace(ChoiceEnum):
    """How often a checkpoint is saved where no number of epochs says it."""

    AUTO = (
        "auto",
        "At most every 5 s",
        "At the end of an epoch, when the last one is five seconds old, and at the end.",
    )


class Recompute(ChoiceEnum):
    """Which activations are computed again for the gradients, and not kept."""

    NONE = "none", "Kept", "Every activation stays in memory until its gradient is computed."
    BLOCKS = (
        "blocks",
        "Computed again, block by block",
        "Only what passes between blocks is kept: half of the memory for a third more time.",
    )


LayerNames = Annotated[tuple[str, ...], Field(max_length=1_000)]
"""Layers by their names."""


class HalfPrecision(ChoiceEnum):
    """In which 16-bit floats mixed precision computes."""

    AUTO = (
        "auto",
        "By the GPUs",
        "bfloat16 where all calculate with it (compute capability 8.0 or more), else float16.",
    )
    BFLOAT16 = "bfloat16", "bfloat16", "The range of float32, so that nothing has to be scaled."
    FLOAT16 = (
        "float16",
        "float16",
        "Older GPUs have it, too. The loss is scaled; an update that overflows is left out.",
    )


SHORTEST_PAUSE_S = 5.0
"""Between two checkpoints of :attr:`CheckpointPace.AUTO`: what a death may cost beside an epoch."""


class TrainingSettings(Value):
    """The ``[training]`` table of a profile."""

    epochs: PositiveInt = setting(
        "Epochs",
        "How many times the training goes through all examples.",
        default=3,
    )
    time_limit: Duration | None = setting(
        "Time limit",
        "The training ends when it has taken so long, all its parts together where it was resumed. "
        "How many epochs fit is decided once, from the first ones: the learning rate then falls to "
        "its end within them.",
        default=None,
        off="none",
        advanced=True,
        examples=["8h"],
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
        advanced=True,
    )
    recompute: Recompute | LayerNames = setting(
        "Activations",
        "Gradients need the activations of every layer. They fill most of the memory, unless those "
        "within a block of the model are computed once more (gradient checkpointing); the result "
        "is the same. Blocks are found, or end after layers that are named.",
        default=Recompute.NONE,
        advanced=True,
        prefix="blocks that end after ",
        examples=[["block_1", "block_2"]],
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
    schedule: ScheduleSettings = setting(
        "Schedule",
        "How the learning rate changes in the course of the training. A run that continues for "
        "more epochs than it was started with follows the longer curve from there on.",
        default=NO_SCHEDULE,
        off="constant",
    )
    momentum: Fraction = setting(
        "Momentum",
        "How much of the last step carries over to the next one, from 0 to below 1. SGD and "
        "RMSprop only: Adam and AdamW keep a momentum of their own.",
        default=0.0,
        advanced=True,
        applies={"optimizer": optimizers_taking("momentum")},
    )
    nesterov: bool = setting(
        "Nesterov momentum",
        "Take the gradient's step after that of the momentum, not before it. It needs a momentum "
        "above 0.",
        default=False,
        advanced=True,
        applies={"optimizer": optimizers_taking("nesterov")},
    )
    weight_decay: Annotated[float, Field(ge=0.0, le=1e3)] | None = setting(
        "Weight decay",
        "Shrink each weight at each update by this fraction of it times the learning rate. By "
        "default AdamW takes 0.004, and the other optimizers none.",
        default=None,
        advanced=True,
        off="default",
        examples=[1e-4],
    )
    beta_1: Beta | None = setting(
        "Beta 1",
        "How much of the mean of recent gradients stays at each update. The default is 0.9.",
        default=None,
        off="default",
        advanced=True,
        applies={"optimizer": optimizers_taking("beta_1")},
        examples=[0.95],
    )
    beta_2: Beta | None = setting(
        "Beta 2",
        "How much of the mean of their squares stays at each update; of Lion, of the mean itself. "
        "The default is 0.999, for Lion 0.99.",
        default=None,
        off="default",
        advanced=True,
        applies={"optimizer": optimizers_taking("beta_2")},
        examples=[0.98],
    )
    epsilon: Float32 | None = setting(
        "Epsilon",
        "Added to the divisor of a step, so that a weight with tiny gradients takes no huge one. "
        "The default is 1e-7.",
        default=None,
        off="default",
        advanced=True,
        applies={"optimizer": optimizers_taking("epsilon")},
        examples=[1e-6],
    )
    ema: Beta | None = setting(
        "Average of the weights",
        "Validate, test and save an exponential moving average of the weights (EMA), of which "
        "this much stays at each update. The training itself continues with the weights, and a "
        "checkpoint has both.",
        default=None,
        off="off",
        advanced=True,
        examples=[0.999],
    )
    loss: Loss = setting(
        "Loss",
        "What the training minimises. Validation and test losses are measured without it, so that "
        "trainings can be compared.",
        default=Loss.AUTO,
        advanced=True,
    )
    focal_gamma: Annotated[float, Field(gt=0.0, le=10.0)] = setting(
        "Focal gamma",
        "How much less examples that are nearly right count: their loss is multiplied by how "
        "wrong they are, to this power.",
        default=2.0,
        advanced=True,
        applies={"loss": (Loss.FOCAL.value,)},
    )
    label_smoothing: Fraction = setting(
        "Label smoothing",
        "Train as if a label were wrong with this probability, so that the model does not become "
        "too sure: 0.1 is usual. Of classes and of several labels at once.",
        default=0.0,
        off="none",
        advanced=True,
        examples=[0.1],
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
    half_precision: HalfPrecision = setting(
        "16-bit floats",
        "Which ones mixed precision computes in: of unequal GPUs those that all of them have.",
        default=HalfPrecision.AUTO,
        advanced=True,
        applies={"mixed_precision": (True,)},
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
    deterministic: bool = setting(
        "Deterministic",
        "The same bits from every run with this seed on these devices, also on GPUs: TensorFlow "
        "then takes only operations that add in a fixed order. Steps on GPUs take longer, and an "
        "operation that has no such form ends the run.",
        default=False,
        advanced=True,
    )
    validate_every: PositiveInt = setting(
        "Validate",
        "The model is validated after every so many epochs, and always after the last one. The "
        "best epoch, and early stopping, are decided by the epochs that were validated. More than "
        "there are epochs: after the last one only.",
        default=1,
        advanced=True,
        prefix=EVERY,
        unit="epoch",
    )
    checkpoint_every_epochs: CheckpointPace | Count = setting(
        "Checkpoint",
        "When the weights and the optimizer's state are saved: as epochs end, but of short ones "
        "only every five seconds, since writing takes longer than they do; or every this many "
        "epochs, however short. 0 saves none.",
        default=CheckpointPace.AUTO,
        advanced=True,
        prefix=EVERY,
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
    keep: Keep | None = setting(
        "Kept weights",
        "Which weights the model has that is saved, exported, evaluated and tested: the best "
        "epoch's where something is validated, else the last ones. The others stand beside it. A "
        "run that is resumed continues from the last ones in any case.",
        default=None,
        off="automatic",
    )
    best_metric: BestMetric = setting(
        "Best by",
        "Which validation metric selects the best epoch, also for early stopping. Of epochs that "
        "are equal except for rounding, the first one is the best. With an average of the weights, "
        "the average is validated and kept.",
        default=BestMetric.LOSS,
        advanced=True,
    )
    keep_best_checkpoint: bool = setting(
        "Keep the best checkpoint",
        "The weights of the best epoch (of the checkpoint with the least training loss where "
        "nothing is validated) stay on the disk, however old they are, also where the last ones "
        "are kept. Where the best ones are, they stay in any case.",
        default=True,
        advanced=True,
    )
    early_stopping_patience: PositiveInt | None = setting(
        "Early stopping",
        "Stop when the metric of “Best by” (the training loss where nothing is validated) has not "
        "improved for this many epochs since the best one, also of those that are not validated: "
        "the training ends after one that is.",
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
        "the accumulation steps, or as many as its memory estimate says: less memory, the same "
        "result but for batch normalisation, which sees smaller parts. The run reports what was "
        "changed. Not where no number of steps helps.",
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
    def time_limit_s(self) -> float | None:
        """What :attr:`time_limit` is in seconds."""
        return None if self.time_limit is None else seconds_of(self.time_limit)

    @property
    def optimizer_arguments(self) -> Mapping[str, object]:
        """What Keras's class takes by keyword, beside the learning rate; no more than was said."""
        names = (*self.optimizer.traits.takes, "weight_decay")
        given = {name: getattr(self, name) for name in names}
        # 0 is said: AdamW has a weight decay of its own.
        return {k: v for k, v in given.items() if v is not None and v is not False}

    def rate_curve(self, steps_an_epoch: int, fine_tuning: FineTuning | None = None) -> RateCurve:
        """The learning rate over the steps of a training.

        Args:
            steps_an_epoch: Optimizer updates of each.
            fine_tuning: May have another rate from an epoch on; ``None``: none begins.
        """
        curve = self.schedule.curve(self.learning_rate, self.epochs, steps_an_epoch)
        if fine_tuning is None or fine_tuning.learning_rate is None:
            return curve
        later = self.schedule.curve(fine_tuning.learning_rate, self.epochs, steps_an_epoch)
        later_from = (fine_tuning.from_epoch - 1) * steps_an_epoch
        return replace(curve, later=later, later_from=later_from)

    def validates_after(self, epoch: int) -> bool:
        """Whether the model is validated after an epoch, counted from 1, where anything is."""
        return epoch % self.validate_every == 0 or epoch == self.epochs

    @property
    def validations_an_epoch(self) -> float:
        """How often the model is validated, as a mean over the epochs: 1 where after each."""
        return -(-self.epochs // self.validate_every) / self.epochs

    @property
    def stores_best(self) -> bool:
        """Whether the weights of the best epoch are held, and stand beside checkpoints."""
        return self.keep is not Keep.LAST or self.keep_best_checkpoint

    @property
    def focal_power(self) -> float:
        """The exponent of the focal loss; 0 for any other loss."""
        return self.focal_gamma if self.loss is Loss.FOCAL else 0.0

    @property
    def changes_loss(self) -> bool:
        """Whether it makes another loss small than it measures, which needs classes or labels."""
        return self.focal_power > 0.0 or self.label_smoothing > 0.0

    @property
    def decays_weights(self) -> bool:
        """Whether weights become a little smaller with each update."""
        return self.weight_decay is not None or self.optimizer.traits.decays_weights

    @property
    def is_fused(self) -> bool:
        """Whether one operation does the whole update: as Keras would, but for rounding."""
        betas = [beta for beta in (self.beta_1, self.beta_2) if beta is not None]
        return self.optimizer.traits.is_fused and all(map(is_fine_in_float32, betas))

    @property
    def recomputes(self) -> bool:
        """Whether activations are computed again."""
        return self.recompute is not Recompute.NONE

    @property
    def optimizer_numbers(self) -> int:
        """How many numbers the optimizer keeps beside each weight."""
        return self.optimizer.traits.moments + self._has_momentum

    @property
    def numbers_beside_weights(self) -> int:
        """How many numbers are kept beside each weight, of the optimizer and of averages."""
        return self.optimizer_numbers + (self.ema is not None)

    @property
    def numbers_held_in_update(self) -> int:
        """How many more an update holds of each weight for a moment, on all weights side by side.

        Seen of each optimizer with six equal layers; weights that decay, clipping and averages hold
        one each.
        """
        own = 0 if self.is_fused else self.optimizer.traits.held_in_update + self._has_momentum
        more = (self.decays_weights, self.clip_norm is not None, self.ema is not None)
        return own + sum(more)

    @property
    def _has_momentum(self) -> bool:
        return self.optimizer.traits.has_momentum and self.momentum > 0.0

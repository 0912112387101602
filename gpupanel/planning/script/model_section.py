"""The script's model and optimizer, as a run builds them.

How each kind of model is built stands in ``models``.
"""

import importlib
from abc import abstractmethod
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gpupanel.domain.data import DataSettings, Scaling, Target
from gpupanel.domain.model import Model, ModelSettings
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.schedule import CYCLE_BEGINS_AT, CYCLE_ENDS_AT, ScheduleKind
from gpupanel.domain.training import Recompute, TrainingSettings
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import indented, joined

WHOLE_MODEL = "keras.Model(inputs, outputs)"

_AVERAGES = """
averages = [  # of the weights, each beside its own
    optimizer.add_variable_from_reference(weight, "average")
    for weight in model.trainable_variables
]
"""

Settings = TypeVar("Settings", bound=Model, contravariant=True)


@dataclass(frozen=True, slots=True)
class BuiltText:
    """Python that builds one model.

    Attributes:
        definitions: What it needs, written before.
        in_scope: What is written within the strategy's scope.
        model: The expression that is the model.
    """

    definitions: str
    in_scope: str
    model: str = WHOLE_MODEL


class ModelScript(Protocol[Settings]):
    """What the file of a model gives to a script: its ``SCRIPT``."""

    @abstractmethod
    def built(self, model: Settings, profile: Profile, plan: LaunchPlan) -> BuiltText:
        """From features ``x`` to ``inputs`` and ``outputs``."""
        ...


def script_of_model(model: ModelSettings) -> ModelScript[ModelSettings]:
    """What builds that model in a script: the ``SCRIPT`` in the file that its ``module`` names."""
    module = importlib.import_module(f"gpupanel.planning.script.models.{model.module}")
    script: ModelScript[ModelSettings] = module.SCRIPT
    return script


def model_section(profile: Profile, plan: LaunchPlan) -> str:
    """Python that builds ``model`` and ``optimizer`` within the strategy's scope."""
    data = profile.data
    # A saved model scales its features itself.
    standardises = data.scaling is Scaling.STANDARDISE and not profile.model.is_saved
    has_statistics = data.target_kind is Target.VALUES or standardises
    built = script_of_model(profile.model).built(profile.model, profile, plan)
    schedule = _rate(profile, plan)
    rate = "rate" if schedule else str(profile.training.learning_rate)
    has_norms = profile.model.normalises_batches is not False
    recomputes = profile.training.recompute is not Recompute.NONE
    across = len(plan.replicas) > 1 and profile.model.synchronizes_batch_norm
    lines = joined(
        built.in_scope,
        f"model = {built.model}",
        f"prepare_batch_norms(model, across_replicas={across})" if has_norms else "",
        f"optimizer = {_optimizer(profile.training, rate)}",
        "optimizer.build(model.trainable_variables)",
        _AVERAGES if profile.training.ema is not None else "",
    )
    return joined(
        part("statistics") if has_statistics else "",
        part("batch_norm") if has_norms or recomputes else "",
        built.definitions,
        schedule,
        part("fused_adam", f"Fused{profile.training.optimizer.label}")
        if profile.training.is_fused
        else "",
        f"keras.utils.set_random_seed(SEED)\nwith strategy.scope():\n{indented(lines)}",
    )


def outputs_of(data: DataSettings) -> str:
    """How many outputs the model has, as an expression."""
    if data.target_kind is not Target.VALUES:
        return "class_count"
    return "int(np.prod(y.shape[1:]))" if data.may_predict_several else "1"


def through(layer: str, *, before: str = "hidden", after: str = "hidden", around: str = "") -> str:
    """A line that calls a layer.

    Args:
        layer: As ``keras.layers`` makes it.
        before: What it is given.
        after: What it gives.
        around: A function that is given the layer first, if any.
    """
    made = f"keras.layers.{layer}"
    return f"{after} = {f'{around}({made})' if around else made}({before})"


def scaled(data: DataSettings, around: str = "") -> str:
    """From ``x`` to ``inputs`` and ``hidden``: raw features on a scale that suits a model."""
    lines = ['inputs = keras.Input(x.shape[1:], name="features")']
    divided = f'Rescaling(1 / {data.greatest}, name="pixels", dtype="float32")'
    match data.scaling:
        case Scaling.STANDARDISE:
            lines.append("mean, deviation = statistics(x)")
            if data.has_categories:
                lines.append("mean[is_category], deviation[is_category] = 0, 1")
            standardised = (
                'Normalization(mean=mean, variance=deviation**2, name="standardise", '
                'dtype="float32")'
            )
            lines.append(through(standardised, before="inputs", around=around))
        case Scaling.DIVIDE:
            lines.append(through(divided, before="inputs", around=around))
        case _:
            lines.append("hidden = inputs")
            if data.scaling is None:  # bytes are taken for pixels
                lines += ["if x.dtype == np.uint8:", indented(through(divided, around=around))]
    return "\n".join(lines)


def later_optimizer(profile: Profile) -> str:
    """The optimizer of the layers that begin to learn later, as an expression.

    Where the loss decides about the rate, it stands for ``factor`` of its greatest one.
    """
    rate = str(later_rate(profile))
    if profile.training.schedule.follows_loss:
        rate = f"{rate} * factor"
    elif profile.training.schedule.kind is not ScheduleKind.CONSTANT:
        rate = "later_rate"
    return _optimizer(profile.training, rate)


def later_rate(profile: Profile) -> float:
    """The greatest learning rate from the epoch on in which more layers learn."""
    tuning = profile.fine_tuning
    given = None if tuning is None else tuning.learning_rate
    return profile.training.learning_rate if given is None else given


def _rate(profile: Profile, plan: LaunchPlan) -> str:
    """From ``x`` to the schedule ``rate``; empty where the learning rate is a number."""
    training, tuning = profile.training, profile.fine_tuning
    if training.schedule.kind in (ScheduleKind.CONSTANT, ScheduleKind.REDUCE_ON_PLATEAU):
        return ""
    examples = "len(x)"
    if profile.data.oversample:
        examples = "np.count_nonzero(np.bincount(y)) * np.bincount(y).max()"
    steps = f"STEPS = int(-(-{examples} // {plan.global_batch_size}))  # updates of an epoch"
    rising, made = _schedule(training, training.learning_rate)
    parts = [steps, rising, f"rate = {made}"]
    if tuning is not None:
        _, again = _schedule(training, later_rate(profile))
        onward = f"later_rate = Onward(tuning_rate, {tuning.from_epoch - 1} * STEPS)"
        parts = [part("later_schedule"), *parts, f"tuning_rate = {again}", onward]
    return joined(*parts)


def _schedule(training: TrainingSettings, greatest: float) -> tuple[str, str]:
    """A line that a schedule with that greatest rate needs before it, and the schedule."""
    schedule, epochs = training.schedule, training.epochs
    falling, rising, begins_at, least = f"{epochs} * STEPS", "", 0.0, schedule.least
    match schedule.kind:
        case ScheduleKind.STEP | ScheduleKind.EXPONENTIAL:
            at_once = ", staircase=True" if schedule.kind is ScheduleKind.STEP else ""
            made = f"ExponentialDecay({greatest}, {schedule.every_epochs} * STEPS, "
            made += f"{schedule.factor}{at_once})"
        case ScheduleKind.COSINE if not schedule.warmup_epochs:
            made = f"CosineDecay({greatest}, {falling}, alpha={least})"
        case _:
            rising = f"rising = round({schedule.warmup_epochs} * STEPS)"
            if schedule.kind is ScheduleKind.ONE_CYCLE:
                rising = f"rising = max(1, round({schedule.rise} * ({falling})))"
                begins_at, least = greatest * CYCLE_BEGINS_AT, CYCLE_ENDS_AT
            made = f"CosineDecay(\n    {begins_at}, max(1, {falling} - rising), alpha={least}, "
            made += f"warmup_target={greatest}, warmup_steps=rising\n)"
    return rising, f"keras.optimizers.schedules.{made}"


def _optimizer(training: TrainingSettings, rate: str) -> str:
    arguments = {name: repr(value) for name, value in training.optimizer_arguments.items()}
    listed = ", ".join([rate, *(f"{name}={value}" for name, value in arguments.items())])
    label = training.optimizer.label
    made = f"Fused{label}" if training.is_fused else f"keras.optimizers.{label}"
    return f"{made}({listed})"

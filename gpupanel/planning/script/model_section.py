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
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.script.sections import indented, joined

_STATISTICS = """
def statistics(values):
    values = np.asarray(values, np.float64)
    deviation = values.std(axis=0)
    return np.float32(values.mean(axis=0)), np.float32(np.where(deviation > 0, deviation, 1))
"""

_KEPT_AS_FLOAT32 = "beta_2=float(np.float32(0.999))"
"""The run's operation (``ResourceApplyAdam``) takes one minus beta in float32; Keras in double."""

WHOLE_MODEL = "keras.Model(inputs, outputs)"

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
    has_statistics = data.target_kind is Target.VALUES or data.scaling is Scaling.STANDARDISE
    built = script_of_model(profile.model).built(profile.model, profile, plan)
    lines = joined(
        built.in_scope,
        f"model = {built.model}",
        f"optimizer = {_optimizer(profile.training)}",
        "optimizer.build(model.trainable_variables)",
    )
    return joined(
        _STATISTICS if has_statistics else "",
        built.definitions,
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


def _optimizer(training: TrainingSettings) -> str:
    traits = training.optimizer.traits
    arguments = [
        str(training.learning_rate),
        *(f"{name}={value!r}" for name, value in training.optimizer_arguments.items()),
        *([_KEPT_AS_FLOAT32] if traits.is_fused else []),
    ]
    made = f"keras.optimizers.{training.optimizer.label}({', '.join(arguments)})"
    return f"{made}  # as a run rounds it" if traits.is_fused else made

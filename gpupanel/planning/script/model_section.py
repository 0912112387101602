"""The script's model and optimizer, as a run builds them."""

from string import Template

from gpupanel.domain.data import Scaling, Target
from gpupanel.domain.model import PythonModel, TrainableModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import Optimizer, TrainingSettings
from gpupanel.planning.script.network_section import OVER_REPLICAS, NetworkSection
from gpupanel.planning.script.placement_section import placed_section, placement_section
from gpupanel.planning.script.sections import indented, joined

_STATISTICS = """
def statistics(values):
    values = np.asarray(values, np.float64)
    deviation = values.std(axis=0)
    return np.float32(values.mean(axis=0)), np.float32(np.where(deviation > 0, deviation, 1))
"""

_PYTHON = """
network = carried_out($path, "model_code").build_model(tuple(x.shape[1:]), $outputs)
if isinstance(network, keras.Sequential) and not network.built:
    network.build((None, *x.shape[1:]))
last = network.layers[-1]
if isinstance(last, keras.layers.Softmax):  # the loss is exact before it
    network = keras.Model(network.inputs, last.input)
elif getattr(last, "activation", None) is keras.activations.softmax:
    last.activation = keras.activations.linear
network.name = "python_model"
hidden = network(hidden)
outputs = keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)
"""

_OPTIMIZERS = {
    Optimizer.ADAM: "Adam",
    Optimizer.ADAMW: "AdamW",
    Optimizer.SGD: "SGD",
    Optimizer.RMSPROP: "RMSprop",
}

_KEPT_AS_FLOAT32 = "beta_2=float(np.float32(0.999))"
"""The run's operation (``ResourceApplyAdam``) takes one minus beta in float32; Keras in double."""


def model_section(profile: Profile, model: TrainableModel, plan: LaunchPlan) -> str:
    """Python that builds ``model`` and ``optimizer`` within the strategy's scope."""
    several = len(plan.replicas) > 1
    network = NetworkSection(profile.data, across_replicas=several, placed=bool(plan.places))
    data = profile.data
    has_statistics = data.target is Target.VALUES or data.scaling is Scaling.STANDARDISE
    statistics = _STATISTICS if has_statistics else ""
    if isinstance(model, PythonModel):
        path, outputs = repr(model.path), network.outputs
        built = joined(network.scaled(), Template(_PYTHON).substitute(path=path, outputs=outputs))
        return joined(statistics, _in_scope(profile, built, "keras.Model(inputs, outputs)"))
    built = joined(network.scaled(), network.layers(model))
    if not plan.places:
        whole = OVER_REPLICAS if several and profile.synchronizes_batch_norm else ""
        return joined(statistics, whole, _in_scope(profile, built, "keras.Model(inputs, outputs)"))
    return joined(
        statistics,
        placed_section(),
        f"def build(placed):\n{indented(built)}\n    return keras.Model(inputs, outputs)",
        placement_section(profile.strategy, model, profile.data, plan.global_batch_size),
        _in_scope(profile, "", "build(placed)"),
    )


def _in_scope(profile: Profile, before: str, model: str) -> str:
    learns = (
        f"optimizer = {_optimizer(profile.training)}\noptimizer.build(model.trainable_variables)"
    )
    body = indented(joined(before, f"model = {model}", learns))
    return f"keras.utils.set_random_seed(SEED)\nwith strategy.scope():\n{body}"


def _optimizer(training: TrainingSettings) -> str:
    adam = training.optimizer in (Optimizer.ADAM, Optimizer.ADAMW)
    more = _KEPT_AS_FLOAT32 if adam else f"momentum={training.momentum}"
    made = f"keras.optimizers.{_OPTIMIZERS[training.optimizer]}({training.learning_rate}, {more})"
    return f"{made}  # as a run rounds it" if adam else made

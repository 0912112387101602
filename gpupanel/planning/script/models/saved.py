"""A saved model that is trained further, as the trainer takes it."""

from string import Template
from textwrap import indent

from typing_extensions import override

from gpupanel.domain.data import Target
from gpupanel.domain.model import Head, Inputs, SavedModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.ending import ending_functions, with_logits
from gpupanel.planning.script.model_section import BuiltText, ModelScript, outputs_of
from gpupanel.planning.script.saved_file import FITTING_SHAPE
from gpupanel.planning.script.sections import joined, lines_for

# In the margin: N a new last layer, V values to be predicted, F frozen layers, L layers that learn
# later, I what the examples are multiplied by.
_DEFINITIONS = '''
  |def saved_network(path):
  |    """The model of a file, without what a run that trained it further has put around it.
  |
  |    And whether one has: then it gives logits.
  |    """
  |    model = keras.saving.load_model(path, compile=False, safe_mode=True)
  |    inner = [each for each in model.layers if not isinstance(each, keras.layers.InputLayer)]
  |    whole = [each for each in inner if isinstance(each, keras.Model)]
  |    whole = [each for each in whole if each.name == "saved_model"]
  |    around = {"outputs", "probabilities", "values", "standardised"}
  |    rest = [each for each in inner if each not in whole]
  |    alone = all(each.name in around and not each.weights for each in rest)
  |    is_whole = len(whole) == 1 and alone
  |    return (whole[0] if is_whole else model), is_whole
  |
  |
  |def layers_with_weights(model):
  |    found = []
  |    for layer in model.layers:
  |        if isinstance(layer, keras.Model):
  |            found += layers_with_weights(layer)
  |        elif layer.weights:
  |            found.append(layer)
  |    return found
N |
N |
N |def without_head(model):
N |    """The model up to the input of its last dense layer; all of it where it ends in none."""
N |    layers, given = keras.layers, model.outputs[0]
N |    after_head = (layers.Activation, layers.Dropout, layers.Flatten, layers.Rescaling)
N |    after_head += (layers.Reshape, layers.Softmax)
N |    while True:
N |        layer = given._keras_history.operation
N |        if not isinstance(layer, layers.Layer) or len(layer._inbound_nodes) != 1:
N |            return model
N |        if isinstance(layer, layers.Dense):
N |            return keras.Model(model.inputs, layer.input)
N |        if not isinstance(layer, after_head):
N |            return model
N |        given = layer.input
'''
_BUILT = """
n |network, is_whole = saved_network($path)
N |network, _ = saved_network($path)
  |ends = () if isinstance(network, keras.Sequential) else (network.input, network.output)
  |if not all(isinstance(each, keras.KerasTensor) for each in ends):  # one may have a name
  |    network = keras.Model(network.inputs[0], network.outputs[0])
  |shape = fitting_shape(tuple(network.inputs[0].shape[1:]), tuple(x.shape[1:]))
  |inputs = examples = keras.Input(x.shape[1:], name="features")
  |if shape != tuple(x.shape[1:]):
  |    examples = keras.layers.Reshape(shape, name="start_shape", dtype="float32")(examples)
I |scaling = keras.layers.Rescaling($scale, $offset, name="given_range", dtype="float32")
I |examples = scaling(examples)
  |if not str(network.inputs[0].dtype).startswith("float"):
  |    examples = keras.ops.cast(examples, network.inputs[0].dtype)
  |network.trainable = True
N |network = without_head(network)
n |$with_logits
N |network.name = "base"
N |layers = layers_with_weights(network)
n |network.name = "saved_model"
n |layers = layers_with_weights(network)[:-1]
F |for layer in layers$frozen:
F |    layer.trainable = False
L |later_layers = $later  # learn from epoch $from_epoch on
  |for layer in layers:
  |    if not isinstance(layer, (keras.layers.Rescaling, keras.layers.Normalization)):
  |        for each in layer._flatten_layers():
  |            each.dtype_policy = keras.config.dtype_policy()
  |hidden = network(examples)
N |if len(hidden.shape) == 4:
N |    hidden = keras.layers.GlobalAveragePooling2D(name="mean")(hidden)
N |elif len(hidden.shape) == 3:
N |    hidden = keras.layers.GlobalAveragePooling1D(name="mean")(hidden)
N |elif len(hidden.shape) > 4:
N |    hidden = keras.layers.Flatten(name="flat")(hidden)
N |outputs = keras.layers.Dense($outputs, name="outputs", dtype="float32")(hidden)
nv|outputs = keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)
nV|means, units = statistics(y.reshape(len(y), -1))
nV|scale, offset = (1 / units).tolist(), (-means / units).tolist()
nV|if len(scale) == 1:
nV|    scale, offset = scale[0], offset[0]
nV|outputs = keras.layers.Rescaling(
nV|    scale=scale, offset=offset, name="standardised", dtype="float32"
nV|)(hidden)
"""


class _SavedModel(ModelScript[SavedModel]):
    """Python that loads it, and replaces its last layer if that is wanted."""

    @override
    def built(self, model: SavedModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        data = profile.data
        target = data.target_kind or Target.CLASSES
        conditions = {
            "N": model.head is Head.NEW,
            "V": target is Target.VALUES,
            "F": model.keeps_layers or model.fine_tuning is not None,
            "L": profile.fine_tuning is not None,
            "I": model.inputs not in (None, Inputs.AS_GIVEN),
        }
        holds = {name for name, is_so in conditions.items() if is_so}
        with_ending = "" if model.head is Head.NEW else with_logits(model, target)
        if with_ending:
            with_ending = "if not is_whole:\n" + indent(with_ending, "    ")
        scale, offset = (model.inputs or Inputs.AS_GIVEN).scale_and_offset
        last = model.frozen_layers if isinstance(model.frozen_layers, int) else 0
        # Until layers begin to learn, the whole base is frozen.
        is_whole = not last or model.fine_tuning is not None
        return BuiltText(
            joined(
                FITTING_SHAPE,
                ending_functions() if with_ending else "",
                lines_for(_DEFINITIONS, holds),
            ),
            in_scope=Template(lines_for(_BUILT, holds)).substitute(
                path=repr(model.path),
                with_logits=with_ending,
                frozen="" if is_whole else f"[: -{last}]",
                later=f"layers[-{last} :]" if last else "layers",
                from_epoch=model.fine_tune_from_epoch,
                outputs=outputs_of(data),
                scale=scale,
                offset=offset,
            ),
        )


SCRIPT = _SavedModel()

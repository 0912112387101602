"""A saved model that is trained further, as the trainer takes it."""

from collections.abc import Iterator
from string import Template

from typing_extensions import override

from gpupanel.domain.data import Target
from gpupanel.domain.model import Head, Inputs, SavedModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.ending import ending_functions, with_logits
from gpupanel.planning.script.model_section import BuiltText, ModelScript, outputs_of
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.saved_file import shape_function
from gpupanel.planning.script.sections import indented, joined, lines_of

_LOADED = """
loaded = keras.saving.load_model($path, compile=False, safe_mode=True)
# The model itself, without what a run that trained it further has put around it.
around = {"outputs", "probabilities", "values", "standardised"}
network = unwrapped(with_plain_ends(loaded), "saved_model", around)
"""
_KNOWS_LOGITS = 'gives_logits = network.name == "saved_model" and network is not loaded'
_RESHAPED = """
network = with_plain_ends(network)
shape = shape_for(network)
inputs = examples = keras.Input(x.shape[1:], name="features")
if shape != tuple(x.shape[1:]):
    examples = keras.layers.Reshape(shape, name="start_shape", dtype="float32")(examples)
"""
_SCALED = """
scaling = keras.layers.Rescaling($scale, $offset, name="given_range", dtype="float32")
examples = scaling(examples)
"""
_CAST = """
if not str(network.inputs[0].dtype).startswith("float"):
    examples = keras.ops.cast(examples, network.inputs[0].dtype)
network.trainable = True
"""
_WITHOUT_HEAD = """
network = without_head(network)
network.name = "base"
layers = list(layers_with_weights(network))
"""
_WITH_HEAD = """
network.name = "saved_model"
layers = list(layers_with_weights(network))[:-1]
"""
_CALLED = """
set_precision(layers)
hidden = network(examples)
"""
_NEW_HEAD = """
hidden = averaged_over_places(hidden)
outputs = keras.layers.Dense($outputs, name="outputs", dtype="float32")(hidden)
"""
_KEPT_OUTPUTS = """
outputs = keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)
"""
_KEPT_VALUES = """
means, units = statistics(y.reshape(len(y), -1))
scale, offset = (1 / units).tolist(), (-means / units).tolist()
if len(scale) == 1:
    scale, offset = scale[0], offset[0]
outputs = keras.layers.Rescaling(
    scale=scale, offset=offset, name="standardised", dtype="float32"
)(hidden)
"""


_NEEDED = ("unwrapped", "with_plain_ends", "layers_with_weights", "set_precision")
_OF_NEW_HEAD = ("without_head", "averaged_over_places")


class _SavedModel(ModelScript[SavedModel]):
    """Python that loads it, and replaces its last layer if that is wanted."""

    @override
    def built(self, model: SavedModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        has_new_head = model.head is Head.NEW
        with_ending = "" if has_new_head else _with_logits(model, profile)
        return BuiltText(
            joined(
                shape_function(),
                part("given_models", *_NEEDED, *(_OF_NEW_HEAD if has_new_head else ())),
                ending_functions() if with_ending else "",
            ),
            in_scope=lines_of(_built(model, profile, with_ending)),
        )


def _with_logits(model: SavedModel, profile: Profile) -> str:
    """Takes the last activation off, where the file has one; empty: that is not asked."""
    with_ending = with_logits(model, profile.data.target_kind or Target.CLASSES)
    return with_ending and f"if not gives_logits:\n{indented(with_ending)}"


def _built(model: SavedModel, profile: Profile, with_ending: str) -> Iterator[str]:
    has_new_head = model.head is Head.NEW
    yield Template(_LOADED).substitute(path=repr(model.path))
    if not has_new_head:
        yield _KNOWS_LOGITS
    yield _RESHAPED
    if model.inputs not in (None, Inputs.AS_GIVEN):
        scale, offset = model.inputs.scale_and_offset
        yield Template(_SCALED).substitute(scale=scale, offset=offset)
    yield _CAST
    if has_new_head:
        yield _WITHOUT_HEAD
    else:
        yield with_ending
        yield _WITH_HEAD
    yield from _frozen(model, profile)
    yield _CALLED
    if has_new_head:
        yield Template(_NEW_HEAD).substitute(outputs=outputs_of(profile.data))
    elif profile.data.target_kind is Target.VALUES:
        yield _KEPT_VALUES
    else:
        yield _KEPT_OUTPUTS


def _frozen(model: SavedModel, profile: Profile) -> Iterator[str]:
    last = model.frozen_layers if isinstance(model.frozen_layers, int) else 0
    if model.keeps_layers or model.fine_tuning is not None:
        # Until layers begin to learn, the whole base is frozen.
        is_whole = not last or model.fine_tuning is not None
        yield f"for layer in layers{'' if is_whole else f'[: -{last}]'}:"
        yield "    layer.trainable = False"
    if profile.fine_tuning is not None:
        later = f"layers[-{last} :]" if last else "layers"
        yield f"later_layers = {later}  # learn from epoch {model.fine_tune_from_epoch} on"


SCRIPT = _SavedModel()

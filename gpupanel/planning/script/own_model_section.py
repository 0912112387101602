"""The script's model where data and model are code of the person's own, whatever its ends are."""

from string import Template
from typing import Final

from gpupanel.domain.data import Target
from gpupanel.domain.model import ModelSettings, Outputs
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.ending import ending_functions, with_logits
from gpupanel.planning.script.model_section import BuiltText
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import indented, joined

_FUNCTIONS: Final = '''
def apart(rows):
    """Several inputs out of a row of all of them, by their names."""
    found, start = {}, 0
    for name, (shape, _) in INPUTS.items():
        end = start + int(np.prod(shape))
        shaped = keras.layers.Reshape(shape, name=f"input_{name}", dtype="float32")
        found[name] = shaped(rows[:, start:end])
        start = end
    return found


def divided(pixels, name):
    """Bytes on a scale that suits a model."""
    return keras.layers.Rescaling(1.0 / 255.0, name=name, dtype="float32")(pixels)


def on_a_scale(given):
    """Raw examples as the model takes them; several inputs in a list."""
    if not INPUTS:
        return divided(given, "pixels") if x.dtype == np.uint8 else given
    return [
        divided(given[name], f"pixels_{name}") if are_pixels else given[name]
        for name, (_, are_pixels) in INPUTS.items()
    ]


def output_shape(name):
    """Of what the model gives for one example."""
    predicts, shape, classes = OUTPUTS[name]
    return (*shape, len(classes)) if predicts == "classes" else shape or (1,)


def asked_outputs():
    """What build_model is told of outputs: a number, a shape, or of several a dictionary."""
    if OUTPUTS:
        shapes = {name: output_shape(name) for name in OUTPUTS}
        return {name: each if OUTPUTS[name][1] else each[0] for name, each in shapes.items()}
    return $arrays if ARE_ARRAYS else $row


def outputs_in_a_row(network, outputs):
    """The model with all outputs in a row, each without the softmax or sigmoid it may end in."""
    rows, shapes = [], {name: tuple(each.shape[1:]) for name, each in outputs.items()}
    needed = {name: output_shape(name) for name in OUTPUTS}
    fits = shapes.keys() == needed.keys() and all(
        shapes[name] in (each, () if OUTPUTS[name][0] == "classes" else (*each, 1))
        for name, each in needed.items()
    )
    if not fits:
        raise SystemExit(f"The model gives {shapes}, and the labels need {needed}.")
    for name, (predicts, *_) in OUTPUTS.items():
        output = outputs[name]
        if not own_loss and predicts != "values":
            alone = keras.Model(network.inputs, output)
            ending = ending_of(alone, of_places=True)
            if ending != "linear"$unless_said:
                output = output_before_ending(
                    alone,
                    ending,
                    of_labels=predicts == "labels",
                    is_given_once=sum(each is output for each in outputs.values()) == 1,
                )
        row = keras.layers.Reshape((-1,), name=f"row_of_{name}", dtype="float32")
        rows.append(row(output))
    joined = rows[0]
    if len(rows) > 1:
        joined = keras.layers.Concatenate(name="all_outputs", dtype="float32")(rows)
    return keras.Model(network.inputs, joined, name=network.name)


def own_function(name):
    """What the file of the model has under that name; a module was imported."""
    found = getattr(code, name, None)
    return None if isinstance(found, types.ModuleType) else found
'''
_BUILT: Final = """
code = carried_out($path, "model_code")
own_loss, own_metrics = own_function("loss"), own_function("metrics") or {}
inputs = keras.Input(x.shape[1:], name="features")
shapes = {name: shape for name, (shape, _) in INPUTS.items()}
network = code.build_model(shapes or tuple(x.shape[1:]), asked_outputs())
if isinstance(network, keras.Sequential) and not network.built:
    network.build((None, *x.shape[1:]))
outputs = named_outputs(network) if OUTPUTS else {}
if INPUTS:
    taken, ends = named_inputs(network), network.outputs
    ends = ends[0] if len(ends) == 1 else ends
    network = keras.Model([taken[name] for name in INPUTS], ends, name=network.name)
if OUTPUTS:
    network = outputs_in_a_row(network, outputs)
else:
    network = with_plain_ends(network)
$with_logits
network.name = "python_model"
hidden = network(on_a_scale(apart(inputs) if INPUTS else inputs))
outputs = keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)
"""
_SHAPES: Final = {
    Target.CLASSES: ("(*y.shape[1:], class_count)", "class_count"),
    Target.LABELS: ("y.shape[1:]", "class_count"),
    Target.VALUES: ("y.shape[1:]", "int(np.prod(y.shape[1:]))"),
}
"""What ``build_model`` is told of one output: of arrays, and of a row."""

SAVED: Final = """
features = {name: keras.Input(shape, name=name) for name, (shape, _) in INPUTS.items()}
features = features or keras.Input(x.shape[1:], name="features")
hidden = network(on_a_scale(features))
outputs = keras.layers.Activation("linear", name="outputs", dtype="float32")(hidden)
keras.Model(features, as_saved(outputs), name="model").save("model.keras")
"""
"""The model as people use it: inputs and outputs by their names, if there are several."""


def own_model(model: ModelSettings, profile: Profile) -> BuiltText:
    """From ``x`` to ``inputs`` and ``outputs``, with ``own_loss`` and ``own_metrics``."""
    target = profile.data.target_kind or Target.CLASSES
    without_ending = with_logits(model, target, "ARE_ARRAYS")
    if without_ending:  # a loss of one's own is given what the model gives
        without_ending = indented(f"if not own_loss:\n{indented(without_ending)}")
    arrays, row = _SHAPES[target]
    are_logits = model.chosen_outputs is Outputs.LOGITS
    functions = Template(_FUNCTIONS).substitute(
        arrays=arrays,
        row=row,
        unless_said=' and ending != "unknown"' if are_logits else "",
    )
    built = Template(_BUILT).substitute(path=repr(model.chosen_path), with_logits=without_ending)
    needed = part("given_models", "with_plain_ends", "named_inputs", "named_outputs")
    return BuiltText(joined(needed, ending_functions(), functions), in_scope=built)

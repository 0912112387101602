"""The script of the tasks ``evaluate`` and ``predict``: ``trainer/inference``, cut down."""

from string import Template

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.data_section import script_of, split_section
from gpupanel.planning.script.sections import joined, lines_for

# In the margin: E evaluation, V values to be predicted, C predictions as CSV.
_TEXT = '''
eC|import csv
eC|
  |DEVICES, SHARES, BATCH = $devices, $shares, $batch
  |
  |
  |def fitting_shape(wanted, shape):
  |    """The shape in which the model takes an example: the same numbers in the same order."""
  |    flat, without_channel = (int(np.prod(shape)),), shape[:-1] if shape[-1:] == (1,) else shape
  |    for each in (shape, (*shape, 1), without_channel, flat):
  |        if len(each) == len(wanted):
  |            if all(side in (None, there) for side, there in zip(wanted, each)):
  |                return each
  |    raise SystemExit(f"The model takes examples of the shape {wanted}, the data has {shape}.")
  |
  |
  |def without_ending(model):
  |    """What the model ends in, and the model without a softmax or a single sigmoid.
  |
  |    A loss is exact before them.
  |    """
  |    outputs = int(np.prod(model.outputs[0].shape[1:]))
  |    last = model.outputs[0]._keras_history.operation
  |    activation = getattr(last, "activation", None)
  |    if len(last._inbound_nodes) != 1:
  |        return "unknown", model
  |    if isinstance(last, keras.layers.Softmax) and outputs > 1:
  |        return "softmax", keras.Model(model.inputs, last.input)
  |    if activation is keras.activations.softmax and outputs > 1:
  |        last.activation = keras.activations.linear
  |        return "softmax", model
  |    if activation is keras.activations.sigmoid:
v |        last.activation = keras.activations.linear if outputs == 1 else activation
  |        return "sigmoid", model
  |    return ("linear" if activation is keras.activations.linear else "unknown"), model
  |
  |
  |def loaded_on(device):
  |    with tf.device(device):
  |        model = keras.saving.load_model($path, compile=False, safe_mode=True)
  |    shape = fitting_shape(tuple(model.inputs[0].shape[1:]), tuple(x.shape[1:]))
  |    dtype, (ending, model) = model.inputs[0].dtype, without_ending(model)
  |
  |    @tf.function(autograph=False)
  |    def outputs_of(features):
  |        with tf.device(device):
  |            outputs = tf.cast(model(tf.cast(features, dtype), training=False), tf.float32)
  |        return tf.reshape(outputs, [features.shape[0], -1])
  |
  |    def call(features):
  |        with tf.device(device):
  |            return outputs_of(tf.constant(features.reshape(-1, *shape)))
  |
  |    return ending, call
  |
  |
  |models = [loaded_on(device) for device in DEVICES]
  |
  |
  |def outputs_of(rows):
  |    """The model's outputs for some examples; each device takes its share of them."""
  |    features = x[rows]
  |    borders = np.concatenate([[0], np.cumsum(SHARES)]) * len(rows) // BATCH
  |    parts = zip(models, borders, borders[1:])
  |    found = [model(features[first:end]) for (_, model), first, end in parts if first < end]
  |    outputs = np.concatenate([each.numpy() for each in found])
  |    if not np.isfinite(outputs).all():
  |        raise SystemExit("The model gives NaN or infinity.")
  |    return outputs
v |
v |
v |def meaning_of(ending, first):
v |    """What the outputs mean, by what the model ends in, else by the first examples."""
v |    if first.shape[1] > 1:
v |        if ending == "sigmoid":
v |            return "probabilities"
v |        sums_to_one = np.abs(first.sum(axis=1, dtype=np.float64) - 1) < 1e-3
v |        if ending == "unknown" and (first >= 0).all() and sums_to_one.all():
v |            return "probabilities"
v |        return "logits"
v |    if not class_names and ending in ("softmax", "linear"):
v |        return "values"
v |    if ending == "unknown" and ((first >= 0) & (first <= 1)).all():
v |        return "a probability"
v |    return "a logit"
v |
v |
v |def scores_of(outputs):
v |    """Probabilities of the classes, and their logarithms."""
v |    if meaning in ("a logit", "a probability"):  # of the second of two classes
v |        other = np.zeros_like(outputs) if meaning == "a logit" else 1 - outputs
v |        outputs = np.concatenate([other, outputs], axis=1)
v |    if meaning in ("a logit", "logits"):
v |        shifted = outputs - outputs.max(axis=1, keepdims=True)
v |        logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
v |        return np.exp(logarithms), logarithms
v |    sums = np.maximum(outputs.sum(axis=1, keepdims=True), 1e-7)
v |    return outputs, np.log(np.clip(outputs / sums, 1e-7, 1 - 1e-7))
  |
  |
  |first = outputs_of(indices[:64])
V |if first.shape[1] != 1:
v |if not (first.shape[1] $fit or (first.shape[1] == 1 and len(class_names) <= 2)):
  |    raise SystemExit(f"The model has {first.shape[1]} outputs, which do not fit the data.")
v |meaning = meaning_of(models[0][0], first)
  |batches = [indices[begin : begin + BATCH] for begin in range(0, len(indices), BATCH)]
EV|loss = error = 0.0
EV|for rows in batches:
EV|    errors = outputs_of(rows)[:, 0].astype(np.float64) - y[rows]
EV|    loss, error = loss + np.square(errors).sum(), error + np.abs(errors).sum()
EV|print(f"loss {loss / len(indices):.6f}  mean absolute error {error / len(indices):.6f}")
Ev|loss, confusion = 0.0, None
Ev|for rows in batches:
Ev|    probabilities, logarithms = scores_of(outputs_of(rows))
Ev|    loss -= logarithms[np.arange(len(rows)), y[rows]].sum(dtype=np.float64)
Ev|    if confusion is None:  # rows: the class of an example; columns: what it was taken for
Ev|        confusion = np.zeros((probabilities.shape[1], probabilities.shape[1]), int)
Ev|    np.add.at(confusion, (y[rows], logarithms.argmax(axis=1)), 1)
Ev|accuracy = np.trace(confusion) / len(indices)
Ev|print(f"loss {loss / len(indices):.6f}  accuracy {accuracy:.6f}")
Ev|print(confusion)
eV|numbers, class_names = np.concatenate([outputs_of(rows) for rows in batches]), []
ev|numbers = np.concatenate([outputs_of(rows) for rows in batches])
ev|if meaning == "values":
ev|    class_names = []
ev|else:
ev|    numbers = scores_of(numbers)[0]
ev|    more = range(len(class_names), numbers.shape[1])
ev|    class_names = [*class_names, *map(str, more)][: numbers.shape[1]]
e |predicted = numbers.argmax(axis=1).astype(np.int32)
e |arrays = {"index": indices}
e |if class_names:
e |    arrays |= {"predicted": predicted, "probabilities": numbers, "class_names": class_names}
e |else:
e |    arrays["values"] = numbers[:, 0]
e |if y is not None:
e |    arrays["label"] = y[indices]
ec|np.savez("predictions.npz", **arrays)
eC|header = ["predicted_name", "predicted"] if class_names else []
eC|header += [] if y is None else ["label_name", "label"] if class_names else ["label"]
eC|header += [f"probability of {name}" for name in class_names] or ["value"]
eC|with open("predictions.csv", "w", encoding="utf-8", newline="") as file:
eC|    lines = csv.writer(file, lineterminator="\\n")
eC|    lines.writerow(["index", *header])
eC|    for index, taken, row in zip(indices, predicted, numbers.tolist()):
eC|        cells = [class_names[taken], taken] if class_names else []
eC|        if y is not None:
eC|            cells += [class_names[y[index]], y[index]] if class_names else [f"{y[index]:.9g}"]
eC|        lines.writerow([index, *cells, *(f"{number:.9g}" for number in row)])
e |print(f"{len(indices)} predictions")
'''


def inference_data_section(profile: Profile) -> str:
    """Python that reads the data and says which ``indices`` of it are predicted."""
    data, needs_labels = profile.data, profile.task == "evaluate"
    script = script_of(data)
    return joined(
        script.read(data, needs_labels=needs_labels),
        _indices(profile),
        script.pixels(data, "x", in_memory=False),
        script.class_names(data) if data.target is Target.CLASSES else "",
    )


def _indices(profile: Profile) -> str:
    """The validation and the test set of a source stand after its training set."""
    data, which = profile.data, profile.inference.examples
    together, sets = "count = len(x)", []
    if data.chosen_validation_path:
        together, sets = "count, held_back = len(x), len(x) + len(x_val)", ["val"]
    if data.has_test_set is not False or data.chosen_test_path:
        sets.append("test")
    for name in "xy" if sets else "":
        parts = ", ".join([name, *(f"{name}_{part}" for part in sets)])
        together += f"\n{name} = np.concatenate([{parts}])"
    if which == "all":
        return f"{together}\nindices = np.arange(len(x), dtype=np.int32)"
    if data.held_out_fraction:
        chosen = "kept" if which == "training" else "held_back"
        return joined(
            split_section(data), together, f"indices = np.sort({chosen}).astype(np.int32)"
        )
    end = "held_back" if data.chosen_validation_path else "len(x)"
    bounds = "count" if which == "training" else f"count, {end}"
    return f"{together}\nindices = np.arange({bounds}, dtype=np.int32)"


def inference_section(profile: Profile, plan: LaunchPlan) -> str:
    """Python that loads the model onto each device and evaluates, or writes predictions."""
    csv = profile.inference.output == "csv"
    conditions = {
        "E": profile.task == "evaluate",
        "V": profile.data.target is Target.VALUES,
        "C": csv,
    }
    return Template(
        lines_for(_TEXT, {letter for letter, holds in conditions.items() if holds})
    ).substitute(
        devices=[replica.logical_device for replica in plan.replicas],
        shares=list(plan.shares),
        batch=plan.global_batch_size,
        path=repr(profile.model.chosen_path),
        fit=_fit(profile.data),
    )


def _fit(data: DataSettings) -> str:
    """How many outputs there must be; a greatest label shows the least number of classes."""
    if data.counts_classes_by_labels:
        return ">= max(2, len(class_names))"
    return "== len(class_names)"

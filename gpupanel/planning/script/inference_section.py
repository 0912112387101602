"""The script of the tasks ``evaluate`` and ``predict``: ``trainer/inference``, cut down."""

from string import Template

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.model import Inputs
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.class_names import classes_of_model
from gpupanel.planning.script.data_section import script_of, split_section
from gpupanel.planning.script.ending import ending_functions
from gpupanel.planning.script.saved_file import FITTING_SHAPE
from gpupanel.planning.script.sections import joined, lines_for

# In the margin: E evaluation, V values to be predicted, K several labels at once, C predictions as
# CSV, N with the name of each file.
_TEXT = '''
eC|import csv
eC|
  |DEVICES, SHARES, BATCH = $devices, $shares, $batch
  |
  |
  |$fitting_shape
  |
  |
  |$ending
  |
  |
  |def without_ending(model):
  |    """What the model ends in, and the model without a softmax or a single sigmoid.
  |
  |    A loss is exact before them.
  |    """
  |    ending = ending_of(model)
V |    return ending, model
vk|    outputs = int(np.prod(model.outputs[0].shape[1:]))
vk|    is_cut = ending == ("softmax" if outputs > 1 else "sigmoid")
K |    is_cut = ending == "sigmoid"
v |    if ending not in ("softmax", "sigmoid"):
v |        ending = $said or ("linear" if ending == "linear" else "unknown")
v |    return ending, (before_ending(model, ending) if is_cut else model)
  |
  |
  |def loaded_on(device):
  |    with tf.device(device):
  |        model = keras.saving.load_model($path, compile=False, safe_mode=True)
  |    ends = () if isinstance(model, keras.Sequential) else (model.input, model.output)
  |    if not all(isinstance(each, keras.KerasTensor) for each in ends):  # one may have a name
  |        model = keras.Model(model.inputs[0], model.outputs[0])
  |    shape = fitting_shape(tuple(model.inputs[0].shape[1:]), tuple(x.shape[1:]))
  |    dtype, (ending, model) = model.inputs[0].dtype, without_ending(model)
  |
  |    @tf.function(autograph=False)
  |    def outputs_of(features):
  |        with tf.device(device):
  |            outputs = tf.cast(model(tf.cast($given, dtype), training=False), tf.float32)
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
vk|
vk|
vk|def meaning_of(ending, first):
vk|    """What the outputs mean, by what the model ends in, else by the first examples."""
vk|    if first.shape[1] > 1:
vk|        if ending in ("sigmoid", "probabilities"):
vk|            return "probabilities"
vk|        sums_to_one = np.abs(first.sum(axis=1, dtype=np.float64) - 1) < 1e-3
vk|        if ending == "unknown" and (first >= 0).all() and sums_to_one.all():
vk|            return "probabilities"
vk|        return "logits"
vk|    if not class_names and ending == "linear":
vk|        return "values"
vk|    is_unknown = ending == "unknown" and ((first >= 0) & (first <= 1)).all()
vk|    if ending == "probabilities" or is_unknown:
vk|        return "a probability"
vk|    return "a logit"
vk|
vk|
vk|def scores_of(outputs):
vk|    """Probabilities of the classes, and their logarithms."""
vk|    if meaning in ("a logit", "a probability"):  # of the second of two classes
vk|        other = np.zeros_like(outputs) if meaning == "a logit" else 1 - outputs
vk|        outputs = np.concatenate([other, outputs], axis=1)
vk|    if meaning in ("a logit", "logits"):
vk|        shifted = outputs - outputs.max(axis=1, keepdims=True)
vk|        logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
vk|        return np.exp(logarithms), logarithms
vk|    sums = np.maximum(outputs.sum(axis=1, keepdims=True), 1e-7)
vk|    return outputs, np.log(np.clip(outputs / sums, 1e-7, 1 - 1e-7))
  |
  |
  |first = outputs_of(indices[:64])
EV|if first.shape[1] != np.prod(y.shape[1:]):
eV|if y is not None and first.shape[1] != np.prod(y.shape[1:]):
vk|if not (first.shape[1] $fit or (first.shape[1] == 1 and len(class_names) <= 2)):
K |class_names = class_names or [str(number) for number in range(first.shape[1])]
K |if first.shape[1] != len(class_names):
  |    raise SystemExit(f"The model has {first.shape[1]} outputs, which do not fit the data.")
vk|meaning = meaning_of(models[0][0], first)
K |ending = models[0][0]
K |are_logits = ending in ("sigmoid", "linear", "logits")
K |are_logits |= ending != "probabilities" and not ((first >= 0) & (first <= 1)).all()
  |batches = [indices[begin : begin + BATCH] for begin in range(0, len(indices), BATCH)]
EV|loss = error = 0.0
EV|for rows in batches:
EV|    outputs = outputs_of(rows)
EV|    errors = outputs.astype(np.float64) - y[rows].reshape(outputs.shape).astype(np.float64)
EV|    loss += np.square(errors).mean(axis=1).sum()
EV|    error += np.abs(errors).mean(axis=1).sum()
EV|print(f"loss {loss / len(indices):.6f}  mean absolute error {error / len(indices):.6f}")
EK|loss = right = 0.0
EK|for rows in batches:
EK|    outputs, has = outputs_of(rows), y[rows] > 0.5
EK|    if are_logits:
EK|        losses = np.logaddexp(np.float32(0), np.where(has, -outputs, outputs))
EK|    else:
EK|        losses = -np.log(np.clip(np.where(has, outputs, 1 - outputs), 1e-7, 1))
EK|    loss += losses.mean(axis=1, dtype=np.float64).sum()
EK|    right += ((outputs > (0 if are_logits else 0.5)) == has).mean(axis=1).sum()
EK|print(f"loss {loss / len(indices):.6f}  accuracy {right / len(indices):.6f}")
Evk|loss, confusion = 0.0, None
Evk|for rows in batches:
Evk|    probabilities, logarithms = scores_of(outputs_of(rows))
Evk|    loss -= logarithms[np.arange(len(rows)), y[rows]].sum(dtype=np.float64)
Evk|    if confusion is None:  # rows: the class of an example; columns: what it was taken for
Evk|        confusion = np.zeros((probabilities.shape[1], probabilities.shape[1]), int)
Evk|    np.add.at(confusion, (y[rows], logarithms.argmax(axis=1)), 1)
Evk|accuracy = np.trace(confusion) / len(indices)
Evk|print(f"loss {loss / len(indices):.6f}  accuracy {accuracy:.6f}")
Evk|print(confusion)
eV|numbers, class_names = np.concatenate([outputs_of(rows) for rows in batches]), []
ev|numbers = np.concatenate([outputs_of(rows) for rows in batches])
eK|if are_logits:
eK|    numbers = np.exp(-np.logaddexp(np.float32(0), -numbers))
evk|if meaning == "values":
evk|    class_names = []
evk|else:
evk|    numbers = scores_of(numbers)[0]
evk|    more = range(len(class_names), numbers.shape[1])
evk|    class_names = [*class_names, *map(str, more)][: numbers.shape[1]]
ek|predicted = numbers.argmax(axis=1).astype(np.int32)
eK|predicted = (numbers > 0.5).astype(np.int32)
e |arrays = {"index": indices}
e |if class_names:
e |    arrays |= {"predicted": predicted, "probabilities": numbers, "class_names": class_names}
e |else:
e |    arrays["values"] = numbers if numbers.shape[1] > 1 else numbers[:, 0]
ecN|arrays["file_name"] = [os.path.relpath(x.paths[index], $root) for index in indices]
e |if y is not None:
e |    arrays["label"] = y[indices]
ec|np.savez("predictions.npz", **arrays)
eCK|
eCK|
eCK|def joined(row):
eCK|    return "|".join(class_names[place] for place in np.flatnonzero(row))
eCK|
eCK|
eCK|header = ["predicted_names", *([] if y is None else ["label_names"])]
eCK|header += [f"probability of {name}" for name in class_names]
eCk|places = range(1, numbers.shape[1] + 1) if numbers.shape[1] > 1 else []
eCk|header = ["predicted_name", "predicted"] if class_names else []
eCk|if y is not None:
eCk|    values = [f"label {place}" for place in places] or ["label"]
eCk|    header += ["label_name", "label"] if class_names else values
eCk|header += [f"probability of {name}" for name in class_names]
eCk|header += [] if class_names else [f"value {place}" for place in places] or ["value"]
eCn|with open("predictions.csv", "w", encoding="utf-8", newline="") as file:
eCN|how = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
eCN|with open("predictions.csv", "w", **how) as file:
eC|    lines = csv.writer(file, lineterminator="\\n")
eCn|    lines.writerow(["index", *header])
eCN|    lines.writerow(["index", "file", *header])
eC|    for index, taken, row in zip(indices, predicted, numbers.tolist()):
eCK|        cells = [joined(taken), *([] if y is None else [joined(y[index])])]
eCk|        cells = [class_names[taken], taken] if class_names else []
eCk|        if y is not None and class_names:
eCk|            cells += [class_names[y[index]], y[index]]
eCk|        elif y is not None:
eCk|            cells += [f"{number:.9g}" for number in np.ravel(y[index])]
eCN|        cells = [os.path.relpath(x.paths[index], $root), *cells]
eC|        lines.writerow([index, *cells, *(f"{number:.9g}" for number in row)])
e |print(f"{len(indices)} predictions")
'''


_ALL_ARE_TAKEN = """
import sys

# What the model learned from was not known when this was written.
print("All examples are evaluated, also those that the model learned from.", file=sys.stderr)
"""


def inference_data_section(profile: Profile) -> str:
    """Python that reads the data and says which ``indices`` of it are predicted."""
    data = profile.data
    is_part = profile.inference.takes_part
    needs_labels = profile.task == "evaluate" or (is_part and data.leaves_out_unlabelled)
    script = script_of(data)
    return joined(
        _ALL_ARE_TAKEN if profile.leaves_examples_open else "",
        script.read_for_model(data, profile.model.chosen_path, needs_labels=needs_labels),
        _indices(profile),
        script.pixels(data, "x", in_memory=False, from_model=True),
        script.class_names(data) if data.target_kind is not Target.VALUES else "",
        classes_of_model(profile),
    )


def _indices(profile: Profile) -> str:
    """The validation and the test set of a source stand after its training set."""
    data, which = profile.data, profile.inference.examples
    together, sets = "count = len(x)", []
    if data.has_validation_set:
        together, sets = "count, held_back = len(x), len(x) + len(x_val)", ["val"]
    if data.has_test_set is not False or data.chosen_test_path:
        sets.append("test")
    for name in "xy" if sets else "":
        parts = ", ".join([name, *(f"{name}_{part}" for part in sets)])
        joined_parts = f"np.concatenate([{parts}])"
        if name == "y" and data.may_lack_labels:
            joined_parts = f"None if any(each is None for each in [{parts}]) else {joined_parts}"
        together += f"\n{name} = {joined_parts}"
    if not profile.inference.takes_part:
        return f"{together}\nindices = np.arange(len(x), dtype=np.int32)"
    if data.held_out_fraction:
        chosen = "kept" if which == "training" else "held_back"
        return joined(
            split_section(data), together, f"indices = np.sort({chosen}).astype(np.int32)"
        )
    end = "held_back" if data.has_validation_set else "len(x)"
    bounds = "count" if which == "training" else f"count, {end}"
    return f"{together}\nindices = np.arange({bounds}, dtype=np.int32)"


def inference_section(profile: Profile, plan: LaunchPlan) -> str:
    """Python that loads the model onto each device and evaluates, or writes predictions."""
    csv = profile.inference.output_of(profile.data) == "csv"
    said = profile.model.chosen_outputs
    conditions = {
        "E": profile.task == "evaluate",
        "V": profile.data.target_kind is Target.VALUES,
        "K": profile.data.target_kind is Target.LABELS,
        "C": csv,
        "N": profile.data.is_decoded,
    }
    return Template(
        lines_for(_TEXT, {letter for letter, holds in conditions.items() if holds})
    ).substitute(
        devices=[replica.logical_device for replica in plan.replicas],
        shares=list(plan.shares),
        batch=plan.global_batch_size,
        path=repr(profile.model.chosen_path),
        root=repr(profile.data.chosen_path),
        fit=_fit(profile.data),
        fitting_shape=FITTING_SHAPE.strip("\n"),
        ending=ending_functions(),
        said=repr(said and said.value),
        given=_given(profile.model.chosen_inputs),
    )


def _given(inputs: Inputs | None) -> str:
    """The features, as the model takes them."""
    if inputs is None or inputs is Inputs.AS_GIVEN:
        return "features"
    scale, offset = inputs.scale_and_offset
    return f"tf.cast(features, tf.float32) * {scale!r} + {offset!r}"


def _fit(data: DataSettings) -> str:
    """How many outputs there must be; a greatest label shows the least number of classes."""
    if data.counts_classes_by_labels:
        return ">= max(2, len(class_names))"
    if data.may_lack_labels:
        return "== (len(class_names) or first.shape[1])"
    return "== len(class_names)"

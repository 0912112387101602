"""The script of the tasks ``evaluate`` and ``predict``: ``trainer/inference``, cut down."""

from collections.abc import Iterator
from string import Template

from gpupanel.domain.data import Target
from gpupanel.domain.model import Inputs
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.class_names import classes_of_model
from gpupanel.planning.script.data_section import script_of, split_section
from gpupanel.planning.script.ending import ending_functions
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.saved_file import shape_function
from gpupanel.planning.script.sections import joined, lines_of

_MODELS = '''
DEVICES, SHARES, BATCH = $devices, $shares, $batch
LABELS_ARE, OUTPUTS_ARE = $target, $said  # the latter as a person says


def loaded_on(device):
    """What the model's last layers do, and a function from examples to its outputs."""
    with tf.device(device):
        model = keras.saving.load_model($path, compile=False, safe_mode=True)
    model = with_plain_ends(model)
    shape, count = shape_for(model), int(np.prod(model.outputs[0].shape[1:]))
    activation = activation_of(ending_of(model), count, OUTPUTS_ARE)
    if ending := ending_taken_off(activation, count, LABELS_ARE):
        model = before_ending(model, ending)
    return activation, PlacedModel(model, device, shape, x[indices[:1]].dtype, count$given)


models = [loaded_on(device) for device in DEVICES]


def outputs_of(rows):
    """The model's outputs for some examples; each device takes its share of them."""
    features = x[rows]
    borders = np.concatenate([[0], np.cumsum(SHARES)]) * len(rows) // BATCH
    parts = zip(models, borders, borders[1:])
    found = [
        model.outputs_for(features[first:end])
        for (_, model), first, end in parts
        if first < end
    ]
    outputs = np.concatenate([each.numpy() for each in found])
    if not np.isfinite(outputs).all():
        raise SystemExit("The model gives NaN or infinity.")
    return outputs


first = outputs_of(indices[:64])
count = first.shape[1]
'''
_MEANING = """
if not ($fit):
    raise SystemExit(f"The model has {count} outputs, which do not fit the data.")
meaning = meaning_of(models[0][0], first, len(class_names) or None, LABELS_ARE)
batches = [indices[begin : begin + BATCH] for begin in range(0, len(indices), BATCH)]
"""
_EVALUATED = {
    Target.VALUES: """
loss = measure = 0.0
for rows in batches:
    outputs = outputs_of(rows)
    errors = outputs.astype(np.float64) - y[rows].reshape(outputs.shape).astype(np.float64)
    loss += sum_of_means(np.square(errors))
    measure += sum_of_means(np.abs(errors))
print(f"loss {loss / len(indices):.6f}  mean absolute error {measure / len(indices):.6f}")
""",
    Target.LABELS: """
loss = measure = 0.0
for rows in batches:
    outputs = outputs_of(rows)
    loss -= sum_of_means(label_scores(outputs, y[rows], meaning))
    measure += sum_of_means(said_labels(outputs, meaning) == (y[rows] > 0.5))
print(f"loss {loss / len(indices):.6f}  accuracy {measure / len(indices):.6f}")
""",
    Target.CLASSES: """
loss = measure = 0.0
confusion = np.zeros([max(2, count)] * 2, int)  # rows: the class; columns: what it is taken for
for rows in batches:
    logarithms = scores_of(outputs_of(rows), meaning).logarithms
    loss -= logarithms[np.arange(len(rows)), y[rows]].sum(dtype=np.float64)
    np.add.at(confusion, (y[rows], logarithms.argmax(axis=1)), 1)
accuracy = np.trace(confusion) / len(indices)
print(f"loss {loss / len(indices):.6f}  accuracy {accuracy:.6f}")
print(confusion)
""",
}
_CLASS_NAMES = """
names = [*class_names, *map(str, range(len(class_names), max(2, count)))][: max(2, count)]
"""
_PREDICTIONS = """
predictions = Predictions(
    indices=indices,
    labels=None if y is None else y[indices],
"""
_NAMES_OF = {
    Target.VALUES: "()",
    Target.LABELS: "tuple(class_names)",
    Target.CLASSES: "() if meaning is Meaning.VALUES else tuple(names)",
}
_CSV = """
how = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
with open("predictions.csv", "w", **how) as file:
    csv.writer(file, lineterminator="\\n").writerows(predictions.rows())
"""

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
        return joined(split_section(data), together, f"indices = {chosen}")
    end = "held_back" if data.has_validation_set else "len(x)"
    bounds = "count" if which == "training" else f"count, {end}"
    return f"{together}\nindices = np.arange({bounds}, dtype=np.int32)"


def inference_section(profile: Profile, plan: LaunchPlan) -> str:
    """Python that loads the model onto each device and evaluates, or writes predictions."""
    needed = ["activation_of", "ending_taken_off", "meaning_of"]
    if profile.task == "predict":
        needed.append("predicted_numbers")
    elif profile.data.target_kind is Target.VALUES:
        needed.append("sum_of_means")
    elif profile.data.target_kind is Target.LABELS:
        needed += ["sum_of_means", "label_scores", "said_labels"]
    else:
        needed.append("scores_of")
    predictions = "" if profile.task == "evaluate" else part("predictions")
    return joined(
        shape_function(),
        part("given_models", "with_plain_ends"),
        part("placed_model"),
        ending_functions(),
        part("output_meaning", *needed),
        predictions,
        lines_of(_inference(profile, plan)),
    )


def _inference(profile: Profile, plan: LaunchPlan) -> Iterator[str]:
    target = profile.data.target_kind or Target.CLASSES
    is_evaluated = profile.task == "evaluate"
    is_csv = profile.inference.output_of(profile.data) == "csv"
    if is_csv and not is_evaluated:
        yield "import csv"
        yield ""
    said = profile.model.chosen_outputs
    yield Template(_MODELS).substitute(
        devices=[replica.logical_device for replica in plan.replicas],
        shares=list(plan.shares),
        batch=plan.global_batch_size,
        path=repr(profile.model.chosen_path),
        target=repr(target.value),
        said=repr(said and said.value),
        given=_given(profile.model.chosen_inputs),
    )
    if target is Target.VALUES:
        yield "class_names = []"
    elif target is Target.LABELS:
        yield "class_names = class_names or [str(number) for number in range(count)]"
    yield Template(_MEANING).substitute(fit=_fit(profile))
    if is_evaluated:
        yield _EVALUATED[target]
    else:
        yield from _predicted(profile, target, is_csv=is_csv)


def _predicted(profile: Profile, target: Target, *, is_csv: bool) -> Iterator[str]:
    yield "numbers = [predicted_numbers(outputs_of(rows), meaning) for rows in batches]"
    if target is Target.CLASSES:
        yield _CLASS_NAMES
    yield _PREDICTIONS
    yield f"    class_names={_NAMES_OF[target]},"
    yield "    numbers=np.concatenate(numbers),"
    if target is Target.LABELS:
        yield "    of_labels=True,"
    if profile.data.is_decoded:
        root = repr(profile.data.chosen_path)
        paths = f"os.path.relpath(x.paths[index], {root}) for index in indices"
        yield f"    file_names=tuple({paths}),"
    yield ")"
    yield _CSV if is_csv else 'np.savez("predictions.npz", **predictions.arrays())'
    yield 'print(f"{len(indices)} predictions")'


def _given(inputs: Inputs | None) -> str:
    """One more argument where the examples are not taken as they are."""
    if inputs is None or inputs is Inputs.AS_GIVEN:
        return ""
    return f", {inputs.scale_and_offset!r}"


def _fit(profile: Profile) -> str:
    """Whether there are as many outputs as there must be, as an expression.

    A greatest label shows the least number of classes.
    """
    data = profile.data
    if data.target_kind is Target.VALUES:
        known = "" if profile.task == "evaluate" else "y is None or "
        return f"{known}count == np.prod(y.shape[1:])"
    if data.target_kind is Target.LABELS:
        return "count == len(class_names)"
    of_two = "(count == 1 and len(class_names) <= 2)"
    if data.counts_classes_by_labels:
        return f"count >= max(2, len(class_names)) or {of_two}"
    if data.may_lack_labels:
        return f"count == (len(class_names) or count) or {of_two}"
    return f"count == len(class_names) or {of_two}"

"""The script's data where data and model are code of the person's own, whatever it gives.

As in a run, several inputs of an example are packed into one row of numbers, and so are the labels
of several outputs: shares, orders and steps need know nothing of them then. The model takes the
first apart (``own_model_section``), the loss the others (``own_loss_section``).
"""

from string import Template
from typing import Final

from gpupanel.domain.data import DataSettings, Target
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

FEATURES: Final = """
def features(array):
    array = np.asarray(array)
    array = array[:, np.newaxis] if array.ndim == 1 else array
    return array if array.dtype == np.uint8 else array.astype(np.float32)
"""
"""Examples as a run takes them: pixels as bytes, other numbers in 32 bits."""
_FUNCTIONS: Final = '''
INPUTS = {}  # of several inputs by name: the shape of one example, and whether it is of pixels
OUTPUTS = {}  # of several outputs by name: what it predicts, the shape of a label, its classes


def in_a_row(arrays):
    """All numbers of an example, one array after the other."""
    return np.concatenate([array.reshape(len(array), -1) for array in arrays], axis=1)


def examples_of(given):
    """Examples of one input; those of several in a row."""
    if not isinstance(given, Mapping):
        return features(rows_given(given))
    arrays = {name: features(rows_given(part)) for name, part in given.items()}
    for name, array in arrays.items():
        INPUTS[name] = array.shape[1:], array.dtype == np.uint8
    return in_a_row([arrays[name] for name in INPUTS])


def labels_of(given, predicts):
    """Labels of one output, how many classes or labels there are, and whether they are arrays."""
    array, count = np.asarray(rows_given(given)), 0
    in_places = are_arrays(array, of_classes=predicts == "classes")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if predicts == "classes":
        if in_places and array.shape[-1] == 1:  # a mask as an image of one channel
            array = array[..., 0]
        if not in_places and array.ndim == 2:  # a column a class, and a single 1 in each row
            array, count = array.argmax(axis=1), array.shape[1]
        return array.astype(np.int32), count or int(array.max()) + 1, in_places
    if predicts == "labels" and not in_places:
        array = array.reshape(len(array), -1)
        count = array.shape[1]
    return array.astype(np.float32), count, in_places


def labels_in_a_row(given):
    """Labels of several outputs."""
    predicts, names = loaded.get("predicts") or {}, loaded.get("class_names") or {}
    rows = []
    for name in OUTPUTS or given:
        kind = predicts.get(name, PREDICTS)
        array, count, _ = labels_of(given[name], kind)
        classes = list(names.get(name) or range(count)) if kind == "classes" else []
        OUTPUTS.setdefault(name, (kind, array.shape[1:], classes))
        rows.append(array.astype(np.float32))
    return in_a_row(rows)
'''
_READ: Final = """
PREDICTS = "$predicts"
random.seed(SEED)
np.random.seed(SEED)
loaded = parts_by_name(carried_out($path, "data_code").load())
x = examples_of(loaded["x"])
x_test = examples_of(loaded["x_test"]) if "x_test" in loaded else x[:0]
class_names, UNIT, ARE_ARRAYS = [], 1.0, True
if "y" not in loaded and PREDICTS == "values":  # each example itself, as the model takes it
    y, y_test = x, x_test
    UNIT = 1.0 / 255.0 if x.dtype == np.uint8 else 1.0
elif isinstance(loaded["y"], Mapping):
    y = labels_in_a_row(loaded["y"])
    y_test = labels_in_a_row(loaded["y_test"]) if "x_test" in loaded else y[:0]
else:
    y, class_count, ARE_ARRAYS = labels_of(loaded["y"], PREDICTS)
    y_test = labels_of(loaded["y_test"], PREDICTS)[0] if "x_test" in loaded else y[:0]
    class_names = loaded.get("class_names") or range(class_count)
class_count = len(class_names)
"""


def own_data_section(data: DataSettings) -> str:
    """From nothing to ``x``, ``y``, ``x_test``, ``y_test`` and ``class_names``.

    With ``INPUTS`` and ``OUTPUTS``; ``ARE_ARRAYS``: whether labels are; and ``UNIT``: what labels
    are multiplied by first.
    """
    needed = part("loaded_parts", "parts_by_name", "rows_given", "are_arrays")
    predicts = data.target_kind or Target.CLASSES
    values = {"path": repr(data.chosen_path), "predicts": predicts.value}
    return joined(needed, FEATURES, _FUNCTIONS, Template(_READ).substitute(values))

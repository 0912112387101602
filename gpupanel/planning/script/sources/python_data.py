"""Examples that Python code of the person's own loads."""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import PythonData, Target
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript, arrays_of
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_PYTHON = """
random.seed(SEED)
np.random.seed(SEED)
loaded = parts_by_name(carried_out($path, "data_code").load())
loaded = {name: rows_given(part) for name, part in loaded.items()}
if isinstance(loaded["x"], Mapping) or isinstance(loaded.get("y"), Mapping):
    raise SystemExit("This script takes one input and one output for each example.")
if "y" not in loaded or are_arrays(np.asarray(loaded["y"]), of_classes=$of_classes):
    raise SystemExit("This script takes one label, or a row of labels, for each example.")
x, y = features(loaded["x"]), labels(loaded["y"])
x_test, y_test = x[:0], y[:0]
if "x_test" in loaded:
    x_test, y_test = features(loaded["x_test"]), labels(loaded["y_test"])
"""

_COUNTED = {
    Target.CLASSES: "class_count_of(loaded['y'])",
    Target.LABELS: "y.shape[1]",
}

_CLASSES = """
class_names = loaded.get("class_names") or range($count)
class_count = len(class_names)
"""


class _Python(SourceScript[PythonData]):
    """Python that calls ``load``."""

    @override
    def read(self, data: PythonData, *, needs_labels: bool) -> str:
        of_classes = data.predicts is Target.CLASSES
        read = Template(_PYTHON).substitute(path=repr(data.path), of_classes=of_classes)
        count = _COUNTED.get(data.predicts)
        names = Template(_CLASSES).substitute(count=count) if count else ""
        needed = part("loaded_parts", "parts_by_name", "rows_given", "are_arrays")
        return joined(arrays_of(data.target_kind), needed, read + names.strip("\n"))

    @override
    def class_names(self, data: PythonData) -> str:
        return f"\n\n{AS_UTF8}\n\n\nclass_names = [as_utf8(str(name)) for name in class_names]"


SCRIPT = _Python()

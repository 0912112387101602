"""Examples that Python code of the person's own loads."""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import PythonData, Target
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript, arrays_of
from gpupanel.planning.script.sections import joined

_PYTHON = """
def given(part):
    \"\"\"As NumPy takes it: what gives its rows one by one as a list of them.\"\"\"
    is_plain = part is None or isinstance(part, (list, tuple))
    if is_plain or hasattr(part, "__array__"):
        return part
    return [part[row] for row in range(len(part))]


random.seed(SEED)
np.random.seed(SEED)
loaded = carried_out($path, "data_code").load()
if isinstance(loaded, tuple) and all(isinstance(part, tuple) and len(part) == 2 for part in loaded):
    loaded = dict(zip(("x", "y", "x_test", "y_test"), (*loaded[0], *loaded[1])))
elif isinstance(loaded, tuple):
    loaded = dict(zip(("x", "y"), loaded))
loaded = {name: given(part) for name, part in loaded.items()}
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
        read = Template(_PYTHON).substitute(path=repr(data.path))
        count = _COUNTED.get(data.predicts)
        names = Template(_CLASSES).substitute(count=count) if count else ""
        return joined(arrays_of(data.target_kind), read + names.strip("\n"))

    @override
    def class_names(self, data: PythonData) -> str:
        return f"\n\n{AS_UTF8}\n\n\nclass_names = [as_utf8(str(name)) for name in class_names]"


SCRIPT = _Python()

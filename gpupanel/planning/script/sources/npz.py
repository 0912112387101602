"""Arrays in NumPy's files.

What a profile leaves out is what most files have: ``x`` and ``y``, which hold classes. A profile
that a preview filled in (:func:`~gpupanel.domain.preview.with_found`) leaves nothing out.
"""

from pathlib import Path

from typing_extensions import override

from gpupanel.domain.data import NpzData, Target
from gpupanel.planning.script.data_section import SourceScript, arrays_of
from gpupanel.planning.script.sections import indented, joined

_SUFFIX = ".npy"


class _Npz(SourceScript[NpzData]):
    """Python that reads the arrays of examples and labels, and those of a test set."""

    @override
    def read(self, data: NpzData, *, needs_labels: bool) -> str:
        in_folder = data.path.lower().endswith(_SUFFIX)
        read = joined(*_read(data, in_folder=in_folder, needs_labels=needs_labels))
        if in_folder:
            return joined(arrays_of(data.target), read)
        opened = f"with np.load({data.path!r}, allow_pickle=False) as arrays:"
        return joined(arrays_of(data.target), f"{opened}\n{indented(read)}")


def _read(data: NpzData, *, in_folder: bool, needs_labels: bool) -> list[str]:
    features = data.features or (Path(data.path).stem if in_folder else "x")
    y = data.labels or "y"
    lines = [
        f"x = features({_array(data, features, in_folder=in_folder)})",
        *_labels(data, y, in_folder=in_folder, needs_labels=needs_labels),
    ]
    if data.test_features and data.test_labels:
        test = [
            _array(data, name, in_folder=in_folder)
            for name in (data.test_features, data.test_labels)
        ]
        lines.append(f"x_test, y_test = features({test[0]}), labels({test[1]})")
    else:
        lines.append("x_test, y_test = x[:0], None if y is None else y[:0]")
    return [*lines, *_class_count(data)]


def _labels(data: NpzData, name: str, *, in_folder: bool, needs_labels: bool) -> list[str]:
    array = _array(data, name, in_folder=in_folder)
    if needs_labels:
        return [f"raw = {array}", "y = labels(raw)"]
    there = f"{name!r} in arrays"
    if in_folder:
        there = f"os.path.exists({_place(data, name)!r})"
    return [f"raw = {array} if {there} else None", "y = None if raw is None else labels(raw)"]


def _class_count(data: NpzData) -> list[str]:
    match data.target:
        case Target.VALUES:
            return []
        case Target.LABELS:
            return ["class_count = 0 if y is None else y.shape[1]"]
    if data.class_count is not None:
        return [f"class_count = {data.class_count}"]
    return ["class_count = 0 if y is None else class_count_of(raw)"]


def _array(data: NpzData, name: str, *, in_folder: bool) -> str:
    if not in_folder:
        return f"arrays[{name!r}]"
    return f"np.load({_place(data, name)!r}, allow_pickle=False)"


def _place(data: NpzData, name: str) -> str:
    path = Path(data.path)
    return str(path.with_name(name + path.suffix))


SCRIPT = _Npz()

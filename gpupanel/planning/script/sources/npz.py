"""Arrays in NumPy's files.

What a profile leaves out is what most files have: ``x`` and ``y``, which hold classes. A profile
that a preview filled in (:func:`~gpupanel.domain.preview.with_detected`) leaves nothing out.
"""

from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from gpupanel.domain.data import Axes, NpzData, Target
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript, arrays_of
from gpupanel.planning.script.parts import definitions, part
from gpupanel.planning.script.sections import indented, joined

_SUFFIX = ".npy"
_NAMES = '''
names = []  # of the classes, where labels are text


def classes(array):
    """Labels as numbers; text is numbered in the order of the names."""
    if array is None or array.dtype.kind not in "US":
        return array
    named = [name_in_array(text) for text in array.reshape(-1).tolist()]
    names.extend([] if names else ordered_classes(named))
    return np.array(numbers_of_classes(named, names), np.int32)
'''
_OF_NAMES = ("name_in_array", "ordered_classes", "numbers_of_classes")


_ONE_LABEL = "A script takes one label, or a row of labels, for each example."


class _Npz(SourceScript[NpzData]):
    """Python that reads the arrays of examples and labels, and those of the sets held out."""

    @override
    def read(self, data: NpzData, *, needs_labels: bool) -> str:
        file = _File(data.path, data.axes)
        features = data.features or (Path(data.path).stem if file.is_folder else "x")
        labels = data.labels or "y"
        inside = [
            f"x = features({file.examples(features)})",
            *_labels(data, file, labels, needs_labels=needs_labels),
        ]
        beside, sets = [], []
        for called, path, names in (
            ("val", data.validation_path, (data.validation_features, data.validation_labels)),
            ("test", data.test_path, (data.test_features, data.test_labels)),
        ):
            if path:
                of_set = _File(path, data.axes)
                read = _set(data, of_set, called, names[0] or features, names[1] or labels)
                beside.append(_File(path).opened([read]))
                sets.append(called)
            elif names[0] and names[1]:
                inside.append(_set(data, file, called, names[0], names[1]))
                sets.append(called)
            elif called == "test":
                inside.append("x_test, y_test = x[:0], None if y is None else y[:0]")
        inside += _class_count(data)
        more = []
        named = arrays_of(data.target_kind)
        if needs_labels:
            named = joined(named, part("loaded_parts", "are_arrays"))
        if data.target_kind in (Target.CLASSES, None):
            named = joined(named, AS_UTF8, definitions("cell_labels", *_OF_NAMES), _NAMES)
        if data.target_kind in (Target.CLASSES, None) and data.class_count is None:
            more = [f"class_count = max(class_count, int(y_{called}.max()) + 1)" for called in sets]
        return joined(named, file.opened(inside), *beside, *more)

    @override
    def class_names(self, data: NpzData) -> str:
        counted = super().class_names(data).removeprefix("class_names = ")
        if data.target_kind not in (Target.CLASSES, None):
            return f"class_names = {counted}"
        return f"class_names = names + {counted}[len(names) :]"


@dataclass(frozen=True, slots=True)
class _File:
    """A file of arrays, or one of those that stand in a folder."""

    path: str
    axes: Axes | None = None

    @property
    def is_folder(self) -> bool:
        return self.path.lower().endswith(_SUFFIX)

    def opened(self, lines: list[str]) -> str:
        """Python that reads from it."""
        read = joined(*lines)
        if self.is_folder:
            return read
        opened = f"with np.load({self.path!r}, allow_pickle=False) as arrays:"
        return f"{opened}\n{indented(read)}"

    def array(self, name: str) -> str:
        if not self.is_folder:
            return f"arrays[{name!r}]"
        return f"np.load({self.place(name)!r}, allow_pickle=False)"

    def examples(self, name: str) -> str:
        """The array with its examples first and its channels last."""
        moved = {Axes.CHANNELS_FIRST: (1, -1), Axes.EXAMPLES_LAST: (-1, 0)}
        array = self.array(name)
        if self.axes not in moved:
            return array
        place, to = moved[self.axes]
        return f"np.moveaxis({array}, {place}, {to})"

    def has(self, name: str) -> str:
        return f"os.path.exists({self.place(name)!r})" if self.is_folder else f"{name!r} in arrays"

    def place(self, name: str) -> str:
        path = Path(self.path)
        return str(path.with_name(name + path.suffix))


def _set(data: NpzData, file: _File, part: str, features: str, labels: str) -> str:
    arrays = f"features({file.examples(features)}), labels({_numbered(data, file.array(labels))})"
    return f"x_{part}, y_{part} = {arrays}"


def _labels(data: NpzData, file: _File, name: str, *, needs_labels: bool) -> list[str]:
    if needs_labels:
        of_classes = data.target_kind in (Target.CLASSES, None)
        return [
            f"raw = {_numbered(data, file.array(name))}",
            f"if are_arrays(raw, of_classes={of_classes}):",
            f"    raise SystemExit({_ONE_LABEL!r})",
            "y = labels(raw)",
        ]
    there = f"{file.array(name)} if {file.has(name)} else None"
    return [
        f"raw = {_numbered(data, there)}",
        'y = labels(raw) if raw is not None and raw.dtype.kind in "buif" else None',
    ]


def _numbered(data: NpzData, array: str) -> str:
    return f"classes({array})" if data.target_kind in (Target.CLASSES, None) else array


def _class_count(data: NpzData) -> list[str]:
    match data.target_kind:
        case Target.VALUES:
            return []
        case Target.LABELS:
            return ["class_count = 0 if y is None else y.shape[1]"]
    if data.class_count is not None:
        return [f"class_count = {data.class_count}"]
    return ["class_count = 0 if y is None else class_count_of(raw)"]


SCRIPT = _Npz()

"""Records of ``tf.train.Example``: by TensorFlow's own reader, all of them at once.

What a profile leaves out a preview fills in (:func:`~gpupanel.domain.preview.with_detected`); where
none did, the features are called ``image`` and ``label``.
"""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import Target, TfrecordData
from gpupanel.domain.tfrecord_data import RECORD_SUFFIXES
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript, arrays_of
from gpupanel.planning.script.images import image_function
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_RECORDS = '''
FORM = RecordForm($features, $labels, $shape, $shape_features, $raw_type)


def read_from(path):
    """Examples and labels; these are None where the first record has none."""
    found, raw = read_records(record_files(path, $suffixes), FORM, image, FORMATS)
    return features(found), raw


def numbered(raw):
    """Classes that are named by their numbers."""
    is_text = raw is not None and raw.dtype.kind == "U"
    return np.array([NAMES.index(name) for name in raw]) if is_text else raw


x, raw = read_from($path)
NAMES = sorted(set(raw.tolist())) if raw is not None and raw.dtype.kind == "U" else []
raw = numbered(raw)
y = $made
'''


class _Records(SourceScript[TfrecordData]):
    """Python that reads the records into memory."""

    @override
    def read(self, data: TfrecordData, *, needs_labels: bool) -> str:
        read = Template(_RECORDS).substitute(
            features=repr(data.features or "image"),
            labels=repr(data.labels or "label"),
            shape=repr(data.shape),
            shape_features=repr(data.chosen_shape_features),
            raw_type=repr(data.raw_type),
            suffixes=repr(RECORD_SUFFIXES),
            path=repr(data.path),
            made="labels(raw)" if needs_labels else "None if raw is None else labels(raw)",
        )
        sets = {
            name: path
            for name, path in (("val", data.validation_path), ("test", data.test_path))
            if path
        }
        beside = []
        for name, path in sets.items():
            beside.append(f"x_{name}, y_{name} = read_from({path!r})")
            made = f"labels(numbered(y_{name}))"
            beside.append(
                f"y_{name} = {made if needs_labels else f'None if y is None else {made}'}"
            )
        return joined(
            image_function(data.image_size, data.color),
            arrays_of(data.target_kind),
            part("record_paths", "record_files"),
            part("record_examples"),
            read,
            *beside,
            *_class_count(data, sets, needs_labels=needs_labels),
        )

    @override
    def class_names(self, data: TfrecordData) -> str:
        if data.target_kind is Target.LABELS:
            return super().class_names(data)
        named = "class_names = [as_utf8(name) for name in NAMES]"
        return f"{AS_UTF8}\n\n\n{named} or [str(number) for number in range(class_count)]"


def _class_count(data: TfrecordData, sets: dict[str, str], *, needs_labels: bool) -> list[str]:
    if data.target_kind is Target.VALUES:
        return []
    if data.class_count is not None:
        return [f"class_count = {data.class_count}"]
    if data.target_kind is Target.LABELS:
        counted = "y.shape[1]"
    else:
        counted = "class_count_of(raw)"
        if sets:
            more = ", ".join(f"int(y_{name}.max()) + 1" for name in sets)
            counted = f"max({counted}, {more})"
    return [f"class_count = {counted if needs_labels else f'0 if y is None else {counted}'}"]


SCRIPT = _Records()

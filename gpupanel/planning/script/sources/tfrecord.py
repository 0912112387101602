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
from gpupanel.planning.script.sections import joined

_RECORDS = '''
import fnmatch
import io
import re
from pathlib import Path

from tensorflow.core.framework.tensor_pb2 import TensorProto

FEATURES, LABELS = $features, $labels
SHAPE, SHAPE_FEATURES, RAW_TYPE = $shape, $shape_features, $raw_type


def files_of(path):
    """A file, those of a folder, or those of one folder whose names fit a pattern."""
    path = Path(path)
    if path.is_dir():
        folders = [path, *(each for each in path.iterdir() if each.is_dir())]
        folders = [each for each in folders if not each.is_symlink() and each.name[0] != "."]
        files = [each for folder in folders for each in folder.iterdir() if is_record_file(each)]
        return sorted(files, key=lambda each: each.relative_to(path).parts)
    if re.search(r"[*?\\[]", path.name) and not os.path.lexists(path):
        names = fnmatch.filter(os.listdir(path.parent), path.name)
        names = [name for name in names if name[0] != "." or path.name[0] == "."]
        return [path.parent / name for name in sorted(names) if not (path.parent / name).is_dir()]
    return [path]


def is_record_file(path):
    name = path.name.lower().removesuffix(".gz")
    is_named = name.endswith($suffixes) or ".tfrecord" in name
    is_named = is_named or re.search(r"-\\d{5,}-of-\\d{5,}", name)
    return is_named and name[0] != "." and path.is_file() and not path.is_symlink()


def examples_of(path):
    for file in files_of(path):
        with open(file, "rb") as opened:
            packed = opened.read(2) == b"\\x1f\\x8b"
        records = tf.data.TFRecordDataset(os.fsencode(file), "GZIP" if packed else "")
        for record in records.as_numpy_iterator():
            yield tf.train.Example.FromString(record).features.feature


def numbers(feature):
    if feature.HasField("float_list"):
        return np.array(feature.float_list.value, np.float32)
    return np.array(feature.int64_list.value, np.int64)


def label_of(feature):
    """Numbers, or the name of a class."""
    if feature.HasField("bytes_list"):
        return feature.bytes_list.value[0].decode(errors="surrogateescape")
    return numbers(feature)


def is_image(value):
    try:
        with Image.open(io.BytesIO(value), formats=FORMATS):
            return True
    except Exception:
        return False


def values(feature, of_bytes):
    """The numbers of an example; bytes are an image, or numbers themselves."""
    if not feature.HasField("bytes_list"):
        return numbers(feature)
    (value,) = feature.bytes_list.value
    if of_bytes == "image":
        return image(io.BytesIO(value))
    if of_bytes == "tensor":
        return tf.make_ndarray(TensorProto.FromString(value))
    return np.frombuffer(value, np.dtype(of_bytes).newbyteorder("<"))


def read_records(path):
    """Examples and labels; these are None where the first record has none."""
    x, y, of_bytes = [], [], None
    for example in examples_of(path):
        if of_bytes is None:
            value = example[FEATURES].bytes_list.value
            is_one = RAW_TYPE is None and len(value) == 1 and is_image(value[0])
            of_bytes = "image" if is_one else RAW_TYPE or "uint8"
        found = values(example[FEATURES], of_bytes)
        if of_bytes != "image":
            said = [size for name in SHAPE_FEATURES for size in numbers(example[name])]
            if SHAPE or said or of_bytes != "tensor":
                found = found.reshape(SHAPE or said or -1)
        x.append(found)
        y.append(label_of(example[LABELS]))
    return features(np.stack(x)), np.stack(y) if len(y[0]) else None


def numbered(raw):
    """Classes that are named by their numbers."""
    is_text = raw is not None and raw.dtype.kind == "U"
    return np.array([NAMES.index(name) for name in raw]) if is_text else raw


x, raw = read_records($path)
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
            beside.append(f"x_{name}, y_{name} = read_records({path!r})")
            made = f"labels(numbered(y_{name}))"
            beside.append(
                f"y_{name} = {made if needs_labels else f'None if y is None else {made}'}"
            )
        return joined(
            image_function(data.image_size, data.color),
            arrays_of(data.target_kind),
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

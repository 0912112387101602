"""A data set of tensorflow-datasets, by the package itself, in the order of its files."""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import NO_SPLIT, Target, TfdsData
from gpupanel.planning.script.data_section import SourceScript, arrays_of
from gpupanel.planning.script.images import image_function
from gpupanel.planning.script.sections import joined

_READ = '''
import io

import tensorflow_datasets as tfds  # pip install tensorflow-datasets

builder = tfds.builder($name, data_dir=$folder)
builder.download_and_prepare()
FEATURES, LABELS = $features or builder.info.supervised_keys[0], $labels or (
    builder.info.supervised_keys[1]
)
is_image = isinstance(builder.info.features[FEATURES], tfds.features.Image)


def read_split(name):
    """Examples and labels, one file after the other."""
    config = tfds.ReadConfig(interleave_cycle_length=1, try_autocache=False)
    skipped = {FEATURES: tfds.decode.SkipDecoding()} if is_image else None
    read = builder.as_dataset(split=name, read_config=config, decoders=skipped)
    x, y = [], []
    for example in tfds.as_numpy(read):
        found = example[FEATURES]
        x.append(image(io.BytesIO(found)) if is_image else found)
        y.append(example[LABELS])
    return features(np.stack(x)), np.stack(y)


x, raw = read_split($split)
y = labels(raw)
'''


class _Tfds(SourceScript[TfdsData]):
    """Python that reads the splits into memory."""

    @override
    def read(self, data: TfdsData, *, needs_labels: bool) -> str:
        read = Template(_READ).substitute(
            name=repr(data.name),
            folder=repr(data.path or None),
            features=repr(data.features),
            labels=repr(data.labels),
            split=repr(data.training_split),
        )
        sets = {"val": data.validation_split, "test": data.test_split}
        beside = []
        for part, name in sets.items():
            if name not in (None, NO_SPLIT):
                beside.append(f"x_{part}, y_{part} = read_split({name!r})")
                beside.append(f"y_{part} = labels(y_{part})")
        counted = {
            Target.VALUES: [],
            Target.LABELS: ["class_count = y.shape[1]"],
        }.get(data.target_kind or Target.CLASSES, [_CLASS_COUNT])
        target = data.target_kind or Target.CLASSES
        return joined(
            image_function(data.image_size, data.color),
            arrays_of(target),
            read,
            *beside,
            *counted,
        )

    @override
    def class_names(self, data: TfdsData) -> str:
        return _CLASS_NAMES if data.target_kind is not Target.LABELS else super().class_names(data)


_CLASS_COUNT = """
known = getattr(builder.info.features[LABELS], "num_classes", None)
class_count = known or class_count_of(raw)
"""
_CLASS_NAMES = """
class_names = [str(number) for number in range(class_count)]
if known:
    class_names = list(builder.info.features[LABELS].names)
"""

SCRIPT = _Tfds()

"""A script of TFRecord files reads and trains as the run does."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DataCache, Target, TfrecordData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import CnnModel, MlpModel
from tests.sessions.one_source import (
    assert_same_data,
    assert_same_sessions,
    session,
    trained_with,
)
from tests.unit.trainer.record_files import Value, example_of, image, tensor, write_records

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of each kind below a folder whose name wants quotes."""
    root = tmp_path_factory.mktemp("records") / "it's \"{x} $y %s\\"
    draw = np.random.default_rng(8)

    def write(name: str, rows: list[dict[str, Value]], *, packed: bool = False) -> None:
        write_records(root / name, map(example_of, rows), packed=packed)

    def of_image(number: int, form: str) -> dict[str, Value]:
        content = image(int(draw.integers(0, 256)), 6 + number % 4, form)
        return {"image/encoded": content, "image/class/label": number % 3, "image/height": 9}

    for part, shards in (("train", 2), ("val", 1), ("test", 1)):
        for shard in range(shards):
            name = f"pictures/p-{part}-{shard:05}-of-{shards:05}"
            forms = ("PNG", "JPEG")
            rows = [of_image(number, forms[number % 2]) for number in range(25)]
            write(name, rows, packed=shard == 1)
    raw: list[dict[str, Value]] = [
        {"image_raw": draw.integers(0, 256, 20, np.uint8).tobytes(), "label": number % 4}
        | {"height": 4, "width": 5, "depth": 1}
        for number in range(70)
    ]
    write("raw.tfrecord", raw)
    numbers: list[dict[str, Value]] = [
        {'a "b"\n': draw.normal(size=5), "tags": draw.integers(0, 2, 3), "none": b"?"}
        for _ in range(90)
    ]
    write("tags.tfrecords.gz", numbers, packed=True)
    write("rows.tfrecords", [{'a "b"\n': draw.normal(size=5)} for _ in range(20)])
    values: list[dict[str, Value]] = [
        {"x": each.astype("<f8").tobytes(), "y": [float(each.sum()), float(each[0]) * 9]}
        for each in draw.normal(size=(60, 6))
    ]
    write("values/v1.tfrecord", values[:25])
    write("values/v2.tfrecord", values[25:])
    spread = draw.normal(size=(60, 3, 2))
    write("tensors.tfrecord", [{"x": tensor(each), "y": n % 3} for n, each in enumerate(spread)])
    floats = [each.astype("<f4").tobytes() for each in spread]
    sizes = {"height": 3, "width": 2}
    write("floats.tfrecord", [{"x": each, "y": n % 3, **sizes} for n, each in enumerate(floats)])
    whole: list[dict[str, Value]] = [
        {"x": draw.integers(-5, 300, 6), "y": np.eye(3, dtype=int)[number % 3]}
        for number in range(40)
    ]
    write("whole.tfrecord", whole)
    return root


def data_of(root: Path) -> dict[str, TfrecordData]:
    return {
        "pictures": TfrecordData(path=f"{root}/pictures", image_size=(6, 5)),
        "grey": TfrecordData(
            path=f"{root}/pictures/p-train-*",
            image_size=(6, 5),
            color="grayscale",
            validation_fraction=0.2,
            cache="none",
        ),
        "tensors": TfrecordData(path=f"{root}/tensors.tfrecord", validation_fraction=0.2),
        "floats": TfrecordData(path=f"{root}/floats.tfrecord", validation_fraction=0.2),
        "raw": TfrecordData(path=f"{root}/raw.tfrecord", validation_fraction=0.3, stratify=True),
        "shaped": TfrecordData(path=f"{root}/raw.tfrecord", shape=(5, 4), class_count=6),
        "tags": TfrecordData(
            path=f"{root}/tags.tfrecords.gz",
            features='a "b"\n',
            cache="none",
            predicts=Target.LABELS,
            class_count=3,
        ),
        "values": TfrecordData(
            path=f"{root}/values",
            raw_type="float64",
            features="x",
            shape=(2, 3),
            validation_fraction=0.2,
            holdout="last",
        ),
        "a pattern of values": TfrecordData(
            path=f"{root}/values/v[1].*",
            features="x",
            raw_type="float64",
            test_path=f"{root}/values/v2.tfrecord",
        ),
        "whole numbers": TfrecordData(path=f"{root}/whole.tfrecord"),
    }


def test_that_a_script_reads_records_as_the_run_does(root: Path) -> None:
    assert_same_data(data_of(root).values())


def test_that_run_and_script_learn_and_predict_the_same(root: Path, tmp_path: Path) -> None:
    data = data_of(root)["tags"]
    trained = {"tags": session(training=trained_with(0.01), data=data, model=MlpModel(hidden=(6,)))}
    rows = data.model_copy(update={"path": f"{root}/rows.tfrecords"})
    everything = InferenceSettings(batch_size=64, examples="all")
    both = assert_same_sessions(tmp_path, trained, [("tags", "predict", rows, everything)])
    assert "label" not in np.load(both["predict tags"].folder / "predictions.npz")


@pytest.mark.slow
def test_that_run_and_script_do_so_with_records_of_further_kinds(
    root: Path, tmp_path: Path
) -> None:
    data, model = data_of(root), MlpModel(hidden=(6,))
    dropped = MlpModel(hidden=(6,), dropout=0.2)
    changed = Augmentation(flip="horizontal", rotate_degrees=20.0, brightness=0.2)
    augmented = data["pictures"].model_copy(update={"augmentation": changed})
    training = trained_with(0.01)
    trained = {
        "pictures": session(training=training, data=augmented, model=CnnModel(filters=(3,))),
        "raw": session(
            training=training,
            data=data["raw"].model_copy(update={"cache": DataCache.NONE}),
            model=dropped,
        ),
        "values": session(training=training, data=data["values"], model=model),
    }
    everything = InferenceSettings(batch_size=64, examples="all")
    validated = InferenceSettings(batch_size=64, examples="validation", output="csv")
    inferred = (
        ("pictures", "evaluate", data["pictures"], validated),
        ("raw", "evaluate", data["raw"], everything),
        ("values", "evaluate", data["values"], everything),
        ("pictures", "predict", data["pictures"], everything),
        ("values", "predict", data["values"], validated),
    )
    both = assert_same_sessions(tmp_path, trained, inferred)
    labelled = np.load(both["predict pictures"].folder / "predictions.npz")
    assert len(labelled["label"]) == 100

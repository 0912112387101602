"""A script of TFRecord files reads and trains as the run does."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DataCache, DataSettings, Target, TfrecordData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import CnnModel, MlpModel, SavedModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.preview import PreviewRequest, with_found
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.preview import preview
from tests.forked.processes import run_forked
from tests.sessions.both import carry_out_both
from tests.unit.trainer.record_files import Value, example_of, picture, write_records

pytestmark = pytest.mark.tensorflow

ROUNDING = 1e-5


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of each kind below a folder whose name wants quotes."""
    root = tmp_path_factory.mktemp("records") / "it's \"{x} $y %s\\"
    draw = np.random.default_rng(8)

    def write(name: str, rows: list[dict[str, Value]], *, packed: bool = False) -> None:
        write_records(root / name, map(example_of, rows), packed=packed)

    def of_picture(number: int, form: str) -> dict[str, Value]:
        content = picture(int(draw.integers(0, 256)), 6 + number % 4, form)
        return {"image/encoded": content, "image/class/label": number % 3, "image/height": 9}

    for part, shards in (("train", 2), ("val", 1), ("test", 1)):
        for shard in range(shards):
            name = f"pictures/p-{part}-{shard:05}-of-{shards:05}"
            forms = ("PNG", "JPEG")
            rows = [of_picture(number, forms[number % 2]) for number in range(25)]
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


def filled(data: DataSettings) -> DataSettings:
    shown = preview(PreviewRequest(data=data))
    assert not shown.is_refused, shown.problems
    return with_found(Profile(data=data), shown).data


def test_that_a_script_reads_records_as_the_run_does(root: Path) -> None:
    asked = [filled(data) for data in data_of(root).values()]
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("read_both.py"))],
        input=json.dumps([data.model_dump(mode="json") for data in asked]),
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout) == [[]] * len(asked)


def session(**parts: object) -> Profile:
    training = TrainingSettings(
        epochs=2, optimizer=Optimizer.SGD, learning_rate=0.01, momentum=0.9, tensorboard=False
    )
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED, shares=(40, 24))
    return Profile(
        **{
            "devices": DeviceSettings(visible=("cpu",), cpu_replicas=2),
            "strategy": mirrored,
            "training": training,
            **parts,
        }
    )


def test_that_run_and_script_give_the_same_weights_evaluations_and_predictions(
    root: Path, tmp_path: Path
) -> None:
    data, model = data_of(root), MlpModel(hidden=(6,))
    dropped = MlpModel(hidden=(6,), dropout=0.2)
    changed = Augmentation(flip="horizontal", rotate_degrees=20.0, brightness=0.2)
    augmented = data["pictures"].model_copy(update={"augmentation": changed})
    sessions = {
        "pictures": session(data=augmented, model=CnnModel(filters=(3,))),
        "raw": session(
            data=data["raw"].model_copy(update={"cache": DataCache.NONE}), model=dropped
        ),
        "tags": session(data=data["tags"], model=model),
        "values": session(data=data["values"], model=model),
    }
    trained = {
        name: SavedModel(path=str(tmp_path / f"{number:03}" / "model.keras"))
        for number, name in enumerate(sessions)
    }
    everything = InferenceSettings(batch_size=64, examples="all")
    validated = InferenceSettings(batch_size=64, examples="validation", output="csv")
    rows = data["tags"].model_copy(update={"path": f"{root}/rows.tfrecords"})
    for name, task, of, inference in (
        ("pictures", "evaluate", data["pictures"], validated),
        ("raw", "evaluate", data["raw"], everything),
        ("values", "evaluate", data["values"], everything),
        ("pictures", "predict", data["pictures"], everything),
        ("tags", "predict", rows, everything),
        ("values", "predict", data["values"], validated),
    ):
        parts = {"task": task, "data": of, "model": trained[name], "inference": inference}
        sessions[f"{task} {name}"] = session(**parts)
    both = carry_out_both(tmp_path, sessions)
    assert {name: (each.error("run"), each.error("script")) for name, each in both.items()} == (
        dict.fromkeys(both, (None, None))
    )
    for name, each in both.items():
        if name in trained:
            assert each.furthest() < ROUNDING, name
            each.assert_same_epochs()
        elif name.startswith("evaluate"):
            each.assert_same_evaluation()
        else:
            each.assert_same_predictions()
    labelled = np.load(both["predict pictures"].folder / "predictions.npz")
    assert len(labelled["label"]) == 100
    assert "label" not in np.load(both["predict tags"].folder / "predictions.npz")

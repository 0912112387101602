"""A script reads the data that a run reads, file by file and number by number."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    DigitsData,
    Holdout,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    TableData,
    Target,
    WineData,
)
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.profile import Profile
from gpupanel.planning.script import data_section
from gpupanel.trainer.datasets.images.sets import list_sets
from gpupanel.trainer.tools.preview.preview import preview
from tests.sessions.material import FEATURES, LABELS, Material
from tests.unit.trainer.test_keras_data import FILLED

pytestmark = pytest.mark.tensorflow


_ROWS = """
import numpy as np

class Rows:
    def __init__(self):
        self.drawn = np.random.rand(40, 3, 3)

    def __len__(self):
        return len(self.drawn)

    def __getitem__(self, index):
        return self.drawn[index]

def load():
    return {"x": Rows(), "y": np.arange(40) % 4, "class_names": None}
"""


@pytest.mark.long
def test_that_a_script_reads_every_source_as_the_run_does(
    material: Material, tmp_path: Path
) -> None:
    names = ("x_train", "y_train", "x_val", "y_val", "x_test", "y_test")
    sets = tmp_path / "sets.npz"
    random = np.random.default_rng(3)
    np.savez(
        sets,
        **{
            name: random.normal(size=(9, 2)) if name[0] == "x" else np.arange(9) % 3
            for name in names
        },
    )
    with np.load(sets) as arrays:
        for name in names:
            np.save(tmp_path / f"{name}.npy", arrays[name] + (name == "y_test"))
    features, labels = {"features": "x_train"}, {"labels": "y_train"}
    val = {"validation_features": "x_val", "validation_labels": "y_val"}
    test = {"test_features": "x_test", "test_labels": "y_test"}
    rows = tmp_path / "rows.py"
    rows.write_text(_ROWS)
    gaps = tmp_path / "gaps.csv"  # numbers of rows that are left out are no classes
    gaps.write_text("a,number,name\n1,5,x\n,3,y\n2,4,z\n3,,z\n4,5,\n5,4,x\n,9,w\n")
    cache = tmp_path / "keras" / "datasets"
    cache.mkdir(parents=True)
    asked: list[DataSettings] = [
        DigitsData(validation_fraction=0.3),
        WineData(),
        WineData(validation_fraction=0.3),
        WineData(validation_fraction=0.3, stratify=True),
        WineData(validation_fraction=0.3, holdout=Holdout.LAST, stratify=True),
        NpzData(path=str(material.columns), validation_fraction=0.47, stratify=True),
        PythonData(
            path=str(material.values_code),
            predicts=Target.VALUES,
            validation_fraction=0.2,
            stratify=True,
        ),
        NpzData(path=str(material.columns)),
        NpzData(path=str(material.columns), class_count=9, validation_fraction=0.5),
        NpzData(path=str(material.pixels), features=FEATURES, labels=LABELS),
        PythonData(path=str(material.values_code), predicts=Target.VALUES),
        PythonData(path=str(material.pixels_code), validation_fraction=0.1),
        NpzData(path=str(sets), **features, **labels, **val, **test),
        NpzData(path=str(sets), **features, **labels, **val, **test, validation_fraction=0.5),
        NpzData(
            path=str(sets),
            **features,
            **labels,
            **val,
            **test,
            validation_path=str(tmp_path / "x_val.npy"),
            test_path=str(tmp_path / "x_test.npy"),
        ),
        NpzData(
            path=str(tmp_path / "x_train.npy"),
            **features,
            **labels,
            **val,
            **test,
            validation_path=str(sets),
            cache=DataCache.NONE,
        ),
        PythonData(path=str(rows), validation_fraction=0.2),
        PythonData(path=str(rows), validation_fraction=0.2, cache=DataCache.NONE),
    ]
    tables = [
        TableData(path=str(material.table), validation_fraction=0.2),
        TableData(path=str(material.table), target="size", missing="drop", cache="none"),
        TableData(path=str(material.table), group="colour", validation_fraction=0.4),
        *(
            TableData(
                path=str(gaps),
                test_path=str(gaps),
                target=target,
                predicts=Target.CLASSES,
                missing="drop",
            )
            for target in ("number", "name")
        ),
    ]
    for table in tables:
        found = preview(PreviewRequest(data=table))
        asked.append(with_detected(Profile(data=table), found).data)
    for cached in ("memory", "none", "disk"):
        images = ImagesData(path=str(material.images), image_size=(7, 5), cache=cached)
        held_out = images.model_copy(update={"validation_fraction": 0.4})
        asked += [images, held_out, held_out.model_copy(update={"stratify": True})]
        sets = {"validation_path": str(material.images), "test_path": str(material.images)}
        asked += [held_out.model_copy(update=sets)]
        asked += [held_out.model_copy(update={"test_path": str(material.images)})]
    for name, (fill, *_) in FILLED.items():
        fill(cache)
        asked += [KerasData(source=name), KerasData(source=name, validation_fraction=0.3)]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("read_both.py"))],
        input=json.dumps([data.model_dump(mode="json") for data in asked]),
        env={**os.environ, "KERAS_HOME": str(cache.parent), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = dict(zip(map(repr, asked), json.loads(done.stdout), strict=True))
    assert not {data: differing for data, differing in found.items() if differing}


def test_that_a_script_lists_the_images_that_the_run_lists(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "linked.png").touch()
    root = tmp_path / "images"
    for label in ("b", "a", ".git", "Ä", "a b"):
        (root / label / "deep" / ".hidden").mkdir(parents=True)
        for name in ("1.png", "deep/2.JPEG", "deep/.hidden/.3.gif", "notes.txt", "png"):
            (root / label / name).touch()
        (root / label / "folder.png").mkdir()
        (root / label / "folder.png" / "in it.png").touch()
        (root / label / "link to folder.png").symlink_to(beside)
        (root / label / "link.png").symlink_to(beside / "linked.png")
        (root / label / "broken.png").symlink_to(beside / "gone.png")
        (root / label / "linked folder").symlink_to(beside)
    (root / "linked class").symlink_to(root / "a")
    (root / "file.png").touch()
    data = ImagesData(path=str(root))
    listed = list_sets(data)["training"]

    listing, _, _ = data_section.data_section(data).partition("x = Images")
    found: dict[str, Any] = {"np": np}
    exec(listing, found)
    assert listed.labels is not None
    assert tuple(map(str, found["x"])) == listed.files.paths
    assert found["y"].tolist() == listed.labels.array.tolist()

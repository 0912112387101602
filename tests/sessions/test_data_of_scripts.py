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
    DataSettings,
    DigitsData,
    Holdout,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    Target,
    WineData,
)
from gpupanel.planning.script import data_section
from gpupanel.planning.script.sources import keras_data
from gpupanel.trainer.datasets.images import list_images
from gpupanel.trainer.datasets.keras_data import WORD_COUNT
from tests.sessions.material import FEATURES, LABELS, Material
from tests.unit.trainer.test_keras_data import FILLED

pytestmark = pytest.mark.tensorflow


def test_that_a_script_reads_every_source_as_the_run_does(
    material: Material, tmp_path: Path
) -> None:
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
        NpzData(path=str(material.pictures), features=FEATURES, labels=LABELS),
        PythonData(path=str(material.values_code), predicts=Target.VALUES),
        PythonData(path=str(material.pixels_code), validation_fraction=0.1),
    ]
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


def test_that_a_script_lists_the_pictures_that_the_run_lists(tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "linked.png").touch()
    root = tmp_path / "images"
    for label in ("b", "a", ".git", "Ä", "a b"):
        (root / label / "deep" / ".hidden").mkdir(parents=True)
        for name in ("1.png", "deep/2.JPEG", "deep/.hidden/.3.gif", "notes.txt", "png"):
            (root / label / name).touch()
        (root / label / "folder.png").mkdir()
        (root / label / "link.png").symlink_to(beside / "linked.png")
        (root / label / "broken.png").symlink_to(beside / "gone.png")
        (root / label / "linked folder").symlink_to(beside)
    (root / "linked class").symlink_to(root / "a")
    (root / "file.png").touch()
    data = ImagesData(path=str(root))
    listed, labels, _ = list_images(data)

    listing, _, _ = data_section.data_section(data).partition("x = np.array")
    found: dict[str, Any] = {"np": np}
    exec(listing, found)
    assert found["files"] == list(zip(listed.paths, labels.tolist(), strict=True))


def test_that_texts_are_distinguished_by_as_many_words_in_both() -> None:
    assert keras_data.WORD_COUNT == WORD_COUNT

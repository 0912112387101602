"""Profiles at the edges: what ``check`` passes runs, what it refuses is refused by ``run`` too."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.forked.terminal import answered, gpupanel

pytestmark = pytest.mark.tensorflow

_TRAINING = "[training]\nepochs = 1\ntensorboard = false\nglobal_batch_size = "


def carried_out(*arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """The exit status and the JSON document of a command."""
    done = gpupanel(*arguments, "--json")
    return done.returncode, answered(done)


def written(folder: Path, text: str) -> Path:
    path = folder / "profile.toml"
    path.write_text("schema_version = 1\n" + text)
    return path


@pytest.fixture
def arrays(tmp_path: Path) -> str:
    """A table of data with three classes."""
    path = tmp_path / "data.npz"
    generator = np.random.default_rng(0)
    np.savez(path, x=generator.normal(size=(40, 6)).astype(np.float32), y=np.arange(40) % 3)
    return f'[data]\nsource = "npz"\npath = "{path}"\nvalidation_fraction = 0.2\n'


def test_that_class_folders_whose_names_are_no_utf_8_are_trained_on(tmp_path: Path) -> None:
    for name in (b"caf\xe9", b"tea"):
        folder = tmp_path / "pictures" / os.fsdecode(name)
        folder.mkdir(parents=True)
        for number in range(6):
            pixels = np.full((8, 8, 3), 40 * number, np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")
    profile = written(
        tmp_path,
        f'[devices]\nvisible = ["cpu"]\n[data]\nsource = "images"\nimage_size = [8, 8]\n'
        f'path = "{tmp_path / "pictures"}"\n{_TRAINING}4\n',
    )

    assert carried_out("check", profile)[1]["ok"]
    status, document = carried_out("run", profile)

    assert status == 0
    assert document["outcome"] == "completed"


@pytest.mark.parametrize(
    "strategy",
    [
        '[devices]\nvisible = ["cpu"]\ncpu_replicas = 2\n[strategy]\nkind = "mirrored"\n',
        (
            '[devices]\nvisible = ["cpu"]\n[strategy]\nkind = "mirrored"\n'
            'all_reduce = "hierarchical_copy"\n'
        ),
        '[devices]\nvisible = ["cpu"]\n[strategy]\nall_reduce = "nccl"\n',
    ],
    ids=["a batch of 1 over 2 replicas", "hierarchical copy of 1", "nccl on one device"],
)
def test_that_what_was_refused_though_right_runs(
    tmp_path: Path, arrays: str, strategy: str
) -> None:
    profile = written(tmp_path, f"{strategy}{arrays}{_TRAINING}1\n")

    checked = carried_out("check", profile)[1]
    assert checked["ok"], checked["problems"]
    status, document = carried_out("run", profile)

    assert status == 0
    assert document["outcome"] == "completed"
    assert document["metrics"]["loss"] is not None


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[model]\nsource = 'mlp'\nhidden = [1000000000000000000]\n", "model.hidden.0"),
        ("[model]\nsource = 'mlp'\nhidden = [2147483647, 1000]\n", "model.hidden"),
        ("[strategy]\nkind = 'multi_worker'\nworkers = 1024\n", "strategy.workers"),
    ],
    ids=["more units than can be counted", "more weights than any memory", "1,024 workers"],
)
def test_that_what_no_machine_takes_is_refused_before_anything_is_made(
    tmp_path: Path, runs_dir: Path, arrays: str, text: str, field: str
) -> None:
    profile = written(tmp_path, f'[devices]\nvisible = ["cpu"]\n{text}{arrays}{_TRAINING}2048\n')

    status, checked = carried_out("check", profile)
    assert status == 1
    assert [each["field"] for each in checked["problems"] if each["severity"] == "error"] == [field]

    assert carried_out("run", profile)[0] == 2
    assert not runs_dir.exists()


def test_that_a_hundred_million_classes_are_refused(
    tmp_path: Path, runs_dir: Path, arrays: str
) -> None:
    data = arrays.replace("source", "class_count = 100000000\nsource")
    profile = written(tmp_path, f'[devices]\nvisible = ["cpu"]\n{data}{_TRAINING}8\n')

    status, checked = carried_out("check", profile)
    assert status == 1
    assert checked["problems"][0]["field"] == "data.class_count"
    assert carried_out("run", profile)[0] == 2
    assert not runs_dir.exists()

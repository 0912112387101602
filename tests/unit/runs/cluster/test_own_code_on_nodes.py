"""Python code of one's own on the nodes of a real Ray cluster: carried out there once trusted."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.run_layout import RunLayout
from tests.clusters import RealCluster, real_cluster
from tests.deaths.mortal_run import saved_weights
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

_MARK = """
import os
from pathlib import Path

(Path({folder!r}) / f"{part} on {{os.environ.get('GPUPANEL_NODE')}}").touch()
"""
_MODEL = """
import keras

def build_model(input_shape, outputs):
    return keras.Sequential([
        keras.Input(input_shape),
        keras.layers.Flatten(),
        keras.layers.Dense(8, activation="relu"),
        keras.layers.Dense(outputs),
    ])
"""
_DATA = """
import numpy as np

def load():
    generator = np.random.default_rng(5)
    features = generator.normal(size=(256, 6)).astype("float32")
    labels = (features.sum(axis=1) > 0).astype("int64")
    return {"x": features, "y": labels, "class_names": ["low", "high"]}
"""
_PROFILE = """
schema_version = 1
name = "own code"
[devices]
visible = ["cpu"]
[strategy]
{strategy}
[data]
source = "python"
path = "data.py"
[model]
source = "python"
path = "model.py"
[training]
epochs = 2
optimizer = "sgd"
learning_rate = 0.1
{table}
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[RealCluster]:
    with real_cluster("alpha", "beta") as real:
        yield real


def written(folder: Path, cluster: RealCluster | None) -> tuple[Path, Path]:
    """A profile beside its code, and the folder in which that leaves a mark of each process."""
    marks = folder / "marks"
    marks.mkdir(exist_ok=True)
    for part, text in (("model", _MODEL), ("data", _DATA)):
        mark = _MARK.format(part=part, folder=str(marks))
        (folder / f"{part}.py").write_text(text + mark)
    table = "" if cluster is None else f'[cluster]\naddress = "{cluster.address}"'
    strategy = "" if cluster is None else 'kind = "multi_worker"'
    profile = folder / "profile.toml"
    profile.write_text(_PROFILE.format(strategy=strategy, table=table))
    return profile, marks


def gpupanel_in(folder: Path, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """The command as people have it, who are in a folder that may be a stranger's."""
    return subprocess.run(
        [Path(sys.executable).with_name("gpupanel"), *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def codes_of(answer: str) -> list[str]:
    return [problem["code"] for problem in json.loads(answer)["problems"]]


def names_in(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


_EVERYWHERE = {"model on alpha", "model on beta", "data on alpha", "data on beta"}


def test_that_code_is_carried_out_on_no_node_before_it_is_trusted_and_on_both_then(
    cluster: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    profile, marks = written(tmp_path, cluster)
    # What lies beside a profile is no code of the run's, on whichever node.
    for name in ("sitecustomize.py", "numpy.py", "keras.py"):
        (tmp_path / name).write_text((tmp_path / "data.py").read_text() + "raise SystemExit(9)\n")
    refused = gpupanel_in(tmp_path, "run", profile, "--json")
    assert refused.returncode == 1
    assert codes_of(refused.stdout) == ["code_not_trusted", "code_not_trusted"]
    assert not runs_dir.exists() or not list(runs_dir.iterdir())
    assert names_in(marks) == set()

    answer = gpupanel_in(tmp_path, "run", profile, "--trust", "--json")
    assert answer.returncode == 0, answer.stderr + answer.stdout
    assert names_in(marks) == _EVERYWHERE
    (root,) = runs_dir.iterdir()

    # A word more, and it is asked about again.
    before = (tmp_path / "model.py").read_text()
    (tmp_path / "model.py").write_text(before + "# more\n")
    again = gpupanel_in(tmp_path, "run", profile, "--json")
    assert codes_of(again.stdout) == ["code_not_trusted"]
    (tmp_path / "model.py").write_text(before)

    here, _ = written(tmp_path, None)
    alone = gpupanel_in(tmp_path, "run", here, "--json", "--trust", "--runs-dir", tmp_path / "here")
    assert alone.returncode == 0, alone.stderr
    (expected,) = (tmp_path / "here").iterdir()
    found, wanted = saved_weights(RunLayout(root)), saved_weights(RunLayout(expected))
    assert found.keys() == wanted.keys()
    for name, weights in wanted.items():
        np.testing.assert_allclose(found[name], weights, rtol=1e-5, atol=1e-6, err_msg=name)
    cluster.until_no_trainer_is_left(10.0)


def test_that_a_module_beside_the_code_is_not_imported_and_that_the_node_says_so(
    cluster: RealCluster, tmp_path: Path, runs_dir: Path
) -> None:
    profile, marks = written(tmp_path, cluster)
    (tmp_path / "beside.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    model = tmp_path / "model.py"
    model.write_text("import beside\n" + model.read_text())
    answer = gpupanel_in(tmp_path, "run", profile, "--trust", "--json")
    assert answer.returncode == 1
    problem = json.loads(answer.stdout)["problem"]
    assert problem["code"] == "user_code_failed"
    assert (
        "model.py failed in line 1: ModuleNotFoundError: No module named 'beside'"
        in (problem["message"])
    )
    assert not (tmp_path / "imported").exists()
    assert names_in(marks) == {"data on alpha", "data on beta"}
    cluster.until_no_trainer_is_left(10.0)

"""How good a model is for each value of a column, counted by a real evaluation."""

import csv
import random
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.slices_file import read_slices_file
from tests.forked.terminal import answered, gpupanel

pytestmark = pytest.mark.tensorflow

PROFILE = """
schema_version = 1
name = "{task} flats"
task = "{task}"
[devices]
visible = ["cpu"]
cpu_replicas = 2
[strategy]
kind = "mirrored"
shares = {shares}
[data]
source = "table"
path = "flats.csv"
target = "price"
ignore = ["agent"]
[model]
{model}
[training]
epochs = 2
global_batch_size = 100
tensorboard = false
[inference]
batch_size = 100
examples = "all"
output = "npz"
"""
SAVED = 'source = "saved"\npath = "flats.keras"'


@pytest.mark.long
def test_that_slices_of_any_shares_are_those_of_the_predictions(tmp_path: Path) -> None:
    drawn = random.Random(3)
    rows = [
        (drawn.choice(("Oslo", "Rome")), drawn.randint(20, 200), drawn.choice(("A", "B", "")))
        for _ in range(600)
    ]
    prices = [area * (5 if town == "Oslo" else 3) for town, area, _ in rows]
    with (tmp_path / "flats.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("town", "area", "agent", "price"))
        writer.writerows((*row, price) for row, price in zip(rows, prices, strict=True))

    def run(task: str, model: str = SAVED, shares: str = "[75, 25]") -> RunLayout:
        path = tmp_path / "profile.toml"
        path.write_text(PROFILE.format(task=task, model=model, shares=shares))
        return RunLayout(Path(answered(gpupanel("run", path, "--json"))["run"]))

    run("train", 'source = "mlp"', '"equal"').model.rename(tmp_path / "flats.keras")
    predicted = np.load(run("predict").predictions("npz"))["values"]
    errors = abs(predicted - prices)
    for shares in ("[75, 25]", "[3, 97]"):
        found = read_slices_file(run("evaluate", shares=shares).confusion)
        assert found is not None
        assert found.names == ("town", "area", "agent", "price")
        for place, column in ((0, 0), (2, 2)):
            for value in {row[column] for row in rows}:
                is_in = np.array([row[column] == value for row in rows])
                at = [
                    number
                    for number, of in enumerate(found.column)
                    if of == place and found.values[number] == (value or "empty")
                ]
                assert len(at) == 1
                assert found.examples[at[0]] == is_in.sum()
                assert found.measures[at[0]] == pytest.approx(errors[is_in].mean(), rel=1e-4)

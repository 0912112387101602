"""Small trained models of pictures, rows and texts, to be asked about single examples."""

import csv
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from gpupanel.domain.data import DataSettings, ImagesData, TableData, TextData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import CnnModel, MlpModel, SavedModel, TransformerModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import train_all

CORNERS = {"lower right": 21, "upper left": 3}
"""Where the bright square stands in the pictures of each class, of 32x32 pixels, in the order of
the classes: its first row and column."""
SQUARE = 8


def make_corners(folder: Path, count: int = 30) -> Path:
    """Noise with a bright square, whose corner is the class."""
    random = np.random.default_rng(1)
    for name, first in CORNERS.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            pixels = random.integers(0, 90, (32, 32, 3)).astype(np.uint8)
            square = slice(first, first + SQUARE)
            pixels[square, square] = (250, 40, 40) if first < SQUARE else (40, 40, 250)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    return folder


def make_houses(path: Path) -> Path:
    """Rows of a number, a category and a date, and the price."""
    random = np.random.default_rng(2)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["area", "town", "built", "price"])
        for number in range(120):
            area, town = round(float(random.uniform(30, 200)), 1), ["Bern", "Genf"][number % 3 == 0]
            rows.writerow([area, town, f"{1950 + number % 60}-03-01", round(1000 * area)])
    return path


def make_reviews(path: Path) -> Path:
    """Texts of good or of bad words."""
    random = np.random.default_rng(3)
    good, bad = ["great", "lovely", "superb", "fine"], ["awful", "poor", "dull", "weak"]
    words = {"good": good, "bad": bad}
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["review", "stars"])
        for number in range(120):
            stars = ["good", "bad"][number % 2]
            rows.writerow([f"{' '.join(random.choice(words[stars], 5))} film", stars])
    return path


ASKED = ("corners", "flat", "grey", "houses", "reviews")


def train_asked(
    folder: Path, make_run: MakeRun, names: Collection[str] = ASKED
) -> dict[str, RunLayout]:
    """Runs by what their models take: ``corners``, ``flat`` (without a convolution), ``grey``,
    ``houses`` and ``reviews``, those of these names."""
    training = TrainingSettings(epochs=8, learning_rate=0.003, global_batch_size=16)
    pictures = ImagesData(path=str(make_corners(folder / "corners")), image_size=(32, 32))
    houses = TableData(path=str(make_houses(folder / "houses.csv")))
    reviews = TextData(path=str(make_reviews(folder / "reviews.csv")), target="stars", length=8)

    def of(data: DataSettings, model: object, epochs: int) -> tuple[Profile, Sequence[int]]:
        chosen = training.model_copy(update={"epochs": epochs})
        return Profile(data=data, model=model, training=chosen), (16,)

    plans = {
        "corners": of(pictures, CnnModel(filters=(8,)), 8),
        "flat": of(pictures, MlpModel(hidden=(8,)), 1),
        "grey": of(pictures.model_copy(update={"color": "grayscale"}), MlpModel(hidden=(8,)), 1),
        "houses": of(houses, MlpModel(hidden=(8,)), 2),
        "reviews": of(reviews, TransformerModel(), 2),
    }
    return train_all(folder / "runs", make_run, {name: plans[name] for name in names})


def predicting_with(layout: RunLayout, data: DataSettings) -> Profile:
    """A profile that predicts on that data with the run's model, into a CSV."""
    model = SavedModel(path=str(layout.model))
    inference = InferenceSettings(output="csv")
    return Profile(task="predict", model=model, data=data, inference=inference)

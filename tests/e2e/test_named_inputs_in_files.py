"""Several inputs and outputs of files: what a training validated is what its model evaluates."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.run_layout import RunLayout
from tests.forked.terminal import answered, gpupanel
from tests.unit.trainer.image_folders import make_images
from tests.unit.trainer.record_files import example, write_records

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

COUNT = 240
ROOM = """
import keras
from keras import layers
def build_model(input_shape, outputs):
    inputs = {name: keras.Input(shape, name=name) for name, shape in input_shape.items()}
    made = [layers.Dense(8, activation="relu")(layers.Flatten()(each)) for each in inputs.values()]
    return keras.Model(inputs, layers.Dense(outputs)(layers.Concatenate()(made)))
"""
TASKS = """
import keras
from keras import layers
def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    hidden = layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
    mask = layers.Conv2D(outputs["mask"][-1], 1)(hidden)
    mean = layers.Dense(outputs["mean"])(layers.GlobalAveragePooling2D()(hidden))
    return keras.Model(inputs, {"mask": mask, "mean": mean})
"""
MASK = """
import keras
from keras import layers
def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    return keras.Model(inputs, layers.Conv2D(outputs[-1], 3, padding="same")(inputs))
"""
SOURCES = {
    "inputs of arrays": (
        ROOM,
        'source = "npz"\npath = "rooms.npz"\ninputs = ["picture", "facts"]\nlabels = "kind"',
    ),
    "outputs of arrays": (
        TASKS,
        (
            'source = "npz"\npath = "tasks.npz"\nfeatures = "x"\n'
            'outputs = { mask = "classes", mean = "values" }'
        ),
    ),
    "masks of arrays": (
        MASK,
        'source = "npz"\npath = "tasks.npz"\nfeatures = "x"\nlabels = "mask"\npredicts = "classes"',
    ),
    "inputs of a table": (
        ROOM,
        (
            'source = "table"\npath = "houses.csv"\ntarget = "price"\n'
            'inputs = { size = ["rooms", "area"], place = ["side"] }'
        ),
    ),
    "inputs of records": (
        ROOM,
        'source = "tfrecord"\npath = "rooms.tfrecord"\ninputs = ["size", "facts"]\nlabels = "kind"',
    ),
    "numbers beside images": (
        ROOM,
        (
            'source = "images"\npath = "photos"\nlabels_csv = "photos.csv"\n'
            'numbers = ["weight", "age"]\nlabel_columns = "kind"\nimage_size = [6, 6]'
        ),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(3)
    picture = random.integers(0, 256, (COUNT, 6, 6, 3), dtype=np.uint8)
    facts = random.normal(size=(COUNT, 3)).astype("float32")
    kind = (facts[:, 0] > 0).astype("int64")
    np.savez(folder / "rooms.npz", picture=picture, facts=facts, kind=kind)
    np.savez(folder / "new rooms.npz", picture=picture[:9], facts=facts[:9])
    x = random.random((COUNT, 6, 6, 1), dtype=np.float32)
    mask = (x[..., 0] > 0.5).astype("int64")
    np.savez(folder / "tasks.npz", x=x, mask=mask, mean=x.mean((1, 2, 3)))
    rows = [
        f"{1 + number % 7},{20 + number % 11},{'north' if number % 3 else 'south'},{number % 7}"
        for number in range(COUNT)
    ]
    (folder / "houses.csv").write_text("\n".join(["rooms,area,side,price", *rows]) + "\n")
    records = [
        example(size=float(number % 5), facts=facts[number], kind=int(kind[number]))
        for number in range(COUNT)
    ]
    write_records(folder / "rooms.tfrecord", records)
    make_images(folder / "photos", {f"{number}.png": number for number in range(COUNT)})
    lines = [f"{number},{20 + number % 50},{number % 9},{kind[number]}" for number in range(COUNT)]
    (folder / "photos" / "photos.csv").write_text("\n".join(["id,age,weight,kind", *lines]) + "\n")
    new = "\n".join(["id,weight,age", *(f"{number},{number},{number}" for number in range(9))])
    (folder / "photos" / "new.csv").write_text(f"{new}\n")
    return folder


@pytest.mark.parametrize("name", SOURCES)
def test_that_an_evaluation_measures_what_the_training_validated(
    folder: Path, runs_dir: Path, name: str
) -> None:
    del runs_dir
    code, data = SOURCES[name]
    slug = name.replace(" ", "-")
    (folder / f"{slug}.py").write_text(code)
    training = folder / f"{slug}.toml"
    training.write_text(
        f'[data]\n{data}\nvalidation_fraction = 0.25\n[model]\nsource = "python"\n'
        f'path = "{slug}.py"\n[training]\nepochs = 2\n'
    )
    ran = answered(gpupanel("run", training, "--trust", "--json"))
    model = RunLayout(Path(ran["run"])).model
    evaluation = folder / f"{slug}-evaluate.toml"
    text = f'task = "evaluate"\n[data]\n{data}\n[model]\nsource = "saved"\npath = "{model}"\n'
    evaluation.write_text(text)
    evaluated = answered(gpupanel("run", evaluation, "--json"))

    assert evaluated["outcome"] == "completed", evaluated
    validated = {
        name.removeprefix("val_"): value
        for name, value in ran["metrics"].items()
        if name.startswith("val_") and isinstance(value, float)
    }
    assert {"loss"} < validated.keys()
    for measure, value in validated.items():
        # The area under a curve is counted in bins, into which rounding moves an example.
        near = 2e-3 if measure == "auc" else 1e-6
        assert evaluated["metrics"][measure] == pytest.approx(value, rel=1e-5, abs=near), measure


def test_that_a_prediction_takes_inputs_without_labels_in_any_order(
    folder: Path, runs_dir: Path
) -> None:
    del runs_dir
    code, data = SOURCES["inputs of arrays"]
    (folder / "room.py").write_text(code)
    training = folder / "room.toml"
    training.write_text(
        f'[data]\n{data}\n[model]\nsource = "python"\npath = "room.py"\n[training]\nepochs = 1\n'
    )
    ran = answered(gpupanel("run", training, "--trust", "--json"))
    model, found = RunLayout(Path(ran["run"])).model, []
    for order in ('["picture", "facts"]', '["facts", "picture"]'):
        prediction = folder / "predict.toml"
        prediction.write_text(
            f'task = "predict"\n[data]\nsource = "npz"\npath = "new rooms.npz"\ninputs = {order}\n'
            f'[model]\nsource = "saved"\npath = "{model}"\n'
        )
        predicted = answered(gpupanel("run", prediction, "--json"))
        with np.load(RunLayout(Path(predicted["run"])).root / "predictions.npz") as archive:
            found.append(archive["probabilities"])
    assert found[0].shape == (9, 2)
    np.testing.assert_array_equal(*found)


def test_that_a_prediction_takes_images_with_numbers_and_no_labels(
    folder: Path, runs_dir: Path
) -> None:
    del runs_dir
    code, data = SOURCES["numbers beside images"]
    (folder / "photo.py").write_text(code)
    training = folder / "photo.toml"
    training.write_text(
        f'[data]\n{data}\n[model]\nsource = "python"\npath = "photo.py"\n[training]\nepochs = 1\n'
    )
    ran = answered(gpupanel("run", training, "--trust", "--json"))
    model, found = RunLayout(Path(ran["run"])).model, []
    for numbers in ('numbers = ["weight", "age"]', 'numbers = ["age", "weight"]', ""):
        prediction = folder / "predict photos.toml"
        prediction.write_text(
            'task = "predict"\n[data]\nsource = "images"\npath = "photos"\nimage_size = [6, 6]\n'
            f'labels_csv = "new.csv"\n{numbers}\n[model]\nsource = "saved"\npath = "{model}"\n'
        )
        predicted = answered(gpupanel("run", prediction, "--json"))
        table = RunLayout(Path(predicted["run"])).root / "predictions.csv"
        found.append(table.read_text().splitlines())
    assert found[0] == found[1] == found[2]
    assert [line.split(",")[1] for line in found[0][1:]] == [f"{number}.png" for number in range(9)]

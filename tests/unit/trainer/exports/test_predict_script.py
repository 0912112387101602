"""``predict.py``, as it stands beside an export, gives what the model itself does."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.data import ImagesData, Target
from gpupanel.domain.trained_on import TrainedOn
from gpupanel.trainer.exports import description, predict
from tests.forked.processes import run_forked

MOST = 2e-6
FORMATS = ("keras", "savedmodel", "tflite")


def formats(chosen: str) -> list[Any]:
    """The chosen one, and the others for ``make test-slow``."""
    return [
        pytest.param(form, marks=() if form == chosen else pytest.mark.slow) for form in FORMATS
    ]


def run(script: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_forked(
        [sys.executable, str(script), *map(str, arguments)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )


def outputs(script: Path, *arguments: object) -> list[dict[str, Any]]:
    done = run(script, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    answer: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index('[{"input"') :])
    return answer


def numbers_in(found: list[dict[str, Any]]) -> np.ndarray:
    return np.array([[number for _, number in each["outputs"]] for each in found])


def of_two(second: Any) -> np.ndarray:
    probability = np.array(second)
    return np.concatenate([1.0 - probability, probability], axis=1)


@pytest.mark.tensorflow
@pytest.mark.long
@pytest.mark.parametrize("form", formats("keras"))
def test_that_images_get_the_classes_that_the_model_gives_them(
    folder: Path, expected: dict[str, Any], form: str
) -> None:
    images = [path for each in sorted((folder / "images").iterdir()) for path in each.iterdir()]
    images.sort()
    found = outputs(folder / f"images {form}" / "predict.py", *images)
    assert [name for name, _ in found[0]["outputs"]] == sorted(
        each.name for each in (folder / "images").iterdir()
    )
    np.testing.assert_allclose(numbers_in(found), expected["images"], atol=MOST)


@pytest.mark.tensorflow
@pytest.mark.long
@pytest.mark.parametrize("form", formats("savedmodel"))
def test_that_rows_of_a_table_get_the_classes_that_the_model_gives_them(
    folder: Path, expected: dict[str, Any], form: str
) -> None:
    found = outputs(folder / f"table {form}" / "predict.py", folder / "table.csv")
    assert [name for name, _ in found[0]["outputs"]] == ["cheap", "dear"]
    assert found[1]["input"] == "table.csv row 2"
    np.testing.assert_allclose(numbers_in(found), of_two(expected["table"]), atol=MOST)


@pytest.mark.tensorflow
@pytest.mark.long
@pytest.mark.parametrize("form", formats("keras"))
def test_that_rows_with_commas_and_days_as_germans_write_them_get_their_values(
    folder: Path, expected: dict[str, Any], form: str
) -> None:
    found = outputs(folder / f"houses {form}" / "predict.py", folder / "houses.csv")
    assert found[0]["outputs"][0][0] == "price"
    np.testing.assert_allclose(numbers_in(found), expected["houses"], rtol=1e-5, atol=MOST)


@pytest.mark.tensorflow
@pytest.mark.long
@pytest.mark.parametrize("form", formats("tflite"))
def test_that_texts_get_the_classes_that_the_model_gives_them(
    folder: Path, expected: dict[str, Any], form: str
) -> None:
    texts = sorted((folder / "texts").rglob("*.txt"))
    found = outputs(folder / f"texts {form}" / "predict.py", *texts)
    assert [name for name, _ in found[0]["outputs"]] == ["no", "yes"]
    np.testing.assert_allclose(numbers_in(found), of_two(expected["texts"]), atol=MOST)


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_arrays_get_the_probability_of_each_label(
    folder: Path, expected: dict[str, Any]
) -> None:
    found = outputs(folder / "labels tflite" / "predict.py", folder / "arrays.npy")
    wanted = 1.0 / (1.0 + np.exp(-np.array(expected["labels"])))
    np.testing.assert_allclose(numbers_in(found), wanted, atol=MOST)
    assert [name for name, _ in found[0]["outputs"]] == ["0", "1"]


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_what_white_is_in_the_data_is_white_in_an_image(
    folder: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    from PIL import Image

    from gpupanel.trainer.datasets.sources.digits import read_digits

    digit = np.asarray(read_digits().training.features[7])
    Image.fromarray(np.rint(digit * (255 / 16)).astype(np.uint8)).save(tmp_path / "7.png")
    np.save(tmp_path / "7.npy", digit)
    found = outputs(folder / "digits tflite" / "predict.py", tmp_path / "7.png", tmp_path / "7.npy")
    logits = np.array(expected["digits"][7])
    wanted = np.exp(logits) / np.exp(logits).sum()
    of_image, of_array = numbers_in(found)
    np.testing.assert_allclose(of_array, wanted, atol=MOST)
    np.testing.assert_allclose(of_image, wanted, atol=1e-3)


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_dark_on_light_is_swapped_where_the_training_was_light_on_dark(
    folder: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    from PIL import Image

    from gpupanel.trainer.datasets.sources.digits import read_digits

    digit = np.asarray(read_digits().training.features[7])
    dark = np.rint(digit * (255 / 16)).astype(np.uint8)
    Image.fromarray(255 - dark).save(tmp_path / "ink.png")
    script, path = folder / "digits tflite" / "predict.py", tmp_path / "ink.png"
    wanted = np.exp(expected["digits"][7]) / np.exp(expected["digits"][7]).sum()
    done = run(script, "--json", path)
    (answer,) = numbers_in(json.loads(done.stdout))
    np.testing.assert_allclose(answer, wanted, atol=1e-3)
    assert "Light and dark of 1 image (ink.png) are swapped" in done.stderr

    left = run(script, "--json", "--no-swap", path)
    (other,) = numbers_in(json.loads(left.stdout))
    # Whatever the network learned, or did not: ten times what rounds in the answer above.
    assert np.abs(other - wanted).max() > 10 * np.abs(answer - wanted).max()
    assert "swapped" not in left.stderr
    colour = run(folder / "images tflite" / "predict.py", "--swap", path)
    assert (colour.returncode, "takes no grey images" in colour.stderr) == (1, True)


def test_that_pictures_as_those_of_the_training_are_given_as_they_are_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    monkeypatch.setattr(predict, "UNLIKE", {True: [], False: []})
    Image.fromarray(np.full((8, 8), 250, np.uint8)).save(tmp_path / "light.png")
    data = ImagesData(path="gone", image_size=(8, 8), color="grayscale")
    known = TrainedOn(predicts=Target.CLASSES, edges=(0.0, 0.1))
    found = description._input(data, None, None, (8, 8, 1), "float32", None, known)
    assert found.image is not None
    wanted = found.image.model_dump()

    given = predict.features_of_image(tmp_path / "light.png", wanted)
    assert given.max() == given.min() == 250
    (sentence,) = predict.unlike_grounds(swap=None)
    assert "light.png" in sentence
    assert "--swap" in sentence
    swapped = predict.features_of_image(tmp_path / "light.png", wanted, swap=True)
    assert swapped.max() == swapped.min() == 5
    assert list(predict.unlike_grounds(swap=True)) == []


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_people_read_names_and_percent_and_nothing_acts_on_their_terminal(
    folder: Path,
) -> None:
    image = next((folder / "images").rglob("*.png"))
    done = run(folder / "images tflite" / "predict.py", image)
    assert done.returncode == 0, done.stderr
    line = done.stdout.strip().splitlines()[-1]
    assert line.startswith(f"{image.name}: ")
    assert line.count(" %") == 3
    assert "\x1b" not in done.stdout
    done = run(folder / "houses tflite" / "predict.py", folder / "houses.csv")
    assert "houses.csv row 60: price " in done.stdout
    done = run(folder / "texts tflite" / "predict.py", "--text", "good film")
    assert done.stdout.startswith("text: ")


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_names_of_strangers_are_data_and_the_script_is_the_same_beside_every_model(
    folder: Path,
) -> None:
    scripts = {path.read_bytes() for path in folder.rglob("predict.py")}
    assert len(scripts) == 1
    assert b"touch here" not in scripts.pop()
    description = (folder / "images savedmodel" / "model.json").read_bytes()
    assert b"\\u001b[31m" in description
    assert b"\x1b" not in description
    assert "red\x1b[31m" in json.loads(description)["output"]["names"]


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_the_file_beside_a_model_says_what_it_takes_and_gives(folder: Path) -> None:
    table = json.loads((folder / "table tflite" / "m.tflite.json").read_text())
    assert table["format"] == "tflite"
    assert {"gpupanel", "tensorflow", "keras"} == set(table["written_by"])
    assert [each["name"] for each in table["input"]["columns"]] == ["size", "town", "built"]
    assert table["input"]["columns"][1]["categories"] == ["Bonn", "Köln", "NA", "a, b"]
    assert (table["output"]["kind"], table["output"]["numbers"]) == ("classes", "probabilities")
    houses = json.loads((folder / "houses keras" / "m.keras.json").read_text())
    assert houses["input"]["csv"]["decimal"] == ","
    assert houses["output"] == {
        "kind": "values",
        "numbers": "values",
        "names": ["price"],
        "means": "A number for each value.",
    }
    images = json.loads((folder / "images savedmodel" / "model.json").read_text())
    assert images["input"]["shape"] == [24, 16, 3]
    assert "RGB pixels from 0 (black) to 255 (white)" in images["input"]["means"]
    texts = json.loads((folder / "texts tflite" / "m.tflite.json").read_text())
    assert (texts["input"]["length"], len(texts["input"]["words"])) == (9, 8)
    digits = json.loads((folder / "digits tflite" / "m.tflite.json").read_text())
    assert (digits["input"]["image"]["greatest"], digits["output"]["numbers"]) == (16.0, "logits")
    gone = json.loads((folder / "gone.keras.json").read_text())
    assert gone["input"]["kind"] == "image"
    assert len(gone["output"]["names"]) == 4


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_the_one_model_of_several_is_named(folder: Path, tmp_path: Path) -> None:
    script = folder / "digits tflite" / "predict.py"
    for name in ("script.py", "a.tflite", "b.tflite"):
        source = script if name == "script.py" else script.with_name("m.tflite")
        (tmp_path / name).write_bytes(source.read_bytes())
    done = run(tmp_path / "script.py", "x.png")
    assert "There is no exported model in" in done.stderr
    for name in ("a", "b"):
        described = script.with_name("m.tflite.json").read_bytes()
        (tmp_path / f"{name}.tflite.json").write_bytes(described)
    done = run(tmp_path / "script.py", "x.png")
    assert "name one of them by --model: a.tflite, b.tflite" in done.stderr
    np.save(tmp_path / "x.npy", np.zeros((8, 8)))
    found = outputs(tmp_path / "script.py", "--model", tmp_path / "b.tflite", tmp_path / "x.npy")
    assert len(found[0]["outputs"]) == 10


ARRAYS = {
    (8, 8, 3): ["x.npy"],
    (1, 8, 8, 3): ["x.npy"],
    (2, 8, 8, 3): ["x.npy [0]", "x.npy [1]"],
    (192,): ["x.npy"],
    (2, 192): ["x.npy [0]", "x.npy [1]"],
    (3, 8, 8): "moveaxis",
    (2, 3, 8, 8): "moveaxis",
    (8, 8): "has the shape (8, 8), an example of the model (8, 8, 3).",
    (64, 3): "has the shape (64, 3)",
}
"""What is made of arrays of these shapes for a model of images with channels last."""


@pytest.mark.parametrize("shape", ARRAYS)
def test_that_arrays_of_another_order_are_refused_instead_of_read_in_that(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    np.save(tmp_path / "x.npy", np.full(shape, 7, np.uint8))
    takes = {"shape": [8, 8, 3], "image": {"greatest": 255.0}}
    wanted = ARRAYS[shape]
    if isinstance(wanted, list):
        assert [name for name, _ in predict.arrays(tmp_path / "x.npy", takes)] == wanted
        return
    with pytest.raises(SystemExit) as ended:
        list(predict.arrays(tmp_path / "x.npy", takes))
    assert wanted in str(ended.value)


@pytest.mark.parametrize(
    ("least", "most", "is_said"),
    [(0.0, 200.0, False), (0.0, 0.0, False), (0.0, 1.0, True), (-1.0, 1.0, True), (0, 4095, True)],
)
def test_that_arrays_of_another_range_than_that_of_images_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], least: float, most: float, *, is_said: bool
) -> None:
    np.save(tmp_path / "x.npy", np.linspace(least, most, 64).reshape(8, 8))
    takes = {"shape": [8, 8, 1], "image": {"greatest": 255.0}}
    assert len(list(predict.arrays(tmp_path / "x.npy", takes))) == 1
    assert ("are they in another range?" in capsys.readouterr().err) is is_said


def test_that_an_array_of_words_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array(["1", "2"]))
    with pytest.raises(SystemExit, match="holds no array of numbers"):
        list(predict.arrays(tmp_path / "x.npy", {"shape": [2]}))


REFUSED = {
    "lacks columns: size, built": ("table", "size_of,town,Built\n1,Bonn,2020-01-01\n", "a.csv"),
    "has 2 cells, not 3": ("table", "size,town,built\n1,Bonn\n", "a.csv"),
    'column "size" holds "large"': ("table", "size,town,built\nlarge,Bonn,2020-01-01\n", "a.csv"),
    'column "built" holds "soon\\x1b"': ("table", "size,town,built\n1,Bonn,soon\x1b\n", "a.csv"),
    "The model cannot take": ("table", "size", "a.txt"),
    "is not an image that can be read": ("images", "no image", "a.png"),
    "holds no array of numbers": ("images", "no array", "a.npy"),
    "cannot be read": ("images", None, "none\x1b.png"),
}


@pytest.mark.tensorflow
@pytest.mark.long
@pytest.mark.parametrize("words", REFUSED)
def test_that_what_cannot_be_predicted_on_is_a_sentence(
    folder: Path, tmp_path: Path, words: str
) -> None:
    name, content, file = REFUSED[words]
    if content is not None:
        (tmp_path / file).write_text(content)
    done = run(folder / f"{name} tflite" / "predict.py", tmp_path / file)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_the_script_runs_in_a_process_of_its_own_without_gpupanel(
    folder: Path, tmp_path: Path, expected: dict[str, Any]
) -> None:
    script = folder / "table tflite" / "predict.py"
    assert "gpupanel" not in script.read_text().replace("that gpupanel exported", "").replace(
        "runs without gpupanel", ""
    ).replace("version of gpupanel", "")
    done = subprocess.run(
        [sys.executable, "-P", str(script), "--json", str(folder / "table.csv")],
        cwd=tmp_path,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = numbers_in(json.loads(done.stdout))
    np.testing.assert_allclose(found, of_two(expected["table"]), atol=MOST)


WHOLE = {
    "schema_version": 1,
    "input": {"kind": "array", "shape": [4], "dtype": "float32", "means": "Four numbers."},
    "output": {"kind": "classes", "numbers": "logits", "names": ["a", "b"]},
}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        b"[1]",
        b'"x"',
        b'{"schema_version": 1}',
        json.dumps({**WHOLE, "schema_version": 2}).encode(),
        json.dumps({**WHOLE, "input": [1]}).encode(),
        json.dumps({**WHOLE, "output": {"kind": "classes"}}).encode(),
        json.dumps({**WHOLE, "input": {**WHOLE["input"], "kind": ["array"]}}).encode(),
        json.dumps({**WHOLE, "input": {**WHOLE["input"], "kind": "words"}}).encode(),
        json.dumps({**WHOLE, "input": {**WHOLE["input"], "shape": "4"}}).encode(),
    ],
)
def test_that_a_description_that_is_damaged_ends_in_a_sentence(
    tmp_path: Path, content: bytes
) -> None:
    model = tmp_path / "m.tflite"
    predict.description_of(model).write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        predict.described(model)
    assert str(predict.description_of(model)) in str(ended.value)
    predict.description_of(model).write_text(json.dumps(WHOLE))
    assert predict.described(model) == WHOLE

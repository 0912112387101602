"""Models of numbers that are asked about pictures and ``.npy`` files."""

import base64
import csv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.asked_prediction import PredictionAnswer, PredictionAsked
from gpupanel.domain.data import (
    Axes,
    DataSettings,
    DigitsData,
    KerasData,
    NpzData,
    PythonData,
    WineData,
)
from gpupanel.domain.decoded_images import LIGHT_ON_DARK, PictureForm
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.tools.prediction.predictor import Predictor
from gpupanel.trainer.datasets.arrays.single_array import picture_form
from gpupanel.trainer.datasets.learned_from import known_content
from gpupanel.trainer.datasets.single_data import AskedModel
from gpupanel.trainer.datasets.sources.digits import read_digits
from gpupanel.trainer.models.saved_outputs import input_shape_in
from tests.unit.trainer.asked_models import predicting_with
from tests.unit.trainer.conftest import MakeRun, StartTrainer
from tests.unit.trainer.trained_runs import train_all

DIGITS = read_digits().training
TIMES = "\N{MULTIPLICATION SIGN}"
ARRAYS = "A .npy file of one example or several is given to the model as it is."


class Asked:
    """What was trained, and the process that is asked about it."""

    def __init__(self, folder: Path, runs: dict[str, tuple[RunLayout, DataSettings]]) -> None:
        self.folder, self.runs = folder, runs
        self.predictor = Predictor()

    def about(self, model: str, path: Path | None = None, **more: object) -> PredictionAnswer:
        layout, data = self.runs[model]
        file = "" if path is None else str(path)
        profile = predicting_with(layout, data)
        return self.predictor.ask(PredictionAsked(profile=profile, file=file, **more))

    def picture(self, name: str, digit: int, *, is_light: bool = False) -> Path:
        """A digit in black on white, or the other way round, larger than any example."""
        grey = np.kron(pixels_of(digit), np.ones((30, 30), np.uint8))
        Image.fromarray(grey if is_light else 255 - grey).save(self.folder / name)
        return self.folder / name

    def array(self, name: str, array: np.ndarray) -> Path:
        np.save(self.folder / name, array)
        return self.folder / name


def pixels_of(digit: int) -> np.ndarray:
    """One of the digits from black to white."""
    example = DIGITS.features[np.flatnonzero(DIGITS.labels == digit)[0]]
    return np.rint(example * (255 / 16)).astype(np.uint8)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("arrays")
    features, labels = DIGITS.features, DIGITS.labels
    large = np.kron(features, np.ones((1, 2, 2), np.uint8))
    np.savez(folder / "unit.npz", x=(large / 16).astype(np.float32)[..., np.newaxis], y=labels)
    np.savez(folder / "odd.npz", x=(features - 8.0).reshape(-1, 64), y=labels)
    first = np.moveaxis(np.repeat(large[..., np.newaxis], 3, -1), -1, 1)
    np.savez(folder / "first.npz", x=first * np.uint8(15), y=labels)
    data: dict[str, DataSettings] = {
        "digits": DigitsData(),
        "unit": NpzData(path=str(folder / "unit.npz")),
        "odd": NpzData(path=str(folder / "odd.npz")),
        "first": NpzData(path=str(folder / "first.npz"), axes=Axes.CHANNELS_FIRST),
    }
    training = TrainingSettings(epochs=5, learning_rate=0.003, global_batch_size=64)
    model, flat = CnnModel(filters=(16,)), MlpModel(hidden=(32,))
    plans = {
        name: (
            Profile(data=each, model=flat if name == "odd" else model, training=training),
            (64,),
        )
        for name, each in data.items()
    }
    layouts = train_all(folder / "runs", make_run, plans)
    asked = Asked(folder, {name: (layouts[name], data[name]) for name in data})
    (folder / "unit.npz").unlink()  # the model's file says what is needed
    with closing(asked.predictor):
        asked.about("digits")  # the process is there before each test
        yield asked


def said(answer: PredictionAnswer) -> str:
    assert answer.predicted == ()
    (problem,) = answer.problems
    return problem.message


def shown(answer: PredictionAnswer) -> np.ndarray:
    assert answer.image is not None
    pixels = np.frombuffer(base64.b64decode(answer.image.pixels_base64), np.uint8)
    return pixels.reshape(answer.image.height, answer.image.width, -1)


@pytest.mark.tensorflow
@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "words"),
    [("digits", f"8 {TIMES} 8 grey, 0 to 16"), ("unit", f"16 {TIMES} 16 grey, 0 to 1")],
    ids=["whole", "fractions"],
)
def test_that_a_picture_is_brought_into_the_range_of_the_training_and_light_and_dark_swapped(
    trained: Asked, model: str, words: str
) -> None:
    found = []
    for is_light in (False, True):
        for digit in (0, 1, 4):
            answer = trained.about(model, trained.picture("a.png", digit, is_light=is_light))
            assert answer.predicted[0].name == str(digit)
            assert answer.is_swapped is not is_light
            why = ", light and dark swapped: its edge is bright, and those of the training are dark"
            assert answer.made == (words if is_light else words + why)
            found.append(shown(answer).tolist())
    # The same but for what is rounded: what the model got is what is shown.
    assert np.abs(np.subtract(found[:3], found[3:])).max() <= 255 / 16 + 1
    dark = trained.picture("a.png", 4)
    as_it_is = trained.about(model, dark, swap=False)
    assert shown(as_it_is).ravel()[0] == 255
    assert ", not swapped, though its edge is bright" in as_it_is.made
    swapped = trained.about(model, trained.picture("a.png", 4, is_light=True), swap=True)
    assert swapped.made == f"{words}, light and dark swapped"
    assert np.abs(np.subtract(shown(swapped), shown(as_it_is), dtype=float)).max() <= 255 / 16 + 1


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_what_the_model_says_of_a_picture_is_what_it_says_of_the_numbers_that_are_shown(
    trained: Asked, make_run: MakeRun, start_trainer: StartTrainer
) -> None:
    answer = trained.about("digits", trained.picture("a.png", 3))
    numbers = np.rint(shown(answer)[..., 0] * (16 / 255)).astype(np.uint8)
    data = NpzData(path=str(trained.array("numbers.npy", numbers[np.newaxis])), features="numbers")
    profile = predicting_with(trained.runs["digits"][0], data)
    layout = make_run(trained.folder / "by a run", profile, (16,))
    start_trainer(layout).ended()
    with layout.predictions("csv").open() as file:
        (line,) = csv.DictReader(file)
    for each in answer.predicted:
        assert line[f"probability of {each.name}"] == f"{each.number:.9g}"


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_a_npy_file_holds_one_example_or_several(trained: Asked) -> None:
    several = trained.array("several.npy", DIGITS.features[:12])
    for place in (0, 11):
        answer = trained.about("digits", several, place=place)
        assert answer.count == 12
        assert answer.predicted[0].name == str(DIGITS.labels[place])
        assert answer.made == f"numbers from 0 to {DIGITS.features[place].max()}, unchanged"
        assert (answer.is_swapped, answer.problems) == (None, ())
        expected = np.rint(DIGITS.features[place] * (255 / 16))
        assert shown(answer)[..., 0].tolist() == expected.tolist()
    assert said(trained.about("digits", several, place=12)) == "several.npy holds 12 examples."
    for name, array in (
        ("one.npy", DIGITS.features[0]),
        ("fortran.npy", np.asfortranarray(DIGITS.features[0])),
        ("fortrans.npy", np.asfortranarray(DIGITS.features[:1])),
        ("floats.npy", DIGITS.features[:1].astype(np.float64)),
        ("flat.npy", DIGITS.features[:1].reshape(1, 8, 8, 1)),
    ):
        answer = trained.about("digits", trained.array(name, array))
        assert (answer.predicted[0].name, answer.count) == ("0", 1)


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_channels_of_an_example_are_moved_as_in_the_training(trained: Asked) -> None:
    large = np.kron(DIGITS.features[:3], np.ones((1, 2, 2), np.uint8)) * np.uint8(15)
    several = np.repeat(large[:, np.newaxis], 3, 1)
    for array, count in ((several, 3), (several[0], 1)):
        answer = trained.about("first", trained.array("first.npy", array))
        assert (answer.predicted[0].name, answer.count) == ("0", count)
        assert shown(answer).shape == (16, 16, 3)
    picture = trained.about("first", trained.picture("a.png", 0, is_light=True))
    assert (picture.predicted[0].name, picture.is_swapped) == ("0", None)
    assert picture.made == f"16 {TIMES} 16 colour, 0 to 255"


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_what_is_not_certain_is_refused_or_warned_of_in_a_sentence(trained: Asked) -> None:
    picture = trained.picture("a.png", 4)
    assert said(trained.about("odd", picture)) == (
        "A picture cannot be given to this model: its examples are rows of 64 numbers."
    )
    rows = trained.array("rows.npy", DIGITS.features.reshape(-1, 64)[:5] - 8.0)
    assert trained.about("odd", rows, place=3).predicted[0].name == "3"
    assert said(trained.about("digits", trained.array("bad.npy", np.zeros((5, 9))))) == (
        f"bad.npy has the shape 5 {TIMES} 9: that is no example of 8 {TIMES} 8 as the model "
        "takes it, and not several of them."
    )
    pixels = trained.array("pixels.npy", np.full((16, 16), 255, np.uint8))
    (warned,) = trained.about("unit", pixels).problems
    assert (warned.code, warned.severity) == ("example_beyond_training", "warning")
    assert warned.message.startswith("pixels.npy holds 255, and the numbers of the training go")
    for array, words in (
        (np.array([["a"]]), "a model learns from numbers"),
        (np.zeros((0, 8, 8)), "is empty"),
        (np.full((8, 8), np.nan), "holds NaN"),
    ):
        assert words in said(trained.about("digits", trained.array("wrong.npy", array)))
    (trained.folder / "broken.npy").write_bytes(b"\x93NUMPY and no more")
    assert "is truncated or is not a NumPy .npy file" in said(
        trained.about("digits", trained.folder / "broken.npy")
    )
    np.save(trained.folder / "objects.npy", np.array([{}]), allow_pickle=True)
    assert said(trained.about("digits", trained.folder / "objects.npy"))
    (trained.folder / "broken.png").write_bytes(b"no picture")
    assert "is not an image" in said(trained.about("digits", trained.folder / "broken.png"))
    assert said(trained.about("digits")) == "The model takes numbers."
    assert said(trained.about("digits", text="zero")) == "The model takes numbers."


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_it_is_told_which_files_are_taken(trained: Asked) -> None:
    digits = trained.about("digits", wants="inputs")
    assert digits.takes == f"A picture becomes 8 {TIMES} 8 grey, 0 to 16. {ARRAYS}"
    assert (digits.takes_pictures, digits.problems) == (True, ())
    odd = trained.about("odd", wants="inputs")
    assert odd.takes == f"No pictures: its examples are rows of 64 numbers. {ARRAYS}"
    assert not odd.takes_pictures


def test_that_a_picture_becomes_numbers_only_where_their_meaning_is_certain() -> None:
    arrays = NpzData(path="/arrays.npz")

    def form(*shape: int | None, between: tuple[float, float] | None = (0.0, 255.0)) -> object:
        return picture_form(arrays, AskedModel(input_shape=shape, value_range=between))

    assert form(28, 28) == PictureForm(size=(28, 28), color="grayscale")
    assert form(28, 20, 1) == PictureForm(size=(28, 20), color="grayscale")
    assert form(28, 28, 3, between=(0.01, 0.99)) == PictureForm(
        size=(28, 28), color="rgb", greatest=1.0
    )
    assert form(784) == "its examples are rows of 784 numbers."
    assert form(200, 9) == f"examples of the shape 200 {TIMES} 9 need not be any."
    for shape in ((28, 28, 4), (28, 28, 3, 1), (7, 28), ()):
        assert "need not be any" in str(form(*shape))
    assert "which shape" in str(form(None, 28))
    assert "which shape" in str(picture_form(arrays, AskedModel(value_range=(0.0, 255.0))))
    assert "between which numbers" in str(form(28, 28, between=None))
    for between in ((0.0, 16.0), (-1.0, 1.0), (-2.1, 2.6), (0.0, 256.0), (0.5, 1.0), (0.0, 0.4)):
        assert "which of them is black" in str(form(28, 28, between=between))
    assert picture_form(DigitsData(), AskedModel()) == DigitsData().picture
    assert DigitsData().picture.words == f"8 {TIMES} 8 grey, 0 to 16"
    mnist = KerasData(source="mnist").picture
    assert mnist == PictureForm(size=(28, 28), color="grayscale", edges=LIGHT_ON_DARK)
    assert KerasData(source="cifar10").picture.words == f"32 {TIMES} 32 colour, 0 to 255"
    wine = AskedModel(input_shape=(13,), value_range=(0.1, 1680.0))
    assert picture_form(WineData(), wine) == "its examples are rows of 13 numbers."
    assert PythonData(path="/load.py").picture is None


def test_that_a_training_knows_how_bright_the_edges_of_its_pictures_are() -> None:
    dark = known_content(DIGITS.features, DIGITS.features).edges
    assert dark is not None
    assert dark[1] <= 0.3
    light = known_content(16 - DIGITS.features, 16 - DIGITS.features[..., np.newaxis]).edges
    assert light is not None
    assert light[0] >= 0.7
    for features in (DIGITS.features.reshape(-1, 64), np.zeros((5, 8, 8)), DIGITS.features[:, :3]):
        assert known_content(features, features).edges is None


def test_that_the_input_of_a_model_is_read_from_its_configuration() -> None:
    def model(*layers: object) -> dict[str, object]:
        return {"class_name": "Sequential", "config": {"layers": list(layers)}}

    def taking(*shape: object) -> dict[str, object]:
        return {"class_name": "InputLayer", "config": {"batch_shape": [None, *shape]}}

    assert input_shape_in(model(taking(28, None, 3))) == (28, None, 3)
    for odd in (model(), model(taking(8), taking(8)), model(taking("a")), model(taking(True)), 3):
        assert input_shape_in(odd) is None
    assert input_shape_in(model({"class_name": "InputLayer", "config": {}})) is None
    assert input_shape_in(model(taking(-1))) is None

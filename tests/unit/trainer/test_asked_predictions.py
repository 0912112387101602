"""Models that stay loaded and are asked about single examples, by the process that the window asks.

What they say is held against runs that predict on the same examples.
"""

import base64
import csv
import os
import signal
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

import numpy as np
import psutil
import pytest
from PIL import Image

from gpupanel.domain.asked_prediction import PredictionAnswer, PredictionAsked
from gpupanel.domain.data import ImagesData, PythonData, TableData, TextData
from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tools.prediction.predictor import Predictor, predict_example
from tests.unit.trainer.asked_models import CORNERS, SQUARE, predicting_with, train_asked
from tests.unit.trainer.conftest import MakeRun, StartTrainer

pytestmark = pytest.mark.tensorflow

ROW = {"area": 87.3, "town": "Genf", "built": "1987-03-01"}


def one_picture(path: Path) -> ImagesData:
    return ImagesData(path=str(path.parent), image_size=(32, 32)).with_files([str(path)])


class Asked:
    """What was trained, and the process that is asked about it."""

    def __init__(self, folder: Path, runs: dict[str, RunLayout]) -> None:
        self.folder, self.runs = folder, runs
        self.predictor = Predictor()

    def picture(self, path: Path, model: str = "corners", **settings: object) -> PredictionAnswer:
        data = one_picture(path)
        profile = predicting_with(self.runs[model], data)
        return self.predictor.ask(PredictionAsked(profile=profile, **settings))

    def row(self, **cells: object) -> PredictionAnswer:
        return self.predictor.ask(PredictionAsked(profile=self.of_rows(), row=cells))

    def text(self, text: str) -> PredictionAnswer:
        data = TextData(path=str(self.folder / "reviews.csv"), target="stars", length=8)
        profile = predicting_with(self.runs["reviews"], data)
        return self.predictor.ask(PredictionAsked(profile=profile, text=text))

    def of_rows(self, **settings: object) -> Profile:
        data = TableData(path=str(self.folder / "houses.csv"), **settings)
        return predicting_with(self.runs["houses"], data)

    def a_picture(self, name: str = "upper left") -> Path:
        return self.folder / "corners" / name / "5.png"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("asked")
    asked = Asked(folder, train_asked(folder, make_run))
    asked.row()  # the process is there before each test
    yield asked
    asked.predictor.close()


def numbers(answer: PredictionAnswer) -> dict[str, str]:
    """As a CSV of predictions has them."""
    assert answer.problems == ()
    return {each.name: f"{each.number:.9g}" for each in answer.predicted}


def said(answer: PredictionAnswer) -> str:
    assert answer.predicted == ()
    (problem,) = answer.problems
    return problem.message


Predicted = Callable[[str, RunLayout, object], dict[str, str]]


@pytest.fixture
def predicted_by_run(
    trained: Asked, make_run: MakeRun, start_trainer: StartTrainer
) -> Callable[[str, str, object], dict[str, str]]:
    """The only line of the CSV of a run that predicts."""

    def predict(name: str, model: str, data: object) -> dict[str, str]:
        profile = predicting_with(trained.runs[model], data)
        layout = make_run(trained.folder / name, profile, (16,))
        start_trainer(layout).ended()
        with layout.predictions("csv").open() as file:
            (line,) = csv.DictReader(file)
        return line

    return predict


def test_that_a_picture_is_predicted_to_the_digit_as_by_a_run(
    trained: Asked, predicted_by_run
) -> None:
    data = one_picture(trained.a_picture())
    line = predicted_by_run("picture", "corners", data)
    answer = trained.picture(trained.a_picture())
    assert {f"probability of {name}": text for name, text in numbers(answer).items()}.items() <= (
        line.items()
    )
    assert answer.predicted[0].name == line["predicted_name"] == "upper left"
    assert (answer.meaning, answer.predicted_count) == ("classes", 2)
    image = answer.image
    assert image is not None
    pixels = np.frombuffer(base64.b64decode(image.pixels_base64), np.uint8)
    there = np.asarray(Image.open(trained.a_picture()))
    assert pixels.reshape(32, 32, 3).tolist() == there.tolist()


def test_that_a_row_is_predicted_to_the_digit_as_by_a_run(trained: Asked, predicted_by_run) -> None:
    path = trained.folder / "row.csv"
    path.write_text("area,town,built\n87.3,Genf,1987-03-01\n")
    line = predicted_by_run("row", "houses", TableData(path=str(path)))
    answer = trained.row(**ROW)
    assert numbers(answer) == {"price": line["value"]}
    assert (answer.meaning, answer.image) == ("values", None)


def test_that_a_text_is_predicted_to_the_digit_as_by_a_run(
    trained: Asked, predicted_by_run
) -> None:
    path = trained.folder / "text.csv"
    path.write_text("review\na lovely superb film\n")
    line = predicted_by_run("text", "reviews", TextData(path=str(path)))
    answer = trained.text("a lovely superb film")
    expected = {name: line[f"probability of {name}"] for name in ("good", "bad")}
    assert numbers(answer) == expected
    assert trained.text("a weak and awful film").predicted[0].name == "bad"


def test_that_columns_are_told_with_what_training_saw_in_them(trained: Asked) -> None:
    asked = PredictionAsked(profile=trained.of_rows(), wants="inputs")
    answer = trained.predictor.ask(asked)
    area, town, built = answer.columns
    assert (answer.column_count, answer.predicted) == (3, ())
    with (trained.folder / "houses.csv").open() as file:
        areas = [float(row["area"]) for row in csv.DictReader(file)]
    assert (area.name, area.kind) == ("area", "number")
    assert (area.least, area.greatest) == pytest.approx((min(areas), max(areas)))
    assert area.mean == pytest.approx(np.mean(areas))
    assert (town.categories, town.usual) == (("Bern", "Genf"), "Bern")
    assert (built.kind, built.usual[:4], built.least) == ("date", "1979", None)


def test_that_what_is_missing_is_filled_in_as_in_training_and_what_is_wrong_is_named(
    trained: Asked,
) -> None:
    columns = trained.predictor.ask(PredictionAsked(profile=trained.of_rows(), wants="inputs"))
    mean = columns.columns[0].mean
    without = numbers(trained.row(town="Genf", built="1987-03-01"))
    assert float(without["price"]) == pytest.approx(
        float(numbers(trained.row(**{**ROW, "area": mean}))["price"]), rel=1e-5
    )
    unknown = trained.row(**{**ROW, "town": "Zug"})
    assert len(unknown.predicted) == 1
    assert 'Column "town" holds "Zug"' in unknown.problems[0].message
    assert said(trained.row(rooms=3.0)) == 'The model did not learn from a column "rooms".'
    assert said(trained.row(area="large")) == (
        '"large" is no number, and the column "area" holds numbers.'
    )
    assert said(trained.row(built="soon")) == (
        'The row holds "soon" in column "built", which is not a date as the others are.'
    )
    profile = trained.of_rows(missing="error")
    refused = trained.predictor.ask(PredictionAsked(profile=profile, row={"town": "Genf"}))
    assert '"area"' in said(refused)


def test_that_the_heat_map_is_about_the_place_that_decides(trained: Asked) -> None:
    for name, first in CORNERS.items():
        answer = trained.picture(trained.a_picture(name), with_heat_map=True)
        assert answer.predicted[0].name == name
        heat = answer.heat_map
        assert heat is not None
        assert (heat.about, heat.width, heat.height) == (name, 32, 32)
        places = np.frombuffer(base64.b64decode(heat.pixels_base64), np.uint8).reshape(32, 32)
        # Convolution and pooling look some pixels around.
        square = slice(max(0, first - 3), first + SQUARE + 3)
        inside = places[square, square].astype(float)
        others = places.astype(float).sum() - inside.sum()
        around = places.size - inside.size
        assert places.max() == 255
        row, column = np.unravel_index(places.argmax(), places.shape)
        assert {int(row), int(column)} <= set(range(square.start, square.stop))
        assert inside.mean() > 2.0 * others / around


def test_that_a_picture_in_grey_is_swapped_where_that_is_asked_for(
    trained: Asked, tmp_path: Path
) -> None:
    pixels = np.arange(32 * 32, dtype=np.int64).reshape(32, 32) // 4
    Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / "a.png")
    data = one_picture(tmp_path / "a.png").model_copy(update={"color": "grayscale"})
    words = "32 \N{MULTIPLICATION SIGN} 32 grey, 0 to 255"
    for white in (None, 127, 255):
        profile = predicting_with(
            trained.runs["grey"], data.model_copy(update={"white_value": white})
        )
        found = {}
        for swap in (None, True, False):
            answer = trained.predictor.ask(PredictionAsked(profile=profile, swap=swap))
            assert answer.is_swapped is bool(swap)
            assert answer.made == (f"{words}, light and dark swapped" if swap else words)
            assert answer.image is not None
            raw = base64.b64decode(answer.image.pixels_base64)
            found[swap] = np.frombuffer(raw, np.uint8).astype(int)
        assert found[None].tolist() == found[False].tolist() == (255 - found[True]).tolist()
        assert found[None].max() == 255
    assert trained.picture(trained.a_picture()).is_swapped is None  # in colour
    (tmp_path / "a.png").write_bytes(b"no picture")
    broken = trained.predictor.ask(PredictionAsked(profile=profile, swap=True))
    assert "is not an image" in said(broken)


def test_that_a_model_without_convolutions_says_that_it_has_no_heat_map(trained: Asked) -> None:
    answer = trained.picture(trained.a_picture(), "flat", with_heat_map=True)
    assert (len(answer.predicted), answer.heat_map) == (2, None)
    assert answer.without_heat_map == "The model has no convolutional layer."
    assert trained.picture(trained.a_picture(), "flat").without_heat_map == ""


def chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


def test_that_files_of_strangers_are_refused_in_a_sentence(trained: Asked, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "endless.png").symlink_to("/dev/zero")
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nand no more")
    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(bytes(99))), chunk(b"IEND", b"")
    (tmp_path / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    for name, words in {
        "pipe.png": "FIFO",
        "endless.png": "character device",
        "broken.png": "is not an image",
        "huge.png": "larger than 89,478,485 pixels",
        "gone.png": "are not in",
    }.items():
        message = said(trained.picture(tmp_path / name))
        assert words in message
        assert name in message


def test_that_names_are_no_obstacle(trained: Asked, tmp_path: Path) -> None:
    picture = trained.a_picture()
    (tmp_path / "link.png").symlink_to(picture)
    odd = tmp_path / os.fsdecode(b"na\xffme\n.png")
    odd.write_bytes(picture.read_bytes())
    expected = numbers(trained.picture(picture))
    assert numbers(trained.picture(tmp_path / "link.png")) == expected
    assert numbers(trained.picture(odd)) == expected
    odd.write_bytes(b"no picture")
    assert "is not an image" in said(trained.picture(odd))


def test_that_nobodys_code_is_carried_out(trained: Asked, tmp_path: Path) -> None:
    code = tmp_path / "data.py"
    code.write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    profile = predicting_with(trained.runs["corners"], PythonData(path=str(code)))
    answer = trained.predictor.ask(PredictionAsked(profile=profile))
    assert "read by code" in said(answer)
    assert not (tmp_path / "executed").exists()


def test_that_a_model_that_needs_code_or_is_damaged_is_refused(
    trained: Asked, tmp_path: Path
) -> None:
    (tmp_path / "model.keras").write_bytes(b"no model")
    data = one_picture(trained.a_picture())
    model = SavedModel(path=str(tmp_path / "model.keras"))
    profile = Profile(task="predict", model=model, data=data)
    assert "is not a Keras model" in said(trained.predictor.ask(PredictionAsked(profile=profile)))


def test_that_the_second_answer_takes_less_than_a_second(trained: Asked) -> None:
    trained.picture(trained.a_picture())
    took = []
    for name in CORNERS:
        began_s = time.monotonic()
        trained.picture(trained.a_picture(name), with_heat_map=True)
        took.append(time.monotonic() - began_s)
    assert min(took) < 1.0


def test_that_a_model_that_was_saved_again_is_loaded_again(trained: Asked, tmp_path: Path) -> None:
    place = tmp_path / "model.keras"
    data = one_picture(trained.a_picture())
    profile = Profile(task="predict", model=SavedModel(path=str(place)), data=data)
    found = []
    for name in ("corners", "flat"):
        place.write_bytes(trained.runs[name].model.read_bytes())
        answer = trained.predictor.ask(PredictionAsked(profile=profile))
        assert numbers(answer) == numbers(trained.picture(trained.a_picture(), name))
        found.append(numbers(answer))
    assert found[0] != found[1]


def test_that_a_killed_process_is_said_and_another_one_takes_its_place(trained: Asked) -> None:
    with closing(Predictor()) as predictor:
        asked = PredictionAsked(profile=trained.of_rows(), wants="inputs")
        expected = predictor.ask(asked).columns
        number = predictor.process_number
        assert number is not None
        os.kill(number, signal.SIGKILL)
        assert said(predictor.ask(asked)) == "The process that predicts was killed."
        assert predictor.ask(asked).columns == expected
        assert predictor.process_number != number


def test_that_a_process_that_hangs_is_ended_by_its_limit_or_when_nobody_waits() -> None:
    profile = Profile(task="predict", model=SavedModel(path="/nowhere.keras"))
    silent = ("/bin/sh", "-c", "exec sleep 600")
    patient = Predictor(replace(predict_example, command=silent))
    cancelled = Event()
    timer = Timer(0.3, cancelled.set)
    timer.start()
    assert patient.ask(PredictionAsked(profile=profile), cancelled) == PredictionAnswer()
    timer.join()
    limited = Predictor(replace(predict_example, command=silent, limit_s=0.3))
    answer = limited.ask(PredictionAsked(profile=profile))
    assert said(answer) == "Predicting took more than 0.3 s and was stopped."
    assert (patient.process_number, limited.process_number) == (None, None)
    assert not [
        each
        for each in psutil.Process().children()
        if each.status() != psutil.STATUS_ZOMBIE and "sleep" in each.name()
    ]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("read line; echo nonsense; exec sleep 600", "gave an unreadable answer"),
        ("read line; echo '{\"number\": 7}'; exec sleep 600", "gave an unreadable answer"),
        ("read line; exit 3", "ended with exit status 3"),
        ("exec yes x | tr -d '\\n'", "was killed"),
    ],
)
def test_that_whatever_a_process_does_is_an_answer(script: str, words: str) -> None:
    asked = PredictionAsked(profile=Profile(task="predict", model=SavedModel(path="/m.keras")))
    predictor = Predictor(replace(predict_example, command=("/bin/sh", "-c", script)))
    assert words in said(predictor.ask(asked))
    assert predictor.process_number is None


def test_that_the_process_ends_with_its_input_and_leaves_no_file(
    trained: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    predictor = Predictor()
    answer = predictor.ask(PredictionAsked(profile=trained.of_rows(), wants="inputs"))
    assert len(answer.columns) == 3
    number = predictor.process_number
    assert number is not None
    assert list(tmp_path.iterdir())
    predictor.close()
    assert not psutil.pid_exists(number)
    assert list(tmp_path.iterdir()) == []


ASKING = """
import os, signal, sys
from gpupanel.domain.asked_prediction import PredictionAsked
from gpupanel.runs.tools.prediction.predictor import Predictor
predictor = Predictor()
assert predictor.ask(PredictionAsked.model_validate_json(sys.argv[1])).columns
print(predictor.process_number, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
def test_that_the_process_ends_with_a_window_that_is_killed(trained: Asked) -> None:
    asked = PredictionAsked(profile=trained.of_rows(), wants="inputs")
    done = subprocess.run(
        [sys.executable, "-c", ASKING, asked.model_dump_json()],
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    number = int(done.stdout)
    until_s = time.monotonic() + 30.0
    while psutil.pid_exists(number) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert not psutil.pid_exists(number)

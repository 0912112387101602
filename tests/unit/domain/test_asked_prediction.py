"""What a single example of a model is, and what an answer may say."""

import pytest
from pydantic import ValidationError

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.asked_prediction import (
    LONGEST_TEXT,
    HeatMap,
    PredictedNumber,
    PredictionAsked,
)
from gpupanel.domain.data import (
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    TableData,
    TextData,
    TfrecordData,
    WineData,
)
from gpupanel.domain.decoded_images import LIGHT_ON_DARK
from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import Profile

PROFILE = Profile(task="predict", model=SavedModel(path="/m.keras"))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ImagesData(path="/pets"), AskedKind.IMAGE),
        (ImagesData(path="/pets", labels_csv="l.csv", numbers=["age"]), AskedKind.NONE),
        (TfrecordData(path="/records"), AskedKind.IMAGE),
        (TfrecordData(path="/records", inputs=["a", "b"]), AskedKind.NONE),
        (KerasData(source="mnist"), AskedKind.ARRAY),
        (KerasData(source="boston_housing"), AskedKind.ARRAY),
        (KerasData(source="imdb"), AskedKind.NONE),  # numbers of words
        (DigitsData(), AskedKind.ARRAY),
        (NpzData(path="/arrays.npz"), AskedKind.ARRAY),
        (NpzData(path="/arrays.npz", inputs=["a", "b"]), AskedKind.NONE),
        (PythonData(path="/load.py"), AskedKind.NONE),
        (TableData(path="/rows.csv"), AskedKind.ROW),
        (TableData(path="/rows.csv", inputs={"a": ["b"]}), AskedKind.NONE),
        (TextData(path="/texts"), AskedKind.TEXT),
        (WineData(), AskedKind.ARRAY),
    ],
)
def test_that_the_data_says_what_an_example_is(data: object, kind: AskedKind) -> None:
    assert data.asked_kind is kind


def test_that_names_are_shown_on_a_line_and_texts_are_bounded() -> None:
    assert PredictedNumber(name="a\nb", number=1.0).name == "a\\nb"
    assert HeatMap(pixels_base64="", width=0, height=0, about="\x1b[1m").about == "\\x1b[1m"
    PredictionAsked(profile=PROFILE, text="x" * LONGEST_TEXT)
    with pytest.raises(ValidationError):
        PredictionAsked(profile=PROFILE, text="x" * (LONGEST_TEXT + 1))
    with pytest.raises(ValidationError):
        PredictionAsked(profile=PROFILE, row={"area": float("nan")})


def test_that_data_of_a_known_range_says_what_a_picture_becomes() -> None:
    digits, mnist = DigitsData().picture, KerasData(source="mnist").picture
    photographs = KerasData(source="cifar10").picture
    assert digits.words == "8 \N{MULTIPLICATION SIGN} 8 grey, 0 to 16"
    assert mnist.words == "28 \N{MULTIPLICATION SIGN} 28 grey, 0 to 255"
    assert photographs.words == "32 \N{MULTIPLICATION SIGN} 32 colour, 0 to 255"
    assert [each.channels for each in (digits, mnist, photographs)] == [1, 1, 3]
    # A run reads images in files from 0 to 255.
    assert [each.is_as_in_files for each in (digits, mnist, photographs)] == [False, True, True]
    assert digits.edges == mnist.edges == LIGHT_ON_DARK
    assert photographs.edges is None
    assert KerasData(source="boston_housing").picture is None
    assert NpzData(path="/arrays.npz").picture is None


def test_that_the_same_is_asked_about_another_file_of_numbers() -> None:
    asked = PredictionAsked(profile=Profile(), file="/here/a.npy", place=3)
    assert asked.about_file("/there/b.npy") == asked.model_copy(update={"file": "/there/b.npy"})


def test_that_the_same_is_asked_about_another_picture() -> None:
    data = ImagesData(path="/here", files=("a.png",), image_size=(8, 8))
    asked = PredictionAsked(profile=Profile(data=data), with_heat_map=True)
    again = asked.about_file("/there/b.png")
    assert (again.profile.data.chosen_path, again.profile.data.chosen_files) == (
        "/there",
        ("b.png",),
    )
    assert again.profile.data.model_dump()["image_size"] == (8, 8)
    assert again.with_heat_map
    assert again.file == ""

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
from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import Profile

PROFILE = Profile(task="predict", model=SavedModel(path="/m.keras"))


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ImagesData(path="/pets"), AskedKind.IMAGE),
        (TfrecordData(path="/records"), AskedKind.IMAGE),
        (KerasData(source="mnist"), AskedKind.ARRAY),
        (KerasData(source="boston_housing"), AskedKind.ARRAY),
        (KerasData(source="imdb"), AskedKind.NONE),  # numbers of words
        (DigitsData(), AskedKind.ARRAY),
        (NpzData(path="/arrays.npz"), AskedKind.ARRAY),
        (PythonData(path="/load.py"), AskedKind.NONE),
        (TableData(path="/rows.csv"), AskedKind.ROW),
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

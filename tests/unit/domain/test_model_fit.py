"""Whether examples are what a model takes."""

import pytest

from gpupanel.domain.data import (
    DataSettings,
    DigitsData,
    ImagesData,
    NpzData,
    TableData,
    TextData,
    WineData,
)
from gpupanel.domain.model import (
    ApplicationModel,
    CnnModel,
    MlpModel,
    ModelSettings,
    ResNetModel,
    TabularModel,
    TransformerModel,
)
from gpupanel.domain.model_fit import kind_misfit, shape_misfit

ARRAYS = NpzData(path="x.npz")
TEXTS = TextData(path="/texts")
TABLE = TableData(path="/table.csv")
IMAGES = ImagesData(path="/pictures")
DEEP = CnnModel(filters=(4, 4, 4))


@pytest.mark.parametrize(
    ("model", "data", "shape"),
    [
        (DEEP, ARRAYS, (8, 8)),
        (DEEP, ARRAYS, (8, 8, 3)),
        (DEEP, ARRAYS, (9, 8, 1)),
        (ResNetModel(), ARRAYS, (4, 4, 7)),
        (ResNetModel(filters=(8,)), ARRAYS, (1, 1)),
        (ApplicationModel(source="NASNetMobile"), IMAGES, (32, 32, 3)),
        (TransformerModel(), TEXTS, (200,)),
        (TabularModel(), TABLE, (12,)),
        (TabularModel(), ARRAYS, (12,)),
        (TabularModel(), WineData(), (13,)),
        (MlpModel(), ARRAYS, (2, 2, 2, 2)),
        (MlpModel(), TEXTS, (200,)),
    ],
)
def test_that_a_model_takes_what_it_is_for(
    model: ModelSettings, data: DataSettings, shape: tuple[int, ...]
) -> None:
    assert shape_misfit(model, data, shape) is None


@pytest.mark.parametrize(
    ("model", "data", "shape", "code"),
    [
        (DEEP, ARRAYS, (64,), "model_needs_pictures"),
        (DEEP, ARRAYS, (2, 8, 8, 3), "model_needs_pictures"),
        (DEEP, ARRAYS, (7, 8), "model_pictures_too_small"),
        (ResNetModel(), ARRAYS, (3, 64), "model_pictures_too_small"),
        (ApplicationModel(source="NASNetMobile"), ARRAYS, (64, 64, 4), "model_needs_pictures"),
        (TransformerModel(), DigitsData(), (8, 8), "model_needs_words"),
        (TransformerModel(), ARRAYS, (12,), "model_needs_words"),
        (ResNetModel(), TEXTS, (200,), "model_needs_pictures"),
        (TabularModel(), TEXTS, (200,), "model_needs_columns"),
        (TabularModel(), DigitsData(), (8, 8), "model_needs_columns"),
        (TabularModel(), ARRAYS, (8, 8), "model_needs_columns"),
    ],
)
def test_that_a_model_refuses_other_examples(
    model: ModelSettings, data: DataSettings, shape: tuple[int, ...], code: str
) -> None:
    problem = shape_misfit(model, data, shape)
    assert problem is not None
    assert problem.code == code


def test_that_what_settings_say_is_known_before_an_example_was_read() -> None:
    problem = kind_misfit(TransformerModel(), DigitsData())
    assert problem is not None
    assert problem.message == "The model transformer takes texts, and digits has none."
    assert kind_misfit(ResNetModel(), TEXTS) is not None
    assert kind_misfit(TabularModel(), ARRAYS) is None


def test_that_the_least_image_follows_from_how_often_it_is_halved() -> None:
    models = (MlpModel(), DEEP, ResNetModel(filters=(4, 8, 16)), ResNetModel(filters=(4,)))
    assert [model.least_side for model in models] == [1, 8, 4, 1]

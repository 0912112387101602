"""Values of a swept setting as a person types them."""

import pytest

from gpupanel.domain.data import DigitsData, ImagesData
from gpupanel.domain.layered_models import MlpModel
from gpupanel.domain.setting import Setting, setting_of
from gpupanel.domain.swept_text import example_text, swept_text, swept_values
from gpupanel.domain.training import TrainingSettings

RATE = setting_of(TrainingSettings, "learning_rate")
EPOCHS = setting_of(TrainingSettings, "epochs")
HIDDEN = setting_of(MlpModel, "hidden")
OPTIMIZER = setting_of(TrainingSettings, "optimizer")


@pytest.mark.parametrize(
    ("setting", "text", "values"),
    [
        (RATE, "0.1, 1e-3", (0.1, 0.001)),
        (RATE, " 0.1;0.01 1 ", (0.1, 0.01, 1)),
        (EPOCHS, "1, 2,", (1, 2)),
        (EPOCHS, "", ()),
        (HIDDEN, "64; 128, 64", ((64,), (128, 64))),
        (HIDDEN, "none; 64", ((), (64,))),
        (OPTIMIZER, "adam; sgd", ("adam", "sgd")),
        (EPOCHS, '1, "two"', (1, "two")),
        (HIDDEN, "[64], [128, 64]", ((64,), (128, 64))),
    ],
)
def test_that_values_are_read_and_written_back(setting, text, values) -> None:
    assert swept_values(setting, text) == values
    assert swept_values(setting, swept_text(setting, values)) == values


@pytest.mark.parametrize(
    ("setting", "values"),
    [(RATE, (True, 1, 1.0)), (OPTIMIZER, ("a; b", " c")), (OPTIMIZER, ('"',))],
)
def test_that_values_that_nobody_would_type_stay_what_they_are(setting, values) -> None:
    read = swept_values(setting, swept_text(setting, values))
    assert [(type(each), each) for each in read] == [(type(each), each) for each in values]


@pytest.mark.parametrize(
    ("setting", "text", "sentence"),
    [
        (RATE, "0.1, ab", "“ab” is not a number"),
        (RATE, "nan", "“nan” is not a number"),
        (RATE, "1e999", "“1e999” is not a number"),
        (EPOCHS, "1_0", "“1_0” is not a number"),
        (HIDDEN, "64; x", "“x” is not a whole number"),
        (EPOCHS, '"', "not a list of values"),
        (EPOCHS, "[" * 500, "not a list of values"),
        (EPOCHS, "1" + "]" + '\nx = ["', "not a list of values"),
        (EPOCHS, "{ a = 1 }", "Values are numbers"),
        (EPOCHS, '"a", 2026-01-01', "Values are numbers"),
        (EPOCHS, ",".join(["1"] * 1_001), "at most"),
    ],
)
def test_that_what_cannot_be_read_is_named(setting, text, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        swept_values(setting, text)


@pytest.mark.parametrize("setting", [RATE, EPOCHS, HIDDEN])
@pytest.mark.parametrize("digits", [400, 5_000])
def test_that_a_number_of_many_digits_is_quoted_in_short(setting, digits) -> None:
    with pytest.raises(ValueError, match="is not a") as caught:
        swept_values(setting, "9" * digits)
    assert len(str(caught.value)) < 150


def test_that_each_kind_of_list_has_an_example_that_can_be_read() -> None:
    from gpupanel.domain.swept_text import example_text

    fraction = setting_of(DigitsData, "validation_fraction")
    for setting in (RATE, EPOCHS, HIDDEN, OPTIMIZER, fraction):
        assert len(swept_values(setting, example_text(setting))) >= 2


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (RATE, "0.1, 0.01"),
        (EPOCHS, "16, 32, 64"),
        (setting_of(ImagesData, "image_size"), "128, 128; 256, 256"),
        (HIDDEN, "64; 128, 64"),
        (OPTIMIZER, "one; another"),
    ],
)
def test_that_an_empty_field_shows_how_values_are_typed(setting: Setting, text: str) -> None:
    assert example_text(setting) == text
    if setting is not OPTIMIZER:
        assert len(swept_values(setting, text)) >= 2

"""Which settings a sweep can be made of, and with which values it begins."""

from pathlib import Path

import pytest

from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.domain.setting import Bounds, Setting, SettingType
from gpupanel.domain.sweep import SweepMethod, SweepSettings, SweptRange
from gpupanel.domain.sweep_mistakes import sweep_mistakes
from gpupanel.planning.sweep_offer import (
    NUMBERS,
    SweptOffer,
    as_list,
    as_range,
    first_values,
    offer_of,
    swept_offers,
)


def test_that_every_offer_begins_with_values_that_can_be_tried() -> None:
    profile = Profile()
    offers = swept_offers(profile)
    assert len(offers) > 40
    for offer in offers:
        for method in (SweepMethod.GRID, SweepMethod.RANDOM):
            is_range = method is not SweepMethod.GRID
            swept = first_values(offer, as_range=is_range)
            assert isinstance(swept, SweptRange) is (is_range and offer.setting.type in NUMBERS)
            sweep = SweepSettings(method=method, values={offer.key: swept})
            problems = sweep_mistakes(profile.model_copy(update={"sweep": sweep}))
            assert [each.message for each in problems] == [], offer.key


def test_that_settings_of_the_kinds_at_hand_are_offered_and_no_others() -> None:
    keys = [offer.key for offer in swept_offers(Profile())]
    assert keys[0] == "training.epochs"
    assert "training.learning_rate" in keys
    assert "model.hidden" in keys
    assert not any(key.startswith(("inference.", "sweep.", "name", "task")) for key in keys)
    cnn = parse_profile('[model]\nsource = "cnn"')
    assert "model.filters" in [offer.key for offer in swept_offers(cnn)]
    assert "model.filters" not in keys


def test_that_what_means_nothing_is_offered_once_the_other_setting_is_tried() -> None:
    text = '[training]\noptimizer = "adam"\n'
    assert "training.momentum" not in [each.key for each in swept_offers(parse_profile(text))]
    text += '[sweep.values]\n"training.optimizer" = ["adam", "sgd"]'
    assert "training.momentum" in [each.key for each in swept_offers(parse_profile(text))]


def test_that_an_offer_says_where_its_setting_is_and_what_it_is_now() -> None:
    offer = offer_of(Profile(), "training.schedule.kind")
    assert (offer.setting.title, offer.group) == ("Kind", "Training, Schedule")
    unknown = offer_of(Profile(), "training.nothing")
    assert (unknown.setting.title, unknown.value) == ("training.nothing", None)


def test_that_lists_and_ranges_become_each_other() -> None:
    rate = offer_of(Profile(), "training.learning_rate")
    wide = as_range((0.1, 0.001, 0.01), rate)
    assert wide == SweptRange(low=0.001, high=0.1, log=True, steps=3)
    assert as_list(wide, rate) == (0.001, 0.1)
    assert as_range((0.1,), rate) == first_values(rate, as_range=True)
    epochs = offer_of(Profile(), "training.epochs")
    assert as_list(SweptRange(low=1, high=3), epochs) == (1, 3)
    assert all(isinstance(each, int) for each in as_list(SweptRange(low=1, high=3), epochs))


def made(type_: SettingType, value: object, bounds: Bounds | None = None) -> SweptOffer:
    setting = Setting("made", type_, "Made", "For a test.", value, bounds=bounds or Bounds())
    return SweptOffer("model.made", setting, "Model", value)


def test_that_what_is_no_number_is_tried_as_it_is() -> None:
    assert first_values(made(SettingType.SIZE, (32, 32)), as_range=False) == ((32, 32),)
    assert first_values(made(SettingType.TEXT, "a"), as_range=False) == ("a",)
    assert first_values(made(SettingType.TEXT, None), as_range=False) == ()
    assert first_values(made(SettingType.TEXT, Path("/a")), as_range=False) == ("/a",)


def test_that_numbers_stay_within_the_bounds_of_their_setting() -> None:
    high = made(SettingType.NUMBER, 6.0, Bounds(least=5.0, most=20.0))
    assert first_values(high, as_range=False) == (5.0, 6.0, 20.0)


def test_that_a_range_and_a_list_stay_what_they_are() -> None:
    rate = offer_of(Profile(), "training.learning_rate")
    wide = SweptRange(low=0.1, high=0.2)
    assert as_range(wide, rate) is wide
    assert as_list((0.1, 0.2), rate) == (0.1, 0.2)


@pytest.mark.parametrize(
    ("values", "swept", "kind"),
    [
        ({}, None, SettingType.TEXT),
        ({"lr": 0.5}, None, SettingType.NUMBER),
        ({"lr": 5}, None, SettingType.COUNT),
        ({"lr": True}, None, SettingType.SWITCH),
        ({"lr": "adam"}, None, SettingType.TEXT),
        ({}, (1, 0.5), SettingType.NUMBER),
        ({}, ("1", 0.5), SettingType.TEXT),
        ({}, SweptRange(low=0.5, high=1.0), SettingType.NUMBER),
    ],
)
def test_that_a_name_in_the_arguments_of_a_program_is_offered(values, swept, kind) -> None:
    script = ScriptSettings(path="train.py", arguments=("--lr={lr}", "{other}"), values=values)
    sweep = None if swept is None else SweepSettings(values={"lr": swept})
    profile = Profile(task="script", script=script, sweep=sweep)
    first, second = swept_offers(profile)
    assert (first.key, first.setting.type, first.value) == ("lr", kind, values.get("lr"))
    assert (second.key, second.group) == ("other", "Arguments")
    assert offer_of(profile, "nowhere").setting.type is SettingType.OTHER

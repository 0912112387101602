"""Settings by their keys from the top of a profile."""

from gpupanel.domain.profile import Profile
from gpupanel.domain.setting_keys import settings_by_key


def test_that_every_table_of_a_profile_is_among_the_keys() -> None:
    found = settings_by_key()
    assert found["training.learning_rate"].title == "Learning rate"
    assert found["training.schedule.warmup_epochs"].name == "warmup_epochs"
    assert found["data.augmentation.zoom"].name == "zoom"


def test_that_settings_of_each_kind_of_a_table_are_among_the_keys() -> None:
    found = settings_by_key()
    assert found["model.filters"].title == "Filters"
    assert found["model.hidden"].title == "Hidden layers"
    assert "model.source" not in found


def test_that_the_first_declaration_of_a_key_counts() -> None:
    assert settings_by_key(Profile) is settings_by_key(Profile)

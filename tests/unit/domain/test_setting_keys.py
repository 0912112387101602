"""Settings by their keys from the top of a profile."""

from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import kinds_of
from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import Setting, settings_of
from gpupanel.domain.setting_keys import settings_by_key, with_titles


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


def test_that_a_window_says_titles_where_a_problem_names_keys() -> None:
    said = with_titles("Raise training.early_stopping_patience to wait longer.")
    assert said == "Raise “Early stopping” to wait longer."


def test_that_a_window_calls_strategies_by_their_labels() -> None:
    said = with_titles("strategy.workers has no effect with the strategy one_device.")
    assert said == "“Workers” has no effect with the strategy one device."
    assert (
        with_titles("/runs/one_device/x of multi_worker_2")
        == "/runs/one_device/x of multi_worker_2"
    )


def test_that_what_only_looks_like_a_key_stays() -> None:
    for words in (
        "/data/training.epochs/x holds nothing",
        "of data.path.backup",
        "gpupanel.toml",
        "training.tensorboard = true",
    ):
        assert with_titles(words) == words


def test_that_a_key_that_is_called_differently_by_kind_stays() -> None:
    titles = {setting.title for setting in _settings_of("data.labels")}
    assert len(titles) > 1
    assert with_titles("Say it in data.labels.") == "Say it in data.labels."


def _settings_of(key: str) -> list[Setting]:
    table, name = key.split(".")
    kinds = kinds_of(DataSettings) if table == "data" else ()
    declared = [setting for kind in kinds for setting in settings_of(kind.values)]
    return [setting for setting in declared if setting.name == name]

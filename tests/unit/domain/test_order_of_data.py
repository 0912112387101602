"""A person who looks for a way to take their own data finds it first."""

from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import kinds_of


def test_that_own_data_comes_before_what_is_published_and_toys_come_last() -> None:
    sources = [each.source for each in kinds_of(DataSettings)]
    own = ["images", "table", "text", "npz", "tfrecord", "tfds", "python"]
    assert sources[: len(own)] == own
    assert sources[-2:] == ["digits", "wine"]

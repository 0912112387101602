"""What a model's file says of its training."""

import pytest

from gpupanel.domain.data import Target
from gpupanel.domain.trained_on import TrainedOn


@pytest.mark.parametrize(
    ("said", "is_said"),
    [({}, False), ({"data": "a"}, True), ({"content": "b"}, True), ({"learned": 3}, False)],
)
def test_that_data_is_known_again_by_its_place_or_its_content(
    said: dict[str, object], *, is_said: bool
) -> None:
    record = TrainedOn.model_validate({"predicts": Target.CLASSES, **said})
    assert record.says_data is is_said

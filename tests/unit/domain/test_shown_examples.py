"""What is shown of an example."""

import pytest

from gpupanel.domain.shown_examples import ShownClass, ShownExample


@pytest.mark.parametrize(
    ("label", "predicted", "is_right"),
    [
        ("cat", (ShownClass(name="cat", probability=0.9),), True),
        ("cat", (ShownClass(name="dog", probability=0.9),), False),
        ("", (ShownClass(name="dog", probability=0.9),), None),
        ("1.5", (ShownClass(name="1.5"),), None),
        ("cat", (), None),
    ],
)
def test_that_it_is_right_where_that_is_known(label, predicted, is_right) -> None:
    assert ShownExample(index=0, label=label, predicted=predicted).is_right is is_right

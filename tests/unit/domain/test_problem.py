"""What a change of a profile may hold."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from gpupanel.domain.problem import Change, Fix


@pytest.mark.parametrize("value", [math.nan, -math.inf, [0.5, math.nan], {"a": (1, math.inf)}])
def test_that_a_change_to_what_is_no_number_is_refused_and_removes_no_key(value: Any) -> None:
    """Written as JSON it would come back as null, which means: remove the key."""
    with pytest.raises(ValidationError, match="a finite number"):
        Fix.of("Set it", "training.momentum", value)


@pytest.mark.parametrize("value", [None, 0.5, "equal", [1, 2], {"a": {"b": [True]}}])
def test_that_a_change_comes_back_from_json_as_it_was(value: Any) -> None:
    change = Change(path=("a", "b"), value=value)
    assert Change.model_validate_json(change.model_dump_json()) == change

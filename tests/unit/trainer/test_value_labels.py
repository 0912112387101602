"""Values to be predicted are finite as they are trained on, not only as they were saved."""

import numpy as np
import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.checks import ArrayName
from gpupanel.trainer.datasets.labels import checked_values

NAME = ArrayName("data.npz", "y", "data.labels")


@pytest.mark.parametrize(("odd", "said"), [(1e300, "1e+300"), (np.nan, "nan"), (-np.inf, "-inf")])
def test_that_a_value_that_32_bits_cannot_hold_is_named_with_its_example(
    odd: float, said: str
) -> None:
    with pytest.raises(ProblemError) as caught:
        checked_values(np.array([0.0, 1.0, odd, odd]), NAME)

    (problem,) = caught.value.problems
    assert problem.code == "data_labels_not_finite"
    assert f"{said} in example 2" in problem.message

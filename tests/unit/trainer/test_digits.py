"""The bundled data."""

import importlib.util
from types import ModuleType

import numpy as np
import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.sources.digits import read_digits


def test_that_the_digits_are_those_of_scikit_learn(scikit_learn_datasets: ModuleType) -> None:
    expected = scikit_learn_datasets.load_digits()

    data = read_digits()

    assert np.array_equal(data.training.features, expected.images)
    assert np.array_equal(data.training.labels, expected.target)
    assert data.greatest == expected.images.max()


def test_that_missing_digits_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(ProblemError) as caught:
        read_digits()

    assert caught.value.problems[0].code == "data_digits_missing"

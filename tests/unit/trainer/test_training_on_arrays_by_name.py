"""What is trained on arrays by name is what is trained on the same data of Python code."""

from pathlib import Path

import pytest

from gpupanel.domain.data import NpzData
from gpupanel.domain.model import PythonModel
from gpupanel.domain.run_layout import RunLayout
from tests.unit.trainer.array_code import CODE, array_profile, with_code
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_array_sources import in_one, in_several
from tests.unit.trainer.test_arrays_by_name import SAME, arrays_of_code
from tests.unit.trainer.test_the_rule import MIRRORED
from tests.unit.trainer.test_the_rule_for_arrays import apart
from tests.unit.trainer.trained_runs import changed, last_metrics, profile, state, train_all

pytestmark = pytest.mark.tensorflow

TRAINING = changed(learning_rate=0.02, epochs=2)
NAMES = ("inputs", "tasks", "masks", "pixels")
SHARES = [40, 24]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    folder = tmp_path_factory.mktemp("by_name")
    plans = {}
    for name in NAMES:
        of_code = array_profile(name, folder, TRAINING, MIRRORED)
        arrays = arrays_of_code(CODE[name][0])
        # One of them is read from the disk, example by example.
        is_streamed = name == "inputs"
        path = (in_several if is_streamed else in_one)(folder / f"arrays of {name}", **arrays)
        cache = "none" if is_streamed else "memory"
        data = NpzData(path=str(path), validation_fraction=0.2, cache=cache, **SAME[name][1])
        model = PythonModel(path=of_code.model.chosen_path)
        plans[f"{name} of code"] = of_code, SHARES
        plans[name] = profile(TRAINING, MIRRORED, data=data, model=model), SHARES
    return train_all(folder, with_code(make_run), plans)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_that_arrays_by_name_are_learned_as_those_of_code(
    runs: dict[str, RunLayout], name: str
) -> None:
    one, other = runs[f"{name} of code"], runs[name]

    # The data is the same to the bit; sums of several threads need not be.
    pairs = zip(state(other), state(one), strict=True)
    assert max(apart(*pair) for pair in pairs) < 1e-6
    expected = last_metrics(one).model_dump(exclude_none=True)
    assert last_metrics(other).model_dump(exclude_none=True) == pytest.approx(expected, rel=1e-6)
    assert Path(other.model).is_file()

"""Most calls of short steps have no clocks in their graph: they learn the same all the same."""

from pathlib import Path

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import CnnModel, MlpModel, ModelSettings, ResNetModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import changed, profile, train_all, variables

pytestmark = pytest.mark.tensorflow

MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
CENTRAL = StrategySettings(kind=StrategyKind.CENTRAL_STORAGE)
FEW = DigitsData(validation_fraction=0.7)
MODELS: dict[str, ModelSettings] = {
    "dense": MlpModel(hidden=(32,), dropout=0.2),
    "normalised": MlpModel(hidden=(16,), batch_norm=True),
    "convolution": CnnModel(filters=(4,), hidden=(8,)),
    "resnet": ResNetModel(filters=(4, 8), blocks=1),
}
PROFILES: dict[str, Profile] = {
    **{
        name: profile(changed(epochs=4), MIRRORED, model=model, data=FEW)
        for name, model in MODELS.items()
    },
    "clipped": profile(changed(epochs=4, clip_norm=0.5), CENTRAL, data=FEW),
    "accumulated": profile(changed(epochs=4, accumulation_steps=3), MIRRORED, data=FEW),
    "averaged, bfloat16": profile(
        changed(epochs=4, ema=0.9, mixed_precision=True), MIRRORED, data=FEW
    ),
}


def test_that_calls_without_clocks_learn_the_same_bits(tmp_path: Path, make_run: MakeRun) -> None:
    plans = {name: (each, [40, 24]) for name, each in PROFILES.items()}
    with_clocks, mostly_without = (
        train_all(tmp_path / str(steps), make_run, plans, to_the_bit=True, clocks_cost_from=steps)
        for steps in (10**9, 1)
    )
    for name in plans:
        expected, learned = variables(with_clocks[name]), variables(mostly_without[name])
        assert list(learned) == list(expected)
        different = [
            each for each in expected if expected[each].tobytes() != learned[each].tobytes()
        ]
        assert not different, name

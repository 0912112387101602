"""The layers that planning lists are those that the trainer builds."""

import json
import sys
from pathlib import Path

import pytest

from gpupanel.domain.data import TextData
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.profile import Profile
from gpupanel.planning.layers import model_layers
from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow

MODELS = (
    MlpModel(),
    MlpModel(hidden=()),
    MlpModel(hidden=(12, 7), dropout=0.5, batch_norm=True),
    CnnModel(filters=(4, 6), dropout=0.5),
    CnnModel(filters=(3,), hidden=(5, 4), batch_norm=True),
)


def test_that_planning_lists_the_layers_with_weights_as_they_are_built() -> None:
    script = Path(__file__).with_name("print_layers.py")
    models = [Profile(model=model).model_dump_json() for model in MODELS]
    texts = TextData(path="/texts", vocabulary=30)
    models += [Profile(model=model, data=texts).model_dump_json() for model in MODELS[:3]]
    done = run_forked(
        [sys.executable, str(script), *models], capture_output=True, text=True, check=True
    )

    built = [[tuple(layer) for layer in layers] for layers in json.loads(done.stdout)]
    assert built == [
        [(layer.name, layer.parameters) for layer in model_layers(model, (8, 8), 10)]
        for model in MODELS
    ] + [
        [(layer.name, layer.parameters) for layer in model_layers(model, (64,), 10, 30)]
        for model in MODELS[:3]
    ]

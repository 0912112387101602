"""Builds models of a person's own for data of their own, and tries their loss and metrics.

``python try_own_code.py DATA.py MODEL.py PREDICTS ...``: three arguments a case. Prints what is
said of each, as a training says it before its first step: its code and message, or "fine".
"""

import json
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.data import PythonData, Target
from gpupanel.domain.model import PythonModel
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.datasets.sources.python_data import read_python_data
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.datasets.trained_form import check_form
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.models.build import BuiltModel, build_model
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.models.own_measures import check_own_loss, own_measures
from gpupanel.trainer.models.own_objective import check_own_measures
from gpupanel.trainer.models.python_model import asked_outputs
from gpupanel.trainer.run_objectives import objectives_of
from tests.fakes.checked_files import trusted


def check_saved_alike(built: BuiltModel, few: Examples) -> None:
    """What is saved of several outputs has to be what the person's model gives."""
    keras.utils.set_random_seed(7)
    asked = asked_outputs(built.building)
    build = built.building.code.function("build_model")
    model = build(few.feature_shape, asked)
    whole = model(few.read_all(), training=False)
    if not isinstance(whole, dict):
        whole = dict(zip(model.output_names, whole, strict=True))
    saved = built.as_saved(built.trained(few.read_all(), training=False))
    for each in built.building.data.outputs:
        np.testing.assert_allclose(saved[each.name], whole[each.name], rtol=1e-5, atol=1e-6)


def tried(data_path: str, model_path: str, predicts: str) -> list[str]:
    data = PythonData(path=data_path, predicts=Target(predicts))
    profile = Profile(data=data, model=PythonModel(path=model_path))
    code = trusted("model.path", Path(model_path).name, Path(model_path))
    try:
        loaded = read_python_data(data, trusted("data.path", "data.py", Path(data_path)), 7)
        check_form(profile, loaded)
        own = own_measures(code)
        check_own_loss(own, profile)
        building = Building(loaded, loaded.training, code, has_own_loss=own.loss is not None)
        keras.utils.set_random_seed(7)
        built = build_model(profile.model, building)
        few = loaded.training.subset(np.arange(4, dtype=np.int32))
        with tf.device("/device:CPU:0"):
            objectives_of(profile, Split(loaded, loaded.training, None), built, own)
            check_own_measures(own, built, few)
            if loaded.outputs:
                check_saved_alike(built, few)
    except Exception as error:  # noqa: BLE001 - said as by a training
        first = problems_of(error)[0]
        return [first.code, first.message]
    return ["fine", ""]


cases = iter(sys.argv[1:])
print(json.dumps([tried(*case) for case in zip(cases, cases, cases, strict=True)]))

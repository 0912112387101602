"""Prints the layers with weights of several models as JSON: name and parameters of each."""

import json
import sys
from dataclasses import replace

import keras
import numpy as np

from gpupanel.domain.data import Scaling
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.datasets.sources.digits import read_digits
from gpupanel.trainer.models.network import Building, network_of

digits = read_digits()
found = []
for line in sys.argv[1:]:
    keras.backend.clear_session()
    profile = Profile.model_validate_json(line)
    settings, data, tokens = profile.model, digits, profile.data.token_count
    if tokens:
        words = Examples(digits.training.read(np.arange(9)).reshape(9, -1), np.zeros(9, np.int32))
        data = replace(digits, training=words, token_count=tokens, scaling=Scaling.NONE)
    building = Building(data, data.training)
    inputs = building.inputs
    outputs = network_of(settings).outputs(settings, inputs, building)
    layers = keras.Model(inputs, outputs).layers
    found.append([(each.name, each.count_params()) for each in layers if each.count_params()])
print(json.dumps(found))

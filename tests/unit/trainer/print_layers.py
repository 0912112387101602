"""Prints the layers with weights of several models as JSON: name and parameters of each."""

import json
import sys

import keras

from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.digits import read_digits
from gpupanel.trainer.models.network import Building, network_of

data = read_digits()
found = []
for line in sys.argv[1:]:
    keras.backend.clear_session()
    settings = Profile.model_validate_json(line).model
    building = Building(data, data.training)
    inputs = building.inputs
    outputs = network_of(settings).outputs(settings, inputs, building)
    layers = keras.Model(inputs, outputs).layers
    found.append([(each.name, each.count_params()) for each in layers if each.count_params()])
print(json.dumps(found))

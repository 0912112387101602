"""What plain Keras learns in two parts: ``python fine_tune_with_keras.py RUN_DIR``.

The last word of standard output is the greatest difference of a weight from that of the run's
model, relative to the greatest of its variable.
"""

import sys
from pathlib import Path

import keras
import numpy as np

from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.models.build import build_model
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.started_run import read_started_run

layout = RunLayout(Path(sys.argv[1]))
profile = read_started_run(layout).profile
training, tuning = profile.training, profile.model.fine_tuning
assert tuning is not None
data = read_data(profile.data, Reading(print))
keras.utils.set_random_seed(training.seed)
built = build_model(profile.model, Building(data, data.training))
model = built.trained
features, labels = data.training.in_memory, data.training.labels
epochs = (tuning.from_epoch - 1, training.epochs - tuning.from_epoch + 1)
for count, rate, learns in zip(
    epochs, (training.learning_rate, tuning.learning_rate), (False, True), strict=True
):
    model.get_layer("base").trainable = learns
    model.compile(
        keras.optimizers.Adam(rate, epsilon=training.epsilon),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(
        features,
        labels,
        batch_size=training.global_batch_size,
        epochs=count,
        shuffle=False,
        verbose=0,
    )
of_run = keras.models.load_model(layout.model).get_weights()
pairs = list(zip(of_run, model.get_weights(), strict=True))
print(max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs))

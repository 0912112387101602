import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

import os
np.save("data.npy", x)
x = np.load("data.npy")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])
model.compile("sgd", "mse")
model.fit(x, x[:, :4], epochs=1, verbose=0, callbacks=[keras.callbacks.ModelCheckpoint("best.keras", monitor="loss", save_best_only=True)])
again = keras.models.load_model("best.keras")
again.fit(x, x[:, :4], epochs=1, verbose=0)
model.save_weights("end.weights.h5")
print("RESULT", float(np.abs(again.predict(x, verbose=0)).sum()), sorted(name for name in os.listdir(".") if name.startswith(("best", "end"))))

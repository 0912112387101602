import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

base = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(8, "relu")], name="base")
base.trainable = False
model = keras.Sequential([base, keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
first = model.fit(x, y, epochs=2, verbose=0)
base.trainable = True
model.compile(keras.optimizers.Adam(1e-4), "binary_crossentropy", metrics=["accuracy"])
second = model.fit(x, y, epochs=4, initial_epoch=first.epoch[-1] + 1, verbose=0)
print("RESULT", first.history, second.history, second.epoch)

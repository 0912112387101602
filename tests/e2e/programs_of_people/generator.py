import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

def batches():
    while True:
        rows = numbers.integers(0, len(x), 32)
        yield x[rows], y[rows]
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1, "sigmoid")])
model.compile("rmsprop", "binary_crossentropy")
history = model.fit(batches(), steps_per_epoch=5, epochs=2, verbose=0)
print("RESULT", history.history)

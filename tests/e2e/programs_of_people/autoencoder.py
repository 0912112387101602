import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

inputs = keras.Input((8,))
code = keras.layers.Dense(3, "tanh", name="code")(inputs)
model = keras.Model(inputs, keras.layers.Dense(8)(code))
model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae", "cosine_similarity"])
history = model.fit(x, x, epochs=3, shuffle=True, verbose=0, validation_data=(x[:32], x[:32]), class_weight=None)
print("RESULT", history.history)

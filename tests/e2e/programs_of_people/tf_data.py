import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

import tensorflow as tf
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(192, seed=5).batch(32).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.2), keras.layers.Dense(2)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(data, epochs=3, validation_data=data.take(2), verbose=2)
print("RESULT", history.history, model.evaluate(data, verbose=0))

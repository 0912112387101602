import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

keras.mixed_precision.set_global_policy("mixed_bfloat16")
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = keras.layers.Dense(8, "gelu"), keras.layers.Dense(1, dtype="float32")
    def call(self, inputs, training=False):
        return self.out(self.hidden(inputs))
model = Net()
model.compile(keras.optimizers.AdamW(1e-3), "mse", run_eagerly=True, steps_per_execution=1)
history = model.fit(x, x[:, 0], epochs=1, verbose=0)
model.train_on_batch(x[:16], x[:16, 0])
print("RESULT", history.history, model.test_on_batch(x, x[:, 0]))

import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

import tensorflow as tf
class Distilled(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)
        self.seen = keras.metrics.Mean(name="own_loss")
    def call(self, inputs):
        return self.dense(inputs)
    @property
    def metrics(self):
        return [self.seen]
    def train_step(self, data):
        inputs, labels = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(inputs)[:, 0] - tf.cast(labels, tf.float32)) ** 2)
        self.optimizer.apply(tape.gradient(loss, self.trainable_weights), self.trainable_weights)
        self.seen.update_state(loss)
        return {"own_loss": self.seen.result()}
model = Distilled()
model.compile(optimizer=keras.optimizers.SGD(0.1))
history = model.fit(x, y, epochs=2, batch_size=64, verbose=0)
print("RESULT", history.history)

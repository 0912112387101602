import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

import tensorflow as tf
weights = tf.Variable(tf.zeros([8, 1]))
optimizer = keras.optimizers.Adam(0.01)
@tf.function
def step(inputs, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels[:, None], inputs @ weights))
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss
for epoch in range(2):
    for begin in range(0, 192, 32):
        loss = step(x[begin : begin + 32], y[begin : begin + 32].astype("float32"))
    print("RESULT", epoch, float(loss))

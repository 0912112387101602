import numpy as np
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
import keras
keras.utils.set_random_seed(3)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
print("Number of devices:", strategy.num_replicas_in_sync)
x = np.random.default_rng(1).normal(size=(128, 8)).astype("float32")
with strategy.scope():
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.05), "mse")
data = tf.data.Dataset.from_tensor_slices((x, x[:, 0])).batch(32)
history = model.fit(data, epochs=2, verbose=0)
print("RESULT", history.history)

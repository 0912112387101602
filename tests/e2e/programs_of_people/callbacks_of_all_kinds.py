import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

class Printed(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.lines = []
    def on_train_batch_end(self, batch, logs=None):
        self.lines.append((batch, logs["loss"]))
    def on_epoch_end(self, epoch, logs=None):
        self.lines.append((epoch, sorted(logs)))
printed = Printed()
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
callbacks = [printed, keras.callbacks.EarlyStopping("loss", patience=1, min_delta=0.5), keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9), keras.callbacks.TerminateOnNaN()]
history = model.fit(x, x[:, 0], epochs=20, verbose=0, callbacks=callbacks)
print("RESULT", printed.lines, history.history)

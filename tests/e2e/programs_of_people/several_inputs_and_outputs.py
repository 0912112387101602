import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 6
    def __getitem__(self, index):
        part = slice(32 * index, 32 * index + 32)
        return {"left": x[part, :4], "right": x[part, 4:]}, {"sum": x[part].sum(1), "sign": y[part]}
left, right = keras.Input((4,), name="left"), keras.Input((4,), name="right")
both = keras.layers.Dense(16, "relu")(keras.layers.Concatenate()([left, right]))
outputs = {"sum": keras.layers.Dense(1, name="sum")(both), "sign": keras.layers.Dense(1, "sigmoid", name="sign")(both)}
model = keras.Model([left, right], outputs)
model.compile("adam", {"sum": "mse", "sign": "binary_crossentropy"}, metrics={"sign": ["accuracy"]}, loss_weights={"sum": 0.5, "sign": 1.0})
history = model.fit(Batches(), epochs=2, verbose=0)
print("RESULT", sorted(history.history.items()))

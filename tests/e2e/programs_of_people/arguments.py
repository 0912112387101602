import argparse
parser = argparse.ArgumentParser(description="Trains something")
parser.add_argument("--epochs", type=int, required=True)
parser.add_argument("--hidden", type=int, nargs="+", default=[8])
parser.add_argument("--name", default="")
args = parser.parse_args()
import numpy as np
import keras
keras.utils.set_random_seed(3)
numbers = np.random.default_rng(1)
x = numbers.normal(size=(192, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")

model = keras.Sequential([keras.Input((8,)), *(keras.layers.Dense(units, "relu") for units in args.hidden), keras.layers.Dense(1)])
model.compile("adam", "mse")
history = model.fit(x, x.sum(1), epochs=args.epochs, verbose=0)
print("RESULT", vars(args), history.history)

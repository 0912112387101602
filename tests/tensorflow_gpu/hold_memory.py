"""Prints what TensorFlow's allocators do on the cards, as one JSON object.

Arguments: how memory is to be given out (``growth``, ``limit``, ``limit and growth``, ``split``,
``all``), and how many tensors of 64 MiB the first logical device is to hold.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf

how, count = sys.argv[1], int(sys.argv[2])
cards = tf.config.list_physical_devices("GPU")
limited = tf.config.LogicalDeviceConfiguration
if "growth" in how:
    for card in cards:
        tf.config.experimental.set_memory_growth(card, True)
if "limit" in how:
    tf.config.set_logical_device_configuration(cards[0], [limited(memory_limit=512)])
if how.startswith("split"):
    parts = [limited(memory_limit=1024), limited(memory_limit=2048)]
    tf.config.set_logical_device_configuration(cards[0], parts)
found = {
    "names": [tf.config.experimental.get_device_details(each)["device_name"] for each in cards],
    "logical": len(tf.config.list_logical_devices("GPU")),
    "error": "",
}
tensors = []
try:
    for number in range(found["logical"]):
        with tf.device(f"/GPU:{number}"):
            tensors.append(tf.identity(tf.constant(np.ones((1024, 256), np.float32))))
    for _ in range(count):
        with tf.device("/GPU:0"):
            tensors.append(tf.zeros((4096, 4096)))
except tf.errors.OpError as error:
    found["error"] = f"{type(error).__name__}: {error.message}"
found["current"] = [
    tf.config.experimental.get_memory_info(f"GPU:{number}")["current"]
    for number in range(found["logical"])
]
found["held"] = {
    file.name.split(".")[0]: int.from_bytes(file.read_bytes(), "little")
    for file in Path(os.environ["GPUPANEL_TEST_CUDA_FOLDER"]).iterdir()
    if file.name.split(".")[1] == str(os.getpid())
}
print(json.dumps(found))

import json, os, socket
free = socket.socket()
free.bind(("127.0.0.1", 0))
port = free.getsockname()[1]
free.close()
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": [f"127.0.0.1:{port}"]}, "task": {"type": "worker", "index": 0}})
import numpy as np
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    weight = tf.Variable(1.0)
@tf.function
def double():
    strategy.run(lambda: weight.assign(2.0 * weight))
for _ in range(3):
    double()
print("RESULT", float(weight.numpy()), strategy.num_replicas_in_sync)

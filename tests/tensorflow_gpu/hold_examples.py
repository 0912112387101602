"""Copies examples to a card and prints, as JSON, what it and the host held of them at the most."""

import gc
import json
from pathlib import Path

import numpy as np
import tensorflow as tf

from gpupanel.trainer.steps.data_copies import DataCopies

CARD = "/device:GPU:0"
EXAMPLES = np.random.default_rng(0).integers(0, 256, (2**14, 64, 64), np.uint8)
INTEGERS = np.arange(3 * 2**20, dtype=np.int32).reshape(-1, 3)


def host_peak_bytes() -> int:
    """The most memory of this process since it was forgotten."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(each for each in lines if "VmHWM" in each).split()[1]) * 1024


def main() -> None:
    copies = DataCopies()
    copies.on(CARD, np.zeros((4, 4), np.uint8))  # what a first copy loads
    gc.collect()
    tf.config.experimental.reset_memory_stats("GPU:0")
    before = tf.config.experimental.get_memory_info("GPU:0")["current"]
    Path("/proc/self/clear_refs").write_text("5")
    host = host_peak_bytes()
    copy = copies.on(CARD, EXAMPLES)
    answer = {
        "bytes": EXAMPLES.nbytes,
        "card": tf.config.experimental.get_memory_info("GPU:0")["peak"] - before,
        "host": host_peak_bytes() - host,
        "device": copy.device,
        "again": copies.on(CARD, EXAMPLES) is copy,
        "alike": bool((copy.numpy() == EXAMPLES).all()),
        "integers": bool((copies.on(CARD, INTEGERS).numpy().view(np.int32) == INTEGERS).all()),
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

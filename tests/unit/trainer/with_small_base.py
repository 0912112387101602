"""Runs a program with a small network in place of MobileNet, which is traced in a moment.

``python with_small_base.py PROGRAM ARGUMENT...``: three convolutions, two of them with batch
normalisation.
"""

import runpy
import sys
from pathlib import Path

import keras


def small(
    *, include_top: bool, weights: str | None, input_shape: tuple[int, int, int]
) -> keras.Model:
    assert (include_top, weights) == (False, None)
    layers = keras.layers
    hidden = inputs = keras.Input(input_shape)
    for number in (1, 2):
        hidden = layers.Conv2D(6, 3, strides=2, use_bias=False, name=f"conv_{number}")(hidden)
        hidden = layers.BatchNormalization(momentum=0.999, name=f"norm_{number}")(hidden)
        hidden = layers.Activation("silu", name=f"active_{number}")(hidden)
    # A bias here, whose gradient is a long sum, would differ in its last bit from script to run.
    hidden = layers.Conv2D(8, 3, strides=2, use_bias=False, name="conv_3")(hidden)
    hidden = layers.Activation("silu", name="active_3")(hidden)
    return keras.Model(inputs, hidden)


keras.applications.MobileNet = small
# As where it stands: it may have others beside it.
sys.argv = sys.argv[1:]
sys.path.insert(0, str(Path(sys.argv[0]).parent))
runpy.run_path(sys.argv[0], run_name="__main__")

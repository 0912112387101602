"""A trainer whose data set is served by this machine.

``python tests/unit/trainer/fetching_trainer.py RUN_DIR`` is ``python -m gpupanel.trainer RUN_DIR``
with the address that ``SERVED_MNIST`` names in the place of Keras's.
"""

import os
import runpy

from gpupanel.domain import keras_data

served = keras_data.KerasFile(os.environ["SERVED_MNIST"], "mnist.npz")
keras_data.KERAS_FILES["mnist"] = (served,)
runpy.run_module("gpupanel.trainer", run_name="__main__", alter_sys=True)

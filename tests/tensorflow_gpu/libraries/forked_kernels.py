"""Imports TensorFlow and the kernels of the stand-in so that this process can be forked.

TensorFlow itself, when it loads a plugin, looks for devices at once. The threads of CUDA that come
of it are not there in a forked process, which then waits for them.
"""

import ctypes
import sys
from pathlib import Path

_own = str(Path(__file__).parent)
sys.path.remove(_own)  # where TensorFlow looks for plugins
import tensorflow  # noqa: E402, F401 - its symbols are what the kernels need

sys.path.insert(0, _own)
ctypes.CDLL(str(Path(_own, "tensorflow-plugins", "libgpupanel_kernels.so"))).TF_InitKernel()

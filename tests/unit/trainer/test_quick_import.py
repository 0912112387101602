"""TensorFlow's import in a new process: what it leaves out, and that nobody else misses it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.tensorflow

_IMPORT = """
import gc, importlib.util, sys, threading
from gpupanel.trainer.quick_import import quick_import

with quick_import():
    found = []
    reader = threading.Thread(target=lambda: found.append(importlib.util.find_spec("sklearn")))
    reader.start()
    reader.join()
    import tensorflow
    import keras
assert found[0] is not None, "the thread that reads the data"
assert "sklearn" not in sys.modules and "scipy.stats" not in sys.modules
assert gc.isenabled()
assert keras.Sequential is tensorflow.keras.Sequential
import sklearn.datasets  # as a person's own code may do
print(len(sklearn.datasets.load_digits().target))
"""


def test_that_it_is_without_scikit_learn_which_everybody_else_finds() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", _IMPORT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "1797\n"

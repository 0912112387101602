"""Pickled arrays and lists are read without running code from the file.

Some of Keras's data sets are pickles. Only what arrays are made of may be named in them.
"""

import pickle
from typing import IO

from typing_extensions import override

ALLOWED_IN_PICKLES = frozenset(
    {
        ("_codecs", "encode"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
    }
)


class _ArrayUnpickler(pickle.Unpickler):
    @override
    def find_class(self, module: str, name: str) -> object:
        if (module, name) not in ALLOWED_IN_PICKLES:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of an array")
        return super().find_class(module, name)


def read_pickled(file: IO[bytes]) -> object:
    """The object in the file: numbers, text, bytes, lists, dictionaries and arrays only.

    Raises:
        pickle.UnpicklingError: It is no pickle, or names anything else.
    """
    return _ArrayUnpickler(file, encoding="bytes").load()

"""A library that TensorFlow would take for its own, and that leaves a mark when it is loaded."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

_SOURCE = """
#include <cstdio>
#include "tensorflow/core/platform/platform_strings.h"
TF_PLATFORM_STRINGS()
__attribute__((constructor)) static void planted() {{
  if (FILE* mark = std::fopen("{mark}", "a")) std::fclose(mark);
}}
"""
_MODULES = ("gpupanel.trainer", *(f"gpupanel.trainer.{name}" for name in ("preview", "probe")))
"""Those that are started in the folder; TensorFlow goes by the name of the module behind ``-m``."""


class PlantedLibrary:
    """Built once; skips the test where nothing builds it.

    Args:
        folder: For the library, and for its mark.
    """

    def __init__(self, folder: Path) -> None:
        tensorflow = find_spec("tensorflow")
        if shutil.which("g++") is None or tensorflow is None:
            pytest.skip("needs g++ and TensorFlow")
        (package,) = tensorflow.submodule_search_locations or ()
        folder.mkdir()
        self.mark = folder / "loaded"
        self._built = folder / "libtfkernel_planted.so"
        source = folder / "planted.cc"
        source.write_text(_SOURCE.format(mark=self.mark))
        headers = Path(package) / "include"
        command = ["g++", "-shared", "-fPIC", f"-I{headers}", source, "-o", self._built]
        subprocess.run(command, check=True, capture_output=True)

    def plant(self, folder: Path) -> None:
        """Put it where a process looks for kernels that works in that folder."""
        for module in _MODULES:
            place = folder / module / "tensorflow" / "core" / "kernels"
            place.mkdir(parents=True)
            shutil.copy(self._built, place)

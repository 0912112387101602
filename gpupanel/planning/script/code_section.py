"""How a script carries out Python files of the person's own, as a run does."""

CODE_SECTION = """
import random
import sys
import types
from pathlib import Path


def carried_out(path, name):
    \"\"\"Your own Python file, as a module: to run this script is to run it.\"\"\"
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module  # where Keras and dataclasses look its classes up
    exec(compile(Path(path).read_bytes(), path, "exec"), module.__dict__)
    return module
"""

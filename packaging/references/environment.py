"""What becomes of a shell's variables, as a page of Markdown."""

from typing import Final

from gpupanel.domain.inherited_variables import INHERITED_VARIABLES, InheritedVariable, Treatment

_INTRODUCTION: Final = """\
<!-- Written by `make docs` from gpupanel/domain/inherited_variables.py: changes here are lost. -->

# The environment

A shell hands its variables to every program that is started in it. Python, TensorFlow, XLA, Keras,
CUDA, NCCL and Qt read hundreds of them, and some would change what was chosen in the window or in a
profile, without a word. What becomes of each is decided in the table below: of several lines that
mean a variable the first counts, and one that no line means is obeyed.

- *cleared*: what gpupanel starts begins without it. The shell keeps it.
- *set*: a run has a value of its own, whatever the shell says.
- *named*: it is obeyed, and `gpupanel check`, the window and the doctor say so before a run starts.
- *obeyed*: it is obeyed.

What is cleared is said before a run starts, too. What the doctor has found out about TensorFlow
holds for the variables that are obeyed; where one of them differs TensorFlow is asked again.

## Packages and libraries of elsewhere

Python takes packages from the folders of `PYTHONPATH` before those that are installed with
gpupanel, and the loader takes libraries from those of `LD_LIBRARY_PATH`. So a TensorFlow, Keras,
NumPy, protobuf or pydantic of another environment can take the place of the right one, and so can a
libstdc++. Packages in your home (`~/.local`) and a limit of the shell (`ulimit -v`) can keep
TensorFlow from being imported, too. When that fails, the import is tried without each of them, in a
process of its own; what keeps it from working is then named, with the command that starts gpupanel
without. `gpupanel doctor` does the same at any time.

Whatever a `keras.json` in your home says of numbers and of the order of channels, a training uses
32 bits and channels last, as its exported script does. One that Keras refuses to read is named.

## Variables
"""
_WORDS: Final = {
    Treatment.CLEARED: "cleared",
    Treatment.SET: "set",
    Treatment.NAMED: "named",
    Treatment.OBEYED: "obeyed",
}


def environment_reference() -> str:
    """The page: what the words mean, and a line for each variable."""
    lines = ["| variable | read by | what becomes of it | because |", "|---|---|---|---|"]
    return "\n".join((_INTRODUCTION, *lines, *map(_line, INHERITED_VARIABLES), ""))


def _line(variable: InheritedVariable) -> str:
    word = _WORDS[variable.treatment]
    value = f" to `{variable.value}`" if variable.value is not None else ""
    return f"| `{variable.name}` | {variable.reader} | {word}{value} | {variable.reason} |"

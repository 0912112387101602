"""A program of the person's own that runs under the panel, in place of data, model and training."""

import re
from pathlib import PurePath
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from gpupanel.domain.process_environment import PLANNED_VARIABLES
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.value import Value

MOST_ARGUMENTS: Final = 1_000
LONGEST_TEXT: Final = 4_096
"""Characters of an argument: what a text of a profile has at the most."""
PYTHON_SUFFIX: Final = ".py"
PROGRAM_SUFFIXES: Final = (PYTHON_SUFFIX, ".sh")
"""How the names of programs end that are chosen; any other may be typed."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
_OWN_PREFIX: Final = "GPUPANEL_"


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("it has a NUL character, which no program can be given")
    return text


def _variables(given: dict[str, str]) -> dict[str, str]:
    for name in given:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r}: the name of a variable has letters, digits and _ only")
        if name in PLANNED_VARIABLES or name.startswith(_OWN_PREFIX):
            raise ValueError(f"{name}: devices and memory are chosen in the profile, which sets it")
    return given


Argument = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_without_nul)]


class ScriptSettings(Value):
    """The ``[script]`` table of a profile: what is started, and how."""

    path: str = setting(
        "Program",
        "A Python file, such as train.py, or another program that can be executed, such as a shell "
        "script. It is not edited, and begins as it would in a terminal.",
        path=PathKind(PROGRAM_SUFFIXES, "Programs", "Choose the program"),
        examples=["train.py"],
    )
    arguments: tuple[Argument, ...] = setting(
        "Arguments",
        "What the program is given behind its name, a text each. In a sweep {lr} stands for the "
        "value of that name.",
        default=(),
        max_length=MOST_ARGUMENTS,
        off="none",
        examples=[["--epochs", "5"]],
    )
    values: dict[str, bool | int | float | Argument] = setting(
        "Values",
        "What a name in braces stands for in the arguments: with lr = 0.1 {lr} is 0.1.",
        default_factory=dict,
        max_length=MOST_ARGUMENTS,
        advanced=True,
    )
    working_directory: str = setting(
        "Working directory",
        "The folder from which the program takes relative paths.",
        default="",
        path=PathKind((), "", "Choose the working directory"),
        off="the folder of the program",
    )
    python: str = setting(
        "Python",
        "The Python that runs the program, with its packages, such as .venv/bin/python. It need "
        "not have gpupanel installed, nor TensorFlow.",
        default="",
        path=PathKind(("",), "Programs", "Choose the Python"),
        off="the Python of gpupanel",
        examples=[".venv/bin/python"],
    )
    environment: Annotated[dict[str, Argument], AfterValidator(_variables)] = setting(
        "Variables",
        "Environment variables that the program gets besides those of this session.",
        default_factory=dict,
        max_length=MOST_ARGUMENTS,
        advanced=True,
    )
    max_restarts: Annotated[int, Field(ge=0, le=100)] = setting(
        "Restart automatically",
        "When the program is killed, start it again from its beginning, at most this many times. "
        "A program that reads report.checkpoint_folder continues from what it saved there.",
        default=0,
        prefix="up to ",
        unit="time",
        off="never",
        advanced=True,
    )

    @property
    def is_python(self) -> bool:
        """Whether a Python runs it; else it is executed by itself."""
        return self.path.lower().endswith(PYTHON_SUFFIX)

    @property
    def name(self) -> str:
        """What people call it: the name of its file."""
        return PurePath(self.path).name

    @property
    def placeholders(self) -> frozenset[str]:
        """The names in braces in its arguments; which of them mean anything, values say."""
        return frozenset(name for each in self.arguments for name in _PLACEHOLDER.findall(each))

    @property
    def filled_arguments(self) -> tuple[str, ...]:
        """The arguments as the program is given them."""

        def filled(found: re.Match[str]) -> str:
            value = self.values.get(found[1], found[0])
            # As TOML and most programs write them.
            return str(value).lower() if isinstance(value, bool) else str(value)

        return tuple(_PLACEHOLDER.sub(filled, each) for each in self.arguments)

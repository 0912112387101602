"""The variables of model and optimizer as arrays, and back."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array

if TYPE_CHECKING:
    import keras

Variables = Mapping[str, "keras.Variable"]


def by_name(prefix: str, variables: Iterable["keras.Variable"]) -> dict[str, "keras.Variable"]:
    """The variables by their paths, which no strategy changes.

    Models within a model may give two variables the same path: the later ones get a number.
    """
    named: dict[str, keras.Variable] = {}
    for variable in variables:
        path = name = f"{prefix}/{variable.path}"
        number = 1
        while name in named:
            number += 1
            name = f"{path}#{number}"
        named[name] = variable
    return named


def read_variables(variables: Variables) -> dict[str, Array]:
    """A copy of what every variable holds, by name: the next step changes the variables.

    TensorFlow copies when it makes an array of a tensor; another copy would only take time.
    """
    return {name: np.asarray(variable.value) for name, variable in variables.items()}


def assign_variables(variables: Variables, state: Mapping[str, Array]) -> None:
    """Give every variable what it held, all of them or none.

    Raises:
        ProblemError: The state is not that of these variables.
    """
    wrong = sorted(
        name
        for name in variables.keys() | state.keys()
        if name not in variables
        or name not in state
        or tuple(variables[name].shape) != state[name].shape
    )
    if wrong:
        raise ProblemError(_other_model(wrong, len(variables)))
    for name, variable in variables.items():
        array = state[name]
        if array.dtype.kind == "V":
            # NumPy's files do not know bfloat16: they keep its bytes.
            array = array.view(np.dtype(variable.dtype))
        variable.assign(array)


def _other_model(wrong: list[str], count: int) -> Problem:
    return Problem(
        code="checkpoint_of_another_model",
        message=f"The last checkpoint is one of another model or optimizer: {len(wrong)} of its "
        f"variables do not fit the {count} of this run, so it cannot continue from it.",
        hint="The run's profile or gpupanel itself has changed since; start the profile again.",
        detail="\n".join(wrong),
    )

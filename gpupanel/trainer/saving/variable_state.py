"""The variables of model and optimizer as arrays, and back."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array

if TYPE_CHECKING:
    import keras

Variables = Mapping[str, "keras.Variable"]


def read_variables(variables: Variables) -> dict[str, Array]:
    """What every variable holds, by name."""
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
        variable.assign(state[name])


def _other_model(wrong: list[str], count: int) -> Problem:
    return Problem(
        code="checkpoint_of_another_model",
        message=f"The last checkpoint is one of another model or optimizer: {len(wrong)} of its "
        f"variables do not fit the {count} of this run, so it cannot go on from it.",
        hint="The run's profile or gpupanel itself has changed since; start the profile again.",
        detail="\n".join(wrong),
    )

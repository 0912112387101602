"""What a saved model ends in, before a run: from its configuration, or from its graph.

Keras takes seconds to be imported: it is only where the last layer does not say it plainly.
"""

import contextlib
from typing import Final

from gpupanel.domain.data import Target
from gpupanel.domain.model import Head, ModelSettings, SavedModel
from gpupanel.domain.problem import Problem
from gpupanel.trainer.models.model_file import configuration_in
from gpupanel.trainer.models.model_file_problems import saved_model_misfit
from gpupanel.trainer.models.output_ending import (
    ENDINGS,
    LINEAR,
    SIGMOID,
    SOFTMAX,
    UNKNOWN,
    ModelMisfitError,
    check_ending,
    outputs_unknown,
)
from gpupanel.trainer.models.saved_outputs import Configuration, backwards, layers_of

WHOLE: Final = "saved_model"
"""The name of a model within one, where a run that trained it further put layers around it."""
AROUND: Final = frozenset({"outputs", "probabilities", "values", "standardised"})
"""What stands around such a model, without weights, in a file that a run saved."""
_SAYS_IT = ("Activation", "Dense")
_SAME_NUMBERS = ("Dropout", "Identity", "Rescaling")
_MODELS = ("Functional", "Sequential")
_MOST_DEPTH = 20


def check_saved_ending(model: ModelSettings, target: Target, outputs: int) -> None:
    """Refuse a model to train further whose outputs are none, or are not known.

    Args:
        model: Its file was accepted.
        target: What the labels are.
        outputs: How many there are for each example; 0: not known.

    Raises:
        ProblemError: It cannot be trained so, or a person has to say what its outputs are.
    """
    if not isinstance(model, SavedModel):
        return
    configuration = configuration_in(model.path)
    if model.head is Head.NEW or is_wrapped(configuration):
        return
    ending = _ending_in(configuration)
    if ending is None:
        return
    try:
        check_ending(ending, target, model.outputs, is_single=outputs == 1)
    except ModelMisfitError as misfit:
        raise saved_model_misfit(model.path, str(misfit)) from misfit


def ending_notes(model: ModelSettings, target: Target) -> tuple[Problem, ...]:
    """A hint that only its first outputs show what a model gives that is not trained.

    Raises:
        ProblemError: The file cannot be read.
    """
    probable = ENDINGS.get(target)
    if probable is None or not isinstance(model, SavedModel) or model.outputs is not None:
        return ()
    ending = _ending_in(configuration_in(model.path))
    return (outputs_unknown(probable, is_trained=False),) if ending == UNKNOWN else ()


def plain_ending(configuration: object) -> str | None:
    """What the last layer says: ``softmax``, ``sigmoid`` or ``linear``.

    Args:
        configuration: As ``config.json`` holds it; a stranger's may say anything.

    Returns:
        ``None``: it does not say it, and only the graph shows it.
    """
    given, is_rescaled = configuration, False
    for _ in range(_MOST_DEPTH):
        if not isinstance(given, dict):
            return None
        for layer in backwards(given):
            if layer.get("class_name") in _MODELS:
                given = layer
                break
            is_rescaled |= layer.get("class_name") == "Rescaling"
            if not _is_same(layer):
                said = _said_by(layer)
                return said if said == LINEAR or not is_rescaled else None
        else:
            return None
    return None


def is_wrapped(configuration: object) -> bool:
    """Whether the file is of a run that trained a saved model further: that one gives logits."""
    names = [
        (each.get("class_name") in _MODELS, _name_of(each))
        for each in layers_of(configuration)
        if each.get("class_name") != "InputLayer"
    ]
    whole = [name for is_model, name in names if is_model and name == WHOLE]
    return len(whole) == 1 and all(name in {*AROUND, WHOLE} for _, name in names)


def _ending_in(configuration: object) -> str | None:
    """What the model ends in; ``None``: Keras cannot build it here, as a run will say."""
    plain = plain_ending(configuration)
    if plain is not None or not layers_of(configuration):
        return plain
    with contextlib.suppress(Exception):  # whatever Keras raises of what it cannot build
        from gpupanel.trainer.models.ending import ending_of_configuration

        return ending_of_configuration(configuration)
    return None


def _is_same(layer: Configuration) -> bool:
    """Whether it gives the numbers that it is given, in the same order and shape, or rescaled."""
    is_linear = layer.get("class_name") == "Activation" and _activation_of(layer) == LINEAR
    return is_linear or layer.get("class_name") in _SAME_NUMBERS


def _said_by(layer: Configuration) -> str | None:
    inside = layer.get("config")
    if layer.get("class_name") == "Softmax" and isinstance(inside, dict):
        return SOFTMAX if inside.get("axis") == -1 else None
    if layer.get("class_name") not in _SAYS_IT or layer.get("registered_name") is not None:
        return None
    activation = _activation_of(layer)
    return activation if activation in (SOFTMAX, SIGMOID, LINEAR) else None


def _activation_of(layer: Configuration) -> str | None:
    inside = layer.get("config")
    activation = inside.get("activation") if isinstance(inside, dict) else None
    return activation if isinstance(activation, str) else None


def _name_of(layer: Configuration) -> str:
    inside = layer.get("config")
    return str(inside.get("name")) if isinstance(inside, dict) else ""

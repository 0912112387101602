"""What a model that a Python file builds needs, as problems with stable codes.

Nothing here looks into the file: how many layers and outputs it makes, and whether it works at
all, is known when a run carries it out and not before.
"""

from gpupanel.domain.model import PythonModel
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind


def python_problems(profile: Profile) -> list[Problem]:
    """Every problem of a model from Python code, for training."""
    if not isinstance(profile.model, PythonModel) or profile.task != "train":
        return []
    return [*_path_missing(profile.model), *_layers_not_known(profile)]


def _path_missing(model: PythonModel) -> list[Problem]:
    if model.path:
        return []
    return [
        Problem(
            code="model_path_missing",
            field="model.path",
            message="No Python file was chosen that builds the model.",
            hint="Choose a .py file with a function build_model(input_shape, outputs).",
        )
    ]


def _layers_not_known(profile: Profile) -> list[Problem]:
    if profile.strategy.kind is not StrategyKind.MODEL_PARALLEL:
        return []
    return [
        Problem(
            code="python_model_not_divided",
            field="strategy.kind",
            message="The layers of a model from Python code cannot be placed on several devices: "
            "they are built before anything could place them.",
            hint="Use a strategy that keeps the model whole, or place the layers in your code "
            "with tf.device and one_device.",
            fix=Fix(
                label="Use mirrored",
                changes=(
                    Change(path=("strategy", "kind"), value=StrategyKind.MIRRORED.value),
                    Change(path=("strategy", "placement")),
                ),
            ),
        )
    ]

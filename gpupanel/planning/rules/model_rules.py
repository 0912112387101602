"""Whether the file that holds a model, or the code that builds it, can be used.

Nothing here reads a Python file: how many layers and outputs it makes, and whether it works
at all, is known when a run carries it out and not before.
"""

from collections.abc import Iterator

from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext


def found_in_model_file(context: PlanningContext) -> Iterator[Problem]:
    """Why the file that holds the model, or its code, cannot be used by the task."""
    model = context.profile.model
    is_used = model.path_setting is not None and model.is_trainable is context.trains
    if context.preview is not None and is_used:
        yield from context.preview.model_problems


def code_path_missing(context: PlanningContext) -> Iterator[Problem]:
    """A model from Python code without a file, for training."""
    model = context.profile.model
    if context.trains and model.is_code and model.lacks_path:
        yield Problem(
            code="model_path_missing",
            field="model.path",
            message="No Python file was chosen that builds the model.",
            hint="Choose a .py file with a function build_model(input_shape, outputs).",
        )


def layers_of_code_divided(context: PlanningContext) -> Iterator[Problem]:
    """A model from Python code whose layers are to be placed on several devices."""
    profile = context.profile
    divided = context.trains and profile.strategy.kind is StrategyKind.MODEL_PARALLEL
    if divided and profile.model.is_code:
        yield Problem(
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

"""Whether the file that holds a model, or the code that builds it, can be used.

Nothing here reads a Python file: how many layers and outputs it makes, and whether it works
at all, is known when a run carries it out and not before.
"""

from collections.abc import Iterator

from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.random_layers import depends_on_split
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext

_MADE_WHOLE = {"python": "a model from Python code", "saved": "a saved model"}


def problems_of_model_file(context: PlanningContext) -> Iterator[Problem]:
    """Why the file that holds the model, or its code, cannot be used by the task."""
    model = context.profile.model
    is_used = bool(model.chosen_paths) and (context.trains or model.is_saved)
    if context.known.preview is not None and is_used:
        yield from context.known.preview.model_problems


def layers_depend_on_split(context: PlanningContext) -> Iterator[Problem]:
    """Layers of a saved model that take something from other examples, of a divided batch."""
    preview, plan, training = context.known.preview, context.plan, context.profile.training
    if preview is None or not context.trains or not context.profile.model.is_saved:
        return
    several = plan is not None and len(plan.without_idle_replicas().replicas) > 1
    if preview.mixing_layers and (several or training.accumulation_steps > 1):
        yield depends_on_split(preview.mixing_layers)


def path_missing(context: PlanningContext) -> Iterator[Problem]:
    """A model of a file that is not chosen yet: a saved one, or one that Python code builds."""
    model = context.profile.model
    if model.lacks_path and (context.trains or model.is_saved):
        yield Problem(
            code="model_path_missing",
            field="model.path",
            message="No Python file was chosen that builds the model."
            if model.is_code
            else "No saved model was chosen.",
            hint="Choose a .py file with a function build_model(input_shape, outputs)."
            if model.is_code
            else "Choose a .keras file, such as model.keras in the folder of a run.",
        )


def weights_missing(context: PlanningContext) -> Iterator[Problem]:
    """A file of weights that is not chosen yet."""
    if context.trains and not context.profile.model.begins_with:
        yield Problem(
            code="model_weights_missing",
            field="model.weights",
            message="No file of weights was chosen.",
            hint="Choose a file that Keras saved, or begin with none.",
            fix=Fix.of("Begin with none", "model.weights", "none"),
        )


def drawn_layers_frozen(context: PlanningContext) -> Iterator[Problem]:
    """Layers that never learn, although their weights are drawn at random."""
    model = context.profile.model
    if context.trains and model.begins_with == "none" and model.keeps_layers:
        yield Problem(
            code="drawn_layers_frozen",
            severity=Severity.WARNING,
            field="model.frozen_layers",
            message="Frozen layers keep random initial weights and never learn.",
            hint="Begin with pretrained weights, or train all layers.",
            fix=Fix.of("Train all layers", "model.frozen_layers", "none"),
        )


def layers_not_divided(context: PlanningContext) -> Iterator[Problem]:
    """A model that is built whole, whose layers are to be placed on several devices."""
    profile = context.profile
    divided = context.trains and profile.strategy.kind is StrategyKind.MODEL_PARALLEL
    if divided and not profile.model.is_divided:
        what = _MADE_WHOLE.get(profile.model.source, profile.model.source)
        yield Problem(
            code="python_model_not_divided" if profile.model.is_code else "model_not_divided",
            field="strategy.kind",
            message=f"The layers of {what} cannot be placed on several devices: they are built "
            "before anything could place them.",
            hint="Use a strategy that keeps the model whole, such as mirrored.",
            fix=Fix(
                label="Use mirrored",
                changes=(
                    Change(path=("strategy", "kind"), value=StrategyKind.MIRRORED.value),
                    Change(path=("strategy", "placement")),
                ),
            ),
        )

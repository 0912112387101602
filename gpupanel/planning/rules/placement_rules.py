"""What layers on several devices need, as problems with stable codes."""

from collections.abc import Iterator, Mapping

from gpupanel.domain.data import DataSettings, Scaling
from gpupanel.domain.layers import LayerKind, word_layers
from gpupanel.domain.model import Model
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.planning.context import PlanningContext

_FEWEST_STAGES, _STEPS_A_STAGE = 2, 4
"""With four micro-batches a stage devices are busy four fifths of the time: the first and the last
wait for as many as there are other stages."""


def placed_layers_compiled(context: PlanningContext) -> Iterator[Problem]:
    """XLA, where layers stand on several devices."""
    if context.profile.training.jit_compile and _place_count(context) > 1:
        yield Problem(
            code="jit_compile_with_placed_layers",
            field="training.jit_compile",
            message="XLA compiles a step for one device: layers that are placed on others would "
            "work on that one, too.",
            hint="Switch XLA off, or use a strategy that keeps the model whole.",
            fix=Fix.of("Switch it off", "training.jit_compile", value=False),
        )


def pipeline_without_micro_batches(context: PlanningContext) -> Iterator[Problem]:
    """Devices that are to work at the same time, on too few micro-batches for that."""
    places, plan = _place_count(context), context.plan
    if places < _FEWEST_STAGES or plan is None or not context.profile.strategy.pipeline:
        return
    steps, wanted = (
        plan.accumulation_steps,
        min(_STEPS_A_STAGE * places, *filter(None, plan.shares)),
    )
    taken = "whole" if steps == 1 else f"in {steps}"
    if steps < places and steps < wanted:
        yield Problem(
            code="pipeline_without_micro_batches",
            severity=Severity.WARNING,
            field="strategy.pipeline",
            message=f"A pipeline over {places} devices keeps them busy with micro-batches, and the "
            f"batch is taken {taken}: most of the time one of them works and the others wait.",
            hint=f"Take it in {wanted}: the gradient is the same.",
            fix=Fix.of(f"Use {wanted} accumulation steps", "training.accumulation_steps", wanted),
        )


def layers_missing(context: PlanningContext) -> Iterator[Problem]:
    """Layers that are placed by a name that the model has not."""
    model, placement = context.profile.model, _placement(context)
    if model.stack is None:
        return
    names = placeable_layers(model, context.profile.data)
    missing = [name for name in placement if name not in names]
    if missing:
        yield Problem(
            code="placement_layer_missing",
            field="strategy.placement",
            message=f"The {model.source} has no layer {_quoted(missing)}; its layers: "
            f"{_quoted(list(names))}.",
            hint="Name layers of the model, or leave the placement to the trainer.",
            fix=_automatic(),
        )


def beyond_devices(context: PlanningContext) -> Iterator[Problem]:
    """Layers that are placed on a logical device that there is not."""
    count = _place_count(context)
    beyond = [name for name, place in _placement(context).items() if place >= count]
    if beyond:
        devices = "is one logical device" if count == 1 else f"are {count} logical devices"
        yield Problem(
            code="placement_beyond_devices",
            field="strategy.placement",
            message=f"There {devices}, counted from 0, and beyond the last are placed: "
            f"{_quoted(beyond)}.",
            hint="Use smaller numbers, or switch more devices on.",
            fix=_automatic(),
        )


def placeable_layers(model: Model, data: DataSettings) -> tuple[str, ...]:
    """The names of all layers that the model can have for that data, in their order.

    A test builds models and compares. Arrays of the person's own are known when they are read: they
    may ask for a layer, or not.
    """
    if model.stack is None:
        return ()
    has_channels = data.example_axes == 3
    return (
        *_first_layers(data),
        *(
            layer.name
            for layer in (*word_layers(data.token_count), *model.stack.layers)
            if layer.kind is not LayerKind.CHANNEL or not has_channels
        ),
        "outputs",
    )


def _first_layers(data: DataSettings) -> tuple[str, ...]:
    """What brings raw features to a scale that suits a model: ``trainer/models/scaling.py``."""
    if data.scaling is Scaling.STANDARDISE:
        return ("standardise",)
    return () if data.scaling is Scaling.NONE else ("pixels",)


def _place_count(context: PlanningContext) -> int:
    """Logical devices of a replica that layers can be placed on; 0 where none is placed."""
    layout = context.layout
    if layout is None or not context.trains or not layout.places:
        return 0
    return len(layout.places) // len(layout.spots)


def _placement(context: PlanningContext) -> Mapping[str, int]:
    """What the person placed by hand; empty also where nothing is placed."""
    placement = context.profile.strategy.placement
    return placement if isinstance(placement, Mapping) and _place_count(context) else {}


def _automatic() -> Fix:
    change = Change(path=("strategy", "placement"), value="auto")
    return Fix(label="Place automatically", changes=(change,))


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)

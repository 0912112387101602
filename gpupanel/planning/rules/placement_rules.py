"""What layers on several devices need, as problems with stable codes."""

from collections.abc import Mapping

from gpupanel.domain.data import DataSettings, ImagesData, KerasData, Target
from gpupanel.domain.model import BuildableModel, CnnModel, MlpModel
from gpupanel.domain.plan import LogicalPlace
from gpupanel.domain.problem import Change, Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind

_WORDS_AS_NUMBERS = ("imdb", "reuters")
_COLOURED = ("cifar10", "cifar100")


def placement_problems(profile: Profile, places: tuple[LogicalPlace, ...]) -> list[Problem]:
    """Every problem of the placement of layers on so many logical devices."""
    if profile.strategy.kind is not StrategyKind.MODEL_PARALLEL:
        return []
    problems = _compiled(profile, len(places))
    placement, model = profile.strategy.placement, profile.model
    if isinstance(placement, Mapping):
        if isinstance(model, MlpModel | CnnModel):
            problems += _layers_missing(placement, model, profile.data)
        problems += _beyond_devices(placement, len(places))
    return problems


def placeable_layers(model: BuildableModel, data: DataSettings) -> tuple[str, ...]:
    """The names of all layers that the model can have for that data, in their order.

    The names are those of ``trainer/models/network.py``; a test builds models and compares.
    Arrays of the person's own are known when they are read: they may ask for a layer, or not.
    """
    names = _first_layers(data)
    if isinstance(model, CnnModel):
        if not isinstance(data, ImagesData) and data.source not in _COLOURED:
            names.append("channel")
        for number in range(1, len(model.filters) + 1):
            name = f"convolution_{number}"
            names += [*_with_norm(model, name), f"{name}_relu", f"{name}_pool"]
    names.append("flatten")
    for number in range(1, len(model.hidden) + 1):
        name = f"dense_{number}"
        names += [*_with_norm(model, name), f"{name}_relu"]
        if model.dropout:
            names.append(f"{name}_dropout")
    if isinstance(model, CnnModel) and model.dropout and not model.hidden:
        names.append("dropout")
    return (*names, "outputs")


def _first_layers(data: DataSettings) -> list[str]:
    """What brings raw features to a scale that suits a model: ``trainer/models/scaling.py``."""
    if isinstance(data, KerasData) and data.target is Target.VALUES:
        return ["standardise"]
    return [] if data.source in _WORDS_AS_NUMBERS else ["pixels"]


def _with_norm(model: BuildableModel, name: str) -> tuple[str, ...]:
    return (name, f"{name}_norm") if model.batch_norm else (name,)


def _compiled(profile: Profile, place_count: int) -> list[Problem]:
    if not profile.training.jit_compile or place_count == 1:
        return []
    return [
        Problem(
            code="jit_compile_with_placed_layers",
            field="training.jit_compile",
            message="XLA compiles a step for one device: layers that are placed on others would "
            "work on that one, too.",
            hint="Switch XLA off, or use a strategy that keeps the model whole.",
            fix=Fix(
                label="Switch it off",
                changes=(Change(path=("training", "jit_compile"), value=False),),
            ),
        )
    ]


def _layers_missing(
    placement: Mapping[str, int], model: BuildableModel, data: DataSettings
) -> list[Problem]:
    names = placeable_layers(model, data)
    missing = [name for name in placement if name not in names]
    if not missing:
        return []
    return [
        Problem(
            code="placement_layer_missing",
            field="strategy.placement",
            message=f"The {model.source} has no layer {_quoted(missing)}; its layers: "
            f"{_quoted(list(names))}.",
            hint="Name layers of the model, or leave the placement to the trainer.",
            fix=_automatic(),
        )
    ]


def _beyond_devices(placement: Mapping[str, int], place_count: int) -> list[Problem]:
    beyond = [name for name, place in placement.items() if place >= place_count]
    if not beyond:
        return []
    devices = "is one logical device" if place_count == 1 else f"are {place_count} logical devices"
    return [
        Problem(
            code="placement_beyond_devices",
            field="strategy.placement",
            message=f"There {devices}, counted from 0, and beyond the last are placed: "
            f"{_quoted(beyond)}.",
            hint="Use smaller numbers, or switch more devices on.",
            fix=_automatic(),
        )
    ]


def _automatic() -> Fix:
    change = Change(path=("strategy", "placement"), value="auto")
    return Fix(label="Place automatically", changes=(change,))


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)

"""What can be chosen about a strategy beside what its settings declare, and what was chosen."""

from gpupanel.domain.choice import Choice
from gpupanel.domain.setting import settings_of
from gpupanel.domain.strategy import (
    AllReduce,
    OptimizerState,
    StrategyKind,
    StrategySettings,
)
from gpupanel.domain.task import Task
from gpupanel.planning.rules.inference_rules import INFERENCE_KINDS, NODE_INFERENCE_KINDS

BY_HAND = "by_hand"
"""Shares, quotas or a placement that a person gives."""
AUTO = "auto"
"""A placement that the trainer makes."""

KINDS = tuple(kind.choice for kind in StrategyKind)
RARE_KINDS = (StrategyKind.CENTRAL_STORAGE, StrategyKind.PARAMETER_SERVER)
"""The kinds that hardly anybody needs on one machine."""
SHARES = (
    Choice("equal", "Equal", "Every replica takes the same number of examples."),
    Choice(
        "balanced",
        "Balanced (measured)",
        "The speed of each replica is measured when the run starts, and sets its share.",
    ),
    Choice(BY_HAND, "By hand", "You set the number of examples of each replica."),
)
INFERENCE_SHARES = tuple(choice for choice in SHARES if choice.value != "balanced")
"""Shares without those that are measured first: only training goes on long enough."""
OPTIMIZER_STATES = (
    *(state.choice for state in OptimizerState),
    Choice(BY_HAND, "Divided by quotas", "You set how much each replica keeps, in proportion."),
)
PROGRAM_KINDS = (
    Choice(
        StrategyKind.ONE_DEVICE,
        "The program as it is",
        "It sees every chosen device, and uses of them what it is written for.",
    ),
    Choice(
        StrategyKind.MIRRORED,
        "A copy on each device, in Keras's fit",
        "Where the program calls fit of a Keras model, each device has a copy of the model and "
        "takes a part of each batch. Everything else runs as it is.",
    ),
)
"""What the kinds mean to a program of the person's own, which has no others."""
PLACEMENTS = (
    Choice(AUTO, "Automatic", "Balanced by parameters and activations when the run starts."),
    Choice(BY_HAND, "By hand", "You choose a device for each layer."),
)
ALL_REDUCE = {
    StrategyKind.MIRRORED: tuple(way.choice for way in AllReduce),
    StrategyKind.MULTI_WORKER: (
        Choice(
            AllReduce.AUTO,
            "Automatic",
            "A ring between the processes, over the host's memory; NCCL only if chosen by name.",
        ),
        AllReduce.NCCL.choice,
    ),
}
"""The ways to sum gradients, for each kind that has a choice."""

_KEYS = tuple(each for each in settings_of(StrategySettings) if each.name != "kind")


class KindKeys:
    """Remembers settings, so that what was typed comes back with the kind that it was for."""

    def __init__(self) -> None:
        self._last: dict[str, object] = {}

    def forget(self) -> None:
        """Nothing was chosen yet."""
        self._last.clear()

    def remember(self, settings: StrategySettings) -> None:
        """Keep what these settings say that means something to their kind."""
        for each in _KEYS:
            if each.applies_in(settings):
                self._last[each.name] = getattr(settings, each.name)

    def settings(self, kind: StrategyKind) -> StrategySettings:
        """The settings of a kind that was just chosen: nothing in them is for another one."""
        bare = StrategySettings(kind=kind)
        known = {
            each.name: self._last[each.name]
            for each in _KEYS
            if each.applies_in(bare) and each.name in self._last
        }
        if kind is StrategyKind.MULTI_WORKER and known.get("all_reduce") is not AllReduce.NCCL:
            known.pop("all_reduce", None)
        return StrategySettings.model_validate({"kind": kind, **known})


def kinds_of(task: Task, *, on_cluster: bool) -> tuple[Choice, ...]:
    """The kinds that a task can have, on this machine or on a cluster."""
    match task:
        case "train":
            return KINDS
        case "script":
            return PROGRAM_KINDS
        case "evaluate" | "predict":
            return _kinds_of_inference(on_cluster=on_cluster)


def _kinds_of_inference(*, on_cluster: bool) -> tuple[Choice, ...]:
    """The kinds that put a whole model on each device, of this machine or of a cluster."""
    kinds = NODE_INFERENCE_KINDS if on_cluster else INFERENCE_KINDS
    return tuple(kind.choice for kind in kinds)


def unoffered_label(kind: StrategyKind, *, on_cluster: bool) -> str:
    """How a kind is called that other tasks than training do not offer."""
    only = "one machine only" if on_cluster and kind in INFERENCE_KINDS else "training only"
    return f"{kind.label} ({only})"

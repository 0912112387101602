"""What can be chosen about a strategy, beside what the settings declare."""

from gpupanel.domain.choice import Choice
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.rules import inference_rules

BY_HAND = "by_hand"
"""Shares or a placement that a person gives."""
AUTO = "auto"
"""A placement that the trainer makes."""

KINDS = tuple(kind.choice for kind in StrategyKind)
LABELS = {kind: f"{kind.label} (training only)" for kind in StrategyKind}
"""How a kind is called where it is not offered."""
INFERENCE_KINDS = tuple(kind.choice for kind in inference_rules.INFERENCE_KINDS)
"""The kinds that put a whole model on each device."""

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
"""Only training goes on long enough to measure first."""
PLACEMENTS = (
    Choice(AUTO, "Automatic", "Balanced by parameters and activations when the run starts."),
    Choice(BY_HAND, "By hand", "You choose a device for each layer."),
)
ALL_REDUCE = {
    StrategyKind.MIRRORED: tuple(way.choice for way in AllReduce),
    StrategyKind.MULTI_WORKER: (
        Choice(
            AllReduce.AUTO, "Automatic", "Ring all-reduce between the processes, or NCCL on GPUs."
        ),
        AllReduce.NCCL.choice,
    ),
}
"""The ways to sum gradients, for each kind that has a choice."""

HAND_TIP = "Examples of each global batch per replica; they must sum to the global batch size."

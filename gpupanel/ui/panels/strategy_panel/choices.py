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
    Choice("equal", "Equal", "Every replica takes as many examples as the others."),
    Choice(
        "balanced",
        "Balanced (measured)",
        "What each replica can do is measured when the run starts, and the shares follow it.",
    ),
    Choice(BY_HAND, "By hand", "You give each replica its number of examples."),
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
        Choice(AllReduce.AUTO, "Automatic", "Over a ring of the processes, or by NCCL on GPUs."),
        AllReduce.NCCL.choice,
    ),
}
"""The ways to sum gradients, for each kind that has a choice."""

HAND_TIP = "Examples of each global batch per replica; they must sum to the global batch size."

"""What can be chosen about a strategy, in words."""

from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.planning.rules import inference_rules
from gpupanel.ui.widgets.choice_box import Choice

BY_HAND = "by_hand"
"""Shares or a placement that a person gives."""
AUTO = "auto"
"""A placement that the trainer makes."""

KINDS = (
    Choice(
        StrategyKind.ONE_DEVICE,
        "One device",
        "One GPU, or the CPU, takes every example: the reference that all others are compared "
        "with.",
    ),
    Choice(
        StrategyKind.MIRRORED,
        "Mirrored: all devices",
        "For several GPUs in one machine: each holds a copy of the model and takes a share of "
        "each batch.",
    ),
    Choice(
        StrategyKind.CENTRAL_STORAGE,
        "Central storage: weights on the host",
        "For devices without room to keep weights: they stay once, in the host's memory, and "
        "every device computes with them.",
    ),
    Choice(
        StrategyKind.MULTI_WORKER,
        "Multi-worker: several processes",
        "For a process of its own per GPU, each with its own memory settings: the same "
        "mathematics as mirrored.",
    ),
    Choice(
        StrategyKind.PARAMETER_SERVER,
        "Parameter server: asynchronous",
        "For devices that must never wait for each other: each worker takes whole batches at its "
        "own pace, and servers keep the weights.",
    ),
    Choice(
        StrategyKind.MODEL_PARALLEL,
        "Model parallel: layers on devices",
        "For a model that is too big for one GPU: its layers are placed on several, and each "
        "batch passes all of them.",
    ),
)
SENTENCES = {StrategyKind(choice.value): choice.tip for choice in KINDS}
"""What each kind is for."""

SHARES = (
    Choice("equal", "Equal", "Every replica takes as many examples as the others."),
    Choice(
        "balanced",
        "Balanced (measured)",
        "What each replica can do is measured when the run starts, and the shares follow it.",
    ),
    Choice(BY_HAND, "By hand", "You give each replica its number of examples."),
)
LABELS = {StrategyKind(choice.value): f"{choice.label} (training only)" for choice in KINDS}
"""How a kind is called where it is not offered."""
INFERENCE_KINDS = tuple(
    choice for choice in KINDS if choice.value in inference_rules.INFERENCE_KINDS
)
"""The kinds that put a whole model on each device."""
INFERENCE_SHARES = tuple(choice for choice in SHARES if choice.value != "balanced")
"""Only training goes on long enough to measure first."""
PLACEMENTS = (
    Choice(AUTO, "Automatic", "Balanced by parameters and activations when the run starts."),
    Choice(BY_HAND, "By hand", "You choose a device for each layer."),
)

_AUTO_REDUCE = Choice(AllReduce.AUTO, "Automatic", "NCCL on GPUs, where it can be used.")
_NCCL = Choice(AllReduce.NCCL, "NCCL", "NVIDIA's own library; the fastest between whole GPUs.")
ALL_REDUCE = {
    StrategyKind.MIRRORED: (
        _AUTO_REDUCE,
        _NCCL,
        Choice(
            AllReduce.HIERARCHICAL_COPY,
            "Hierarchical copy",
            "Copies between GPUs in a tree; also works where a GPU was split.",
        ),
        Choice(
            AllReduce.REDUCTION_TO_ONE_DEVICE,
            "Reduction to one device",
            "One device sums and sends the result back; simple, and works everywhere.",
        ),
    ),
    StrategyKind.MULTI_WORKER: (
        Choice(AllReduce.AUTO, "Automatic", "Over a ring of the processes, or by NCCL on GPUs."),
        _NCCL,
    ),
}
"""The ways to sum gradients, for each kind that has a choice."""

KIND_TIP = (
    "How several devices work together. A replica is one copy of the model; a worker is a process "
    "of its own."
)
SHARES_TIP = (
    "How each global batch is divided among the replicas. Shares need not be equal: a faster "
    "device can take more, and the result is the same, since gradients are summed over the whole "
    "batch."
)
HAND_TIP = "Examples of each global batch per replica; they must sum to the global batch size."
REDUCE_TIP = "How the gradients of all replicas are summed, which they do once in every step."
WORKERS_TIP = (
    "How many worker processes share the chosen devices, all on this machine and reachable from "
    "it only. Left to itself it is one for each GPU, or two on the CPU."
)
SERVERS_TIP = (
    "How many processes keep the weights. Several divide them among each other, so that no single "
    "one has to answer every worker."
)
PLACEMENT_TIP = (
    "Which device holds the weights of each layer and does its work. A layer without weights, "
    "such as an activation, works where the layer before it does."
)

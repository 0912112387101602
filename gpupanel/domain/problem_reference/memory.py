"""Memory."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Memory",
    "What TensorFlow would refuse late, or do silently; [memory explained](memory.md) has the "
    "rules.",
    {
        "memory_growth_differs": ProblemEntry(
            "Memory grows on some GPUs of a process and not on others.",
            "TensorFlow wants growth to be the same on all of them, and raises when devices "
            "initialise.",
            "Let every GPU grow, let none, or give each a process of its own.",
        ),
        "memory_limit_cancels_growth": ProblemEntry(
            "A limit on one GPU would end growth on the others.",
            "TensorFlow drops growth for every GPU as soon as one has a fixed size.",
            "Let the limit or the split grow (`growth = true`), or give each GPU a process of its "
            "own.",
        ),
        "memory_limit_above_total": ProblemEntry(
            "More memory is asked for than the GPU has.",
            "The limit, or the parts of a split, and the CUDA context do not fit.",
            "Lower the limit.",
        ),
        "memory_limit_above_free": ProblemEntry(
            "More memory is asked for than is free now.",
            "Other processes hold the rest, or the CUDA context does not fit beside the limit: "
            "TensorFlow says that it has all of it, and takes what it gets, in pieces.",
            "Lower the limit, or end what holds it: the device's card names it.",
        ),
        "gpu_nearly_full": ProblemEntry(
            "Next to nothing of a chosen GPU is free.",
            "Other processes hold it. TensorFlow also leaves 0.2 to 1.8 GiB to others where no "
            "limit is set.",
            "End what holds it: the device's card names it; or choose another device.",
        ),
        "limit_with_cuda_malloc_async": ProblemEntry(
            "A limit would not be kept.",
            "CUDA's own allocator enforces none.",
            "Use TensorFlow's allocator (`bfc`), or let these GPUs grow without a limit.",
        ),
        "memory_policy_of_absent_device": ProblemEntry(
            "A memory policy is for a GPU that is not here.",
            "The profile was made on another machine.",
            "Leave it for that machine, or remove it.",
        ),
        "memory_policy_of_cpu": ProblemEntry(
            "The CPU has a memory policy.",
            "TensorFlow can neither limit nor grow its memory.",
            "Remove this table.",
        ),
        "memory_policy_without_gpus": ProblemEntry(
            "A memory policy has no effect in this run.",
            "The run uses the CPU.",
            "Choose a GPU; logical devices of the CPU can stand in for parts of a split.",
        ),
        "nccl_with_split": ProblemEntry(
            "NCCL was chosen for a GPU that is split.",
            "NCCL sums between whole GPUs only.",
            "Let the strategy choose.",
        ),
        "data_left_on_host": ProblemEntry(
            "The examples are not copied to a GPU, but brought there step by step.",
            "All of them would take more than a quarter of what weights, gradients and optimizer "
            "leave of its memory.",
            "Nothing has to be done. Raise its memory limit where short steps are too slow.",
        ),
        "estimate_above_memory": ProblemEntry(
            "The training is estimated to take more memory than the device has room for.",
            "Activations grow with the examples that a replica takes at a time.",
            "Take fewer examples at a time (a smaller global batch, or accumulation), or a "
            "smaller model.",
        ),
        "step_above_memory": ProblemEntry(
            "The examples of one step alone are larger than the device's memory.",
            "Each replica holds all examples that it takes at a time.",
            "Use a smaller global batch, more accumulation steps, or smaller examples.",
        ),
        "model_above_memory": ProblemEntry(
            "The weights alone do not fit.",
            "Weights, gradients and what the optimizer keeps are counted for each copy.",
            "Use fewer or smaller layers, or divide the layers (`model_parallel`).",
        ),
        "data_above_memory": ProblemEntry(
            "All examples together are larger than the machine's memory.",
            "The cache is `memory`, and images are kept there decoded.",
            "Cache them on disk, or scale them to a smaller size.",
        ),
        "processes_above_memory": ProblemEntry(
            "The processes of the run do not fit into memory.",
            "Each takes what TensorFlow alone needs.",
            "Use fewer workers.",
        ),
        "processes_above_free_memory": ProblemEntry(
            "The processes of the run need more memory than is free now.",
            "Other programs hold the rest.",
            "Use fewer workers, or end what holds it.",
        ),
        "replicas_above_cores": ProblemEntry(
            "More replicas than logical processors share the CPU.",
            "They only wait for each other, and starting takes very long.",
            "Use as many as there are processors at most.",
        ),
        "out_of_memory": ProblemEntry(
            "A device had no memory left while it trained.",
            "The model with this batch needs more than the device has, or may take.",
            "Take one of the offers: half the examples at a time, mixed precision, other "
            "shares, another strategy.",
        ),
        "allocation_endless": ProblemEntry(
            "Others filled a GPU, and TensorFlow asked for memory there without end.",
            "Where nothing is left, its allocator does not come to an end, and says the same line "
            "of a log thousands of times in a second: the run was ended.",
            "End what else uses the GPU, or use another one; resume the run.",
        ),
        "host_out_of_memory": ProblemEntry(
            "The system killed a process of the run because the machine's memory was full.",
            "All processes together held more than there is.",
            'Use a smaller batch or model, `data.cache = "disk"`, or close other programs.',
        ),
    },
)

"""Why a training is slow."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Why a training is slow",
    "Found while it trains; [why is it slow](why-slow.md) explains them.",
    {
        "training_waits_for_data": ProblemEntry(
            "The devices wait for examples for much of the time.",
            "Reading and decoding take longer than computing.",
            "Cache the examples, make them smaller, or take what the fix proposes.",
        ),
        "batch_too_small": ProblemEntry(
            "The host takes longer to start a step than the device to compute it.",
            "The batch gives the device too little to do.",
            "Take a larger batch; the learning rate may have to be raised with it.",
        ),
        "straggler": ProblemEntry(
            "One replica is slower, and the others wait for it.",
            "Shares are not what each device can do.",
            "Balance the shares.",
        ),
        "exchange_bound": ProblemEntry(
            "Exchanging gradients takes much of the time.",
            "A batch is computed too soon for it.",
            "Take a larger batch, or more accumulation steps.",
        ),
        "slow_pcie_link": ProblemEntry(
            "A GPU is connected by few lanes or an old generation of PCI Express.",
            "The card is not seated well, or the slot is slow.",
            "Seat it again, or use the slot next to the processor.",
        ),
        "thermal_throttling": ProblemEntry(
            "A GPU slows itself down because it is too hot.",
            "Fans are dirty, or there is too little air.",
            "Clean them, give it more air, or lower its power limit.",
        ),
        "power_throttling": ProblemEntry(
            "A GPU slows itself down because of its power.",
            "The power supply gives too little, or the power limit is low.",
            "Examine cables and supply; or raise the limit with `nvidia-smi --power-limit`.",
        ),
        "other_process_on_gpu": ProblemEntry(
            "Another process uses the GPU.",
            "Kernels of several processes take turns.",
            "Let it end first, or train on another device.",
        ),
        "other_process_on_cpu": ProblemEntry(
            "Other programs take much of the processor.",
            "The training takes what is left.",
            "Let them end first, or start them with `nice`.",
        ),
        "swap_growing": ProblemEntry(
            "The machine's memory is full, and swap grows.",
            "Programs hold more than there is.",
            "Close some, or let the training hold less.",
        ),
        "cpu_quota": ProblemEntry(
            "A quota of the control group holds the run back.",
            "A container, service or Slurm job allows it fewer processors.",
            "Raise the quota where it is set.",
        ),
        "growth_fragmentation": ProblemEntry(
            "TensorFlow holds much more GPU memory than was ever in use at once.",
            "It grew in pieces.",
            "Give it a limit from the beginning, or let CUDA's allocator put pieces together.",
        ),
        "mixed_precision_helps": ProblemEntry(
            "The GPUs compute twice as fast with bfloat16.",
            "The training computes with float32 nearly all of its time.",
            "Switch mixed precision on.",
        ),
        "xla_helps": ProblemEntry(
            "The same training was faster with XLA on these devices.",
            "They were compared.",
            "Switch XLA on: the first steps take longer.",
        ),
    },
)

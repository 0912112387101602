"""Devices."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Devices",
    "What keeps a chosen device from being used.",
    {
        "device_not_found": ProblemEntry(
            "The profile names a GPU that is not in this machine.",
            "It was made on another machine, or the GPU was taken out.",
            "Choose among those that are here: the nearest one is offered as a fix.",
        ),
        "device_lost": ProblemEntry(
            "A GPU stopped answering.",
            "It fell off the bus, or its driver went away: heat, power or a loose card do this. "
            "The message has what the driver said.",
            "Switch it off in the session; restarting the machine usually brings it back.",
        ),
        "device_not_answering": ProblemEntry(
            "The driver counts a GPU that has not answered since it was first asked.",
            "Its power cable is missing, it fell off the bus, or its driver waits for it. The "
            "message has what the driver said.",
            "Do what the hint says, or choose the other devices.",
        ),
        "gpus_not_allocated": ProblemEntry(
            "The profile names GPUs, and the job of a batch system was given none.",
            "Nobody asked for any, or `CUDA_VISIBLE_DEVICES` names none that the driver lists.",
            "Ask the batch system for them: of Slurm by `#SBATCH --gres=gpu:N`.",
        ),
        "gpus_allocated_otherwise": ProblemEntry(
            "The job of a batch system has another number of GPUs than the profile names.",
            "More or fewer were asked for. All are used, and given shares become equal ones.",
            "Nothing, or ask for as many as the profile names.",
        ),
        "gpus_hidden_by_shell": ProblemEntry(
            "The profile names no device, and `CUDA_VISIBLE_DEVICES` leaves some of the GPUs.",
            "Somebody set it in the shell, or the batch system for a job. It is read as CUDA reads "
            "it: up to the first entry that names no GPU, and none at all where one is named "
            "twice. A job of Slurm that asked for no GPU has none, without a variable.",
            "Nothing, where it was meant. Name the devices in the profile to train on others.",
        ),
        "shell_numbers_not_sure": ProblemEntry(
            "`CUDA_VISIBLE_DEVICES` has numbers, and which GPUs they mean is not sure.",
            "Numbers count by the PCI bus here, as `nvidia-smi` shows them. CUDA counts the "
            "fastest GPU first unless `CUDA_DEVICE_ORDER` says otherwise.",
            "Set `CUDA_DEVICE_ORDER=PCI_BUS_ID`, or name GPUs by their UUID.",
        ),
        "profile_overrules_shell": ProblemEntry(
            "The profile names GPUs that `CUDA_VISIBLE_DEVICES` leaves out, or that Slurm has not "
            "given to this job.",
            "What a profile names counts for more than a variable of the shell.",
            "Nothing, where it was meant; else take the devices out of the profile. In a job of "
            "Slurm ask for GPUs, and train with `--allocated`.",
        ),
        "shell_variables_not_used": ProblemEntry(
            "The shell sets variables that a run begins without.",
            "They would change what was chosen in the profile; each has its reason in the hint.",
            "Nothing. What is to hold for a run is set in its profile.",
        ),
        "shell_variables_obeyed": ProblemEntry(
            "The shell sets variables that change how a run calculates, or how fast.",
            "TensorFlow, XLA, CUDA or NCCL read them; each has its reason in the hint.",
            "Nothing, where it was meant; the command starts gpupanel without.",
        ),
        "gpu_compute_prohibited": ProblemEntry(
            "No process may compute on a GPU.",
            "Somebody has set its compute mode to *prohibited*, as for a card that only drives "
            "displays. Of a profile that names no device such a GPU is left out.",
            "Use another GPU; the command, as administrator, lets processes compute on it.",
        ),
        "gpu_held_exclusively": ProblemEntry(
            "A GPU takes one process at a time, and another process has it now.",
            "Its compute mode is *exclusive process*. A run that starts meanwhile fails as soon as "
            "it uses the GPU; a run of the queue waits.",
            "Use another GPU, or wait until the process has ended.",
        ),
        "devices_mixed": ProblemEntry(
            "The CPU and GPUs are chosen together.",
            "Replicas have to be of one kind.",
            "Switch the CPU off; it feeds the GPUs in any case.",
        ),
        "devices_unused": ProblemEntry(
            "Chosen devices will idle.",
            "The strategy uses fewer than were chosen: one device, or a GPU for each worker.",
            "Use all of them with another strategy, or switch the others off.",
        ),
        "gpu_partitioned": ProblemEntry(
            "A GPU is in MIG mode.",
            "Then only its instances can compute, not the GPU itself.",
            "Choose an instance, or switch MIG mode off.",
        ),
        "mig_instance_not_alone": ProblemEntry(
            "Several devices, one of them a MIG instance, would share a process.",
            "CUDA shows a process one MIG instance and nothing else.",
            "Give each a process of its own (`multi_worker`), or use one of them.",
        ),
        "gpu_not_usable": ProblemEntry(
            "TensorFlow cannot use a GPU that the session has chosen.",
            "The message names what the doctor found: driver, libraries or the build.",
            "Run the command that is shown, or train on the CPU.",
        ),
        "gpu_support_unknown": ProblemEntry(
            "Whether TensorFlow can use the GPUs is not known.",
            "The process that asks TensorFlow did not answer.",
            "Open the doctor, or start: a run says so, too.",
        ),
        "gpu_not_in_tensorflow_build": ProblemEntry(
            "This TensorFlow was not built for that GPU.",
            "Its compute capability is older than the oldest that the build has kernels for.",
            "Switch the GPU off, or install a TensorFlow that was built for it.",
        ),
        "kernels_compiled_at_start": ProblemEntry(
            "The driver compiles TensorFlow's kernels when they are first used.",
            "The build has no machine code for this GPU, only code that is compiled for it.",
            "Wait: the first start may take up to half an hour, the next ones use what was "
            "compiled.",
        ),
        "device_is_another": ProblemEntry(
            "TensorFlow's device is not the GPU that the plan means.",
            "The order of GPUs or CUDA_VISIBLE_DEVICES changed after the plan was made.",
            "Start the profile again, so that a new plan is made.",
        ),
        "device_not_seen_by_tensorflow": ProblemEntry(
            "TensorFlow does not list a GPU of the plan.",
            "It was not built for it, or a driver or CUDA library is missing.",
            "Run the doctor, which names what is missing.",
        ),
        "devices_not_configured": ProblemEntry(
            "TensorFlow refused memory growth, limits or logical devices, or a GPU.",
            "The combination is one that this version does not allow, or the GPU takes no other "
            "process.",
            "Choose other memory settings, or growth on every GPU; or another GPU.",
        ),
        "logical_device_missing": ProblemEntry(
            "TensorFlow made fewer logical devices than planned.",
            "The machine is another one than the plan was made for.",
            "Start the profile again, so that a new plan is made.",
        ),
    },
)

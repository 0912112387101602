"""Names of environment variables by which a supervisor says to a process of a run who it is."""

SUPERVISOR_PID_VARIABLE = "GPUPANEL_SUPERVISOR_PID"
"""The process compares this with its parent: when they differ it is alone."""

RUN_VARIABLE = "GPUPANEL_RUN"
"""The directory of the run. Whatever a process of the run starts inherits it, however far away it
goes from its parent, and is known by it."""

PROCESS_VARIABLE = "GPUPANEL_PROCESS"
"""The place of the process in the plan's gang; not set: 0."""

NETWORK_VARIABLE = "GPUPANEL_NETWORK"
"""Descriptors of the user and the network namespace of the run, ``USER,NETWORK``: the process
enters them before it does anything else but download. Not set: the run has none of its own."""

LISTEN_VARIABLE = "GPUPANEL_LISTEN"
"""The address on which the process's server listens for others of its run on other nodes of a
cluster. Not set: loopback."""

NODE_VARIABLE = "GPUPANEL_NODE"
"""The node of a cluster that the process is on: its events have a file of their own, which the
supervisor takes them from. Not set: it appends them to those of the run."""

CHECKED_VARIABLE = "GPUPANEL_CHECKED"
"""The digests of the run's files as they were checked, a
:class:`~gpupanel.domain.checked_files.CheckedFiles` as JSON: the process uses nothing else of
these files. Not set: nobody has checked them, and the process executes no code of a person's."""

NETWORK_READY = "ready"
"""What the process says that made a network and keeps it for its supervisor."""

PLANNED_VARIABLES = frozenset(
    {
        "CUDA_DEVICE_ORDER",
        "CUDA_VISIBLE_DEVICES",
        "NCCL_P2P_DISABLE",
        "TF_DETERMINISTIC_OPS",
        "TF_DEVICE_MIN_SYS_MEMORY_IN_MB",
        "TF_FORCE_GPU_ALLOW_GROWTH",
        "TF_GPU_ALLOCATOR",
        "TF_MIN_GPU_MULTIPROCESSOR_COUNT",
    }
)
"""What a plan may set for the processes of a run. Others could make a process load code: a run's
directory may have come from somebody else."""

PORT_TAKEN_STATUS = 75
"""A process ends with this exit status, and without a word, when another program has taken the
port that it was given meanwhile; its supervisor then tries other ports. (``EX_TEMPFAIL`` of
``sysexits.h``; no other end has it.)"""

NO_SPACE_STATUS = 74
"""A process ends with this exit status when the disk was too full for its last word.
(``EX_IOERR`` of ``sysexits.h``; no other end has it.)"""

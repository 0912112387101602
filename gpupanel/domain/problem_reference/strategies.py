"""Strategies and shares."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Strategies and shares",
    "How the work is divided; [strategies explained](strategies.md) says when to use which.",
    {
        "accumulation_above_share": ProblemEntry(
            "A replica's share is smaller than the number of micro-batches.",
            "Each micro-batch needs one example at least.",
            "Use fewer accumulation steps, or a larger global batch.",
        ),
        "accumulation_traced_slowly": ProblemEntry(
            "The first step will take minutes.",
            "TensorFlow traces each of the micro-batches by itself.",
            "Use fewer accumulation steps.",
        ),
        "accumulation_with_batch_norm": ProblemEntry(
            "The result differs from that without accumulation, and depends on the shares.",
            "Batch normalisation sees one micro-batch at a time: which examples these are follows "
            "from the shares and from the accumulation steps.",
            "Use fewer accumulation steps, or leave batch normalisation out.",
        ),
        "all_reduce_unused": ProblemEntry(
            "A way of summing gradients was chosen that has no effect.",
            "The strategy or its number of replicas sums nothing, or in its own way.",
            "Let the strategy choose.",
        ),
        "hierarchical_copy_of_odd_replicas": ProblemEntry(
            "Hierarchical copy was chosen for an odd number of replicas.",
            "TensorFlow's would leave out the last one's gradients.",
            "Let the strategy choose, or use another number of replicas.",
        ),
        "nccl_without_gpus": ProblemEntry(
            "NCCL was chosen for a run on the CPU.",
            "It sums between NVIDIA GPUs only.",
            "Let the strategy choose.",
        ),
        "nccl_missing": ProblemEntry(
            "NCCL was chosen, and TensorFlow does not find it.",
            "Its library `libnccl.so.2` is not installed where TensorFlow looks for it.",
            "Run the command that is shown, or let the strategy choose.",
        ),
        "nccl_failed": ProblemEntry(
            "NCCL failed while it summed the gradients.",
            "GPUs or processes could not reach each other, or in a container there is too little "
            "shared memory (`/dev/shm`).",
            "Let the strategy sum in another way; `NCCL_DEBUG=WARN` has NCCL say more in the log.",
        ),
        "summed_without_nccl": ProblemEntry(
            "Gradients are summed without NCCL, which is missing.",
            "TensorFlow does not find its library `libnccl.so.2`. A mirrored run sums by "
            "hierarchical copy, or on one device over an odd number of replicas.",
            "Nothing; for speed run the command that is shown.",
        ),
        "nccl_with_mig": ProblemEntry(
            "NCCL was chosen for several MIG instances of one GPU.",
            "NCCL cannot sum over them.",
            "Let the strategy choose: workers sum over a ring then.",
        ),
        "nccl_cannot_be_used": ProblemEntry(
            "NCCL cannot sum over the devices of this run.",
            "They are not whole GPUs, each with one replica.",
            'Set `strategy.all_reduce` to `"auto"` or `"hierarchical_copy"`.',
        ),
        "batch_smaller_than_replicas": ProblemEntry(
            "A global batch has fewer examples than there are replicas.",
            "Each replica takes a share of it.",
            "Use a larger global batch, or fewer replicas.",
        ),
        "replica_without_share": ProblemEntry(
            "A replica has a share of 0.",
            "It was given none by hand, or equal shares of a small batch leave none for it.",
            "Give it examples, or leave its device out.",
        ),
        "shares_do_not_fit": ProblemEntry(
            "The shares do not fit the replicas or the batch.",
            "There has to be one number for each replica, and their sum has to be the global "
            "batch.",
            'Take the shares that the fix proposes, or `"equal"`.',
        ),
        "shares_unused": ProblemEntry(
            "Shares have no effect with this strategy.",
            "It gives whole batches by turns, or divides layers, or has one replica.",
            'Set them to `"equal"`.',
        ),
        "single_replica": ProblemEntry(
            "The strategy has one replica only.",
            "One logical device is chosen: the same as `one_device`.",
            "Switch more devices on, or use `one_device`.",
        ),
        "single_worker": ProblemEntry(
            "There is one worker only.",
            "Alone it does what a strategy of one process does.",
            "Use more workers, or that strategy.",
        ),
        "strategy_key_unused": ProblemEntry(
            "A key has no effect with this strategy.",
            "It belongs to another one.",
            "Remove it, or choose a strategy that uses it.",
        ),
        "strategy_not_available": ProblemEntry(
            "The trainer has no such strategy.",
            "The plan of the run was changed by hand, or a newer gpupanel made it.",
            "Start the profile again.",
        ),
        "strategy_not_for_inference": ProblemEntry(
            "Only training can use this strategy.",
            "Evaluating and predicting put the whole model on each device, in one process.",
            "Use `mirrored` for several devices, `one_device` for one, or `multi_worker` on the "
            "nodes of a cluster.",
        ),
        "more_workers_than_gpus": ProblemEntry(
            "There are more workers than chosen GPUs.",
            "Each worker needs a GPU of its own.",
            "Use fewer workers, or switch more GPUs on.",
        ),
        "workers_do_not_divide_gpus": ProblemEntry(
            "The GPUs cannot be divided among the workers.",
            "TensorFlow wants equally many in each.",
            "Use one worker for each GPU, or switch a GPU off.",
        ),
        "workers_have_unequal_devices": ProblemEntry(
            "Workers would have different numbers of logical devices.",
            "GPUs are split into different numbers of parts.",
            "Split every GPU into the same number, or none.",
        ),
        "split_parts_unused": ProblemEntry(
            "Only the first part of a split GPU works.",
            "Each worker trains on one logical device.",
            "Let the GPU grow without a split, or choose a strategy that uses every part.",
        ),
        "placement_beyond_devices": ProblemEntry(
            "A layer is placed on a device that there is not.",
            "Devices are counted from 0.",
            "Use smaller numbers, or switch more devices on.",
        ),
        "placement_layer_missing": ProblemEntry(
            "A layer is placed that the model does not have.",
            "It is mistyped, or the model has changed.",
            'Name layers of the model, or leave the placement to the trainer (`"auto"`).',
        ),
        "model_not_divided": ProblemEntry(
            "The layers of this model cannot be placed on several devices.",
            "They are built before anything could place them.",
            "Use a strategy that keeps the model whole, such as `mirrored`.",
        ),
        "python_model_not_divided": ProblemEntry(
            "The layers of a model of your own code cannot be placed on several devices.",
            "`build_model` builds them before anything could place them.",
            "Use a strategy that keeps the model whole, such as `mirrored`.",
        ),
        "jit_compile_with_placed_layers": ProblemEntry(
            "XLA and layers on several devices do not go together.",
            "XLA compiles a step for one device, and all layers would work there.",
            "Switch XLA off, or use a strategy that keeps the model whole.",
        ),
        "jit_compile_with_batch_norm": ProblemEntry(
            "XLA cannot compile this batch normalisation.",
            "Its statistics are taken over several replicas.",
            "Switch XLA off, or let each replica normalise by its own part "
            "(`model.batch_norm_synchronized = false`).",
        ),
        "port_open_to_other_users": ProblemEntry(
            "Other users of this machine could reach the run's processes.",
            "They talk over ports that ask nobody who they are, and the system refuses the run "
            "a network of its own.",
            "Use a strategy of one process, or have an administrator permit user and network "
            "namespaces.",
        ),
        "network_not_entered": ProblemEntry(
            "A process could not enter the network that was made for the run.",
            "The system refused it, so the process did not continue.",
            "Start again, or use a strategy of one process.",
        ),
        "nodes_need_workers": ProblemEntry(
            "Several nodes of a cluster were asked for, and the profile uses one.",
            "Only `multi_worker`, and for a training `parameter_server`, uses several.",
            "Set `strategy.kind` to one of them, or ask for one node.",
        ),
        "nodes_idle": ProblemEntry(
            "A run has fewer processes than its job has nodes.",
            "`strategy.workers` says how many there are.",
            "Leave `strategy.workers` out, or ask for fewer nodes.",
        ),
        "nodes_not_known": ProblemEntry(
            "The nodes of a job did not answer what they have.",
            "Slurm's commands failed, or gpupanel is not at the same path on every node.",
            "Put it where every node sees it, and start the job again.",
        ),
        "ports_open_between_nodes": ProblemEntry(
            "Processes on several nodes communicate over ports that ask nobody who they are.",
            "TensorFlow's servers have no authentication, and other nodes have to reach them.",
            "Use it on a cluster whose users you trust, or train on one node.",
        ),
        "not_on_loopback": ProblemEntry(
            "TensorFlow's server would have been open to the network, so the run did not continue.",
            "The port did not listen on 127.0.0.1 alone.",
            "Use a strategy of one process, such as `mirrored`.",
        ),
        "port_taken": ProblemEntry(
            "Another program has taken a port of the run.",
            "It began to listen between planning and starting.",
            "Start again; other ports are chosen.",
        ),
    },
)

"""Measured before a run."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Measured before a run",
    "Batches that fit, learning rates, the self-test, comparisons and traces.",
    {
        "fit_batch_without_training": ProblemEntry(
            "The profile has no batch to be found.",
            "It trains nothing.",
            "Name a profile whose task is train.",
        ),
        "fit_batch_without_plan": ProblemEntry(
            "No batch can be tried.",
            "The profile cannot be planned on this machine.",
            "Solve the problems that `gpupanel check` reports first.",
        ),
        "fit_batch_layers_placed": ProblemEntry(
            "No device can be tried by itself.",
            "The layers of the model are on several devices.",
            "Start with a small batch, and double it while a run fits.",
        ),
        "fit_batch_no_room": ProblemEntry(
            "Too little memory is free to try anything.",
            "Another process holds it, or the limit is low.",
            "End what uses it, or raise the limit.",
        ),
        "fit_batch_nothing_fits": ProblemEntry(
            "Not even one example at a time fits.",
            "The model, or one example, is too large.",
            "Use a smaller one, mixed precision, or end what else uses the memory.",
        ),
        "fit_batch_disturbed": ProblemEntry(
            "Another process took memory that was free.",
            "So nothing could be tried there.",
            "Try again when it has ended.",
        ),
        "fit_batch_too_slow": ProblemEntry(
            "Nothing could be tried in time.",
            "A step takes longer than that.",
            "Give it more time: `gpupanel fit-batch PROFILE --seconds 600`.",
        ),
        "fit_batch_with_all_weights": ProblemEntry(
            "Somewhat more may fit than was found.",
            "Each device was tried with what this strategy keeps in the host's memory.",
            "Nothing.",
        ),
        "fit_batch_not_started": ProblemEntry(
            "The process that tries batches could not be started.",
            "The installation is damaged, or the system has no room for a process.",
            "Repair the installation; the detail has the system's answer.",
        ),
        "fit_batch_died": ProblemEntry(
            "The process that tries batches ended.",
            "The model alone may need more memory than there is.",
            "Use a smaller one; the detail has the last words.",
        ),
        "fit_batch_unreadable": ProblemEntry(
            "The process that tries batches gave an answer that cannot be read.",
            "This is a defect of gpupanel.",
            "Report it with the detail.",
        ),
        "rate_range_without_training": ProblemEntry(
            "The profile has no learning rate.",
            "It trains nothing.",
            "Name a profile whose task is train.",
        ),
        "rate_range_not_started": ProblemEntry(
            "The process that tries learning rates could not be started.",
            "The installation is damaged, or the system has no room for a process.",
            "Repair the installation; the detail has the system's answer.",
        ),
        "rate_range_too_slow": ProblemEntry(
            "Trying learning rates took too long.",
            "Examples, or the batch, are large.",
            "Try it with fewer or smaller examples, or a smaller global batch.",
        ),
        "rate_range_died": ProblemEntry(
            "The process that tries learning rates ended.",
            "It may have run out of memory.",
            "Use a smaller model or batch; the detail has the last words.",
        ),
        "rate_range_unreadable": ProblemEntry(
            "The process that tries learning rates gave an answer that cannot be read.",
            "This is a defect of gpupanel.",
            "Report it with the detail.",
        ),
        "self_test_all_reduce": ProblemEntry(
            "A sum over devices is wrong, or never answers.",
            "The way that gradients are summed does not work between these devices.",
            "Take a fix: another all-reduce, no peer-to-peer, or a device less.",
        ),
        "self_test_memory": ProblemEntry(
            "A pattern in a device's memory came back changed, or the test failed.",
            "The memory, or the device, is faulty.",
            "Leave the device out, and have it examined.",
        ),
        "self_test_transfer": ProblemEntry(
            "Copying between host and device gives wrong values, or does not answer.",
            "The device, its slot or its link is faulty.",
            "Leave the device out, and have it examined.",
        ),
        "self_test_pair_transfer": ProblemEntry(
            "Copying between two devices gives wrong values, or does not answer.",
            "Peer-to-peer does not work between them.",
            "Leave a device out, or set `[strategy] peer_to_peer = false`.",
        ),
        "self_test_step": ProblemEntry(
            "A training step on a device differs from the CPU's.",
            "The device calculates wrongly, or a library does.",
            "Leave the device out, and have it examined.",
        ),
        "self_test_without_plan": ProblemEntry(
            "Nothing can be tested.",
            "The profile cannot be planned on this machine.",
            "Solve the problems that `gpupanel check` reports first.",
        ),
        "self_test_without_room": ProblemEntry(
            "Too little memory is free to test a device.",
            "Another process holds it.",
            "End it, or wait until a run has ended.",
        ),
        "self_test_not_started": ProblemEntry(
            "The process that tests devices could not be started.",
            "The installation is damaged, or the system has no room for a process.",
            "Repair the installation; the detail has the system's answer.",
        ),
        "self_test_never_ready": ProblemEntry(
            "TensorFlow did not get its devices in time.",
            "The machine is busy, or the driver hangs.",
            "Test again later; the doctor shows whether driver and TensorFlow fit together.",
        ),
        "self_test_died": ProblemEntry(
            "The process that tests devices ended without having tested them.",
            "A library or the driver ended it.",
            "Test again; the detail has its last words.",
        ),
        "bench_without_training": ProblemEntry(
            "Devices are compared by training steps, and the profile has none.",
            "It trains nothing.",
            "Name a profile whose task is train.",
        ),
        "bench_on_cluster": ProblemEntry(
            "The devices of one machine are compared, not those of a cluster.",
            "The profile has `[cluster]`.",
            "Set `strategy.shares` to `balanced`, which measures in training, or remove "
            "`[cluster]`.",
        ),
        "bench_without_device": ProblemEntry(
            "This machine has none of the devices that the profile names.",
            "It was made on another machine.",
            "Choose devices that are here.",
        ),
        "bench_not_planned": ProblemEntry(
            "A candidate cannot be planned on this machine.",
            "`gpupanel check` says why.",
            "Solve what it reports.",
        ),
        "bench_too_many": ProblemEntry(
            "There are more candidates than are compared.",
            "The machine has very many devices.",
            "Choose fewer devices.",
        ),
        "bench_no_steps": ProblemEntry(
            "A candidate made no steps that could be measured.",
            "Its run failed, or did not start in time.",
            "Train with it once: what keeps it is reported there.",
        ),
        "bench_device_in_use": ProblemEntry(
            "A run uses a device that is to be compared.",
            "Both would be slower, and the speed would be wrong.",
            "Compare when it has ended.",
        ),
        "bench_queue_waits": ProblemEntry(
            "The queue may start a run on the same devices.",
            "An entry waits for them.",
            "Compare when the queue is empty, or pause it.",
        ),
        "bench_goes_on": ProblemEntry(
            "Devices are being compared already.",
            "Only one comparison at a time gives right speeds.",
            "Wait for its end, or cancel it where it was started.",
        ),
        "bench_not_measured": ProblemEntry(
            "Nothing is remembered for this training on this machine.",
            "It was not compared, or driver, TensorFlow or the training changed.",
            "`gpupanel bench PROFILE` without `--remembered` measures it.",
        ),
        "trace_of_ended_run": ProblemEntry(
            "A run does not run, so no steps can be traced.",
            "Only steps that are done now can be.",
            "Start or resume it, then take the trace.",
        ),
        "trace_run_ended": ProblemEntry(
            "A run ended before its steps were traced.",
            "It was near its end.",
            "Train for longer, and take the trace earlier.",
        ),
        "trace_without_steps": ProblemEntry(
            "A run does no training steps.",
            "Only runs whose task is train do.",
            "Trace a training.",
        ),
        "trace_without_process": ProblemEntry(
            "A run has no such worker.",
            "Its number is too high.",
            "Name one of those that it has.",
        ),
        "trace_goes_on": ProblemEntry(
            "A trace was asked for already.",
            "It is not finished: steps before the first one take time.",
            "Wait until it is.",
        ),
        "trace_not_written": ProblemEntry(
            "A trace could not be written.",
            "The disk is full, or the folder may not be written.",
            "The training continues; free some space.",
        ),
        "not_traced": ProblemEntry(
            "TensorFlow's profiler could not trace the training, which continues.",
            "Another profiler is at work, or the disk is full.",
            "The detail has its own words.",
        ),
        "trace_gone": ProblemEntry(
            "A trace of a run is gone.",
            "Its folder was deleted.",
            "Take another one while the run trains.",
        ),
        "trace_empty": ProblemEntry(
            "A trace holds no operation.",
            "The profiler saw none, or its file is gone.",
            "Take another one of more steps.",
        ),
        "gpus_not_traced": ProblemEntry(
            "A trace holds nothing of the GPUs: what is listed is the work of the host.",
            "TensorFlow does not find CUPTI, by which its profiler traces GPUs, or the driver lets "
            "administrators profile only.",
            "Run the command that is shown, or start gpupanel as an administrator.",
        ),
        "trace_damaged": ProblemEntry(
            "A trace cannot be read.",
            "Its file is damaged; a full disk does this.",
            "Take another one.",
        ),
        "trace_not_started": ProblemEntry(
            "The process that reads a trace could not be started.",
            "The installation is damaged, or the system has no room for a process.",
            "Repair the installation; the detail has the system's answer.",
        ),
        "trace_too_slow": ProblemEntry(
            "Reading a trace took too long.",
            "It has very many operations.",
            "Take one of fewer steps.",
        ),
        "trace_died": ProblemEntry(
            "The process that reads a trace ended.",
            "It may have run out of memory.",
            "Take one of fewer steps; the detail has the last words.",
        ),
        "trace_unreadable": ProblemEntry(
            "The process that reads a trace gave an answer that cannot be read.",
            "This is a defect of gpupanel.",
            "Report it with the detail.",
        ),
    },
)

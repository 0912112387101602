"""Runs."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Runs",
    "What ends a run, and what is said about one that has ended; [runs that survive](runs.md) "
    "has the rules.",
    {
        "run_name_unusable": ProblemEntry(
            "No run can have the name that `--run-name` gives it.",
            "A folder has it: letters A to Z, numbers, dots, dashes and underscores.",
            "Choose another name.",
        ),
        "run_name_taken": ProblemEntry(
            "A folder of the name that `--run-name` gives is there, and is not a run.",
            "Somebody keeps something else there.",
            "Give the run another name, or name another folder of runs.",
        ),
        "trainer_not_started": ProblemEntry(
            "The training process could not be started.",
            "The run's folder cannot be read, or the system refused the process.",
            "Run `gpupanel doctor`; if it finds nothing, install gpupanel again.",
        ),
        "trainer_crashed": ProblemEntry(
            "The training ended with an error that nobody expected.",
            "The details show where.",
            "Report it with the details, unless they name your own code.",
        ),
        "run_not_changed": ProblemEntry(
            "A run was to be changed before its next start, and could not be.",
            "Its disk is full, or may not be written: less memory at a time, or other GPUs, are "
            "written into its profile and plan first.",
            "Make room, and resume the run.",
        ),
        "cuda_library_not_initialized": ProblemEntry(
            "TensorFlow could not initialize a library of CUDA, such as cuDNN, on a GPU.",
            "It cannot be loaded, is older than the one that TensorFlow was built with, or finds "
            "no memory left on the GPU. TensorFlow says of cuDNN: *DNN library initialization "
            "failed*.",
            "Read what the log says of it; see what `gpupanel doctor` finds. Where memory is "
            "short, let it grow, or set a lower limit.",
        ),
        "trainer_vanished": ProblemEntry(
            "A process of the run ended without giving a reason.",
            "A library ended it.",
            "Check the last lines of its log, and resume the run.",
        ),
        "trainer_killed": ProblemEntry(
            "A process of the run was killed by a signal.",
            "Somebody did so, or the system ran out of memory (SIGKILL), or a library crashed "
            "(SIGSEGV).",
            "Use less memory, or run `gpupanel doctor`; then resume the run.",
        ),
        "process_never_began": ProblemEntry(
            "A process of the run was started and never began to work.",
            "A broken installation, or an unreachable disk.",
            "Check its log, and resume the run.",
        ),
        "process_frozen": ProblemEntry(
            "A process of the run is frozen.",
            "It was stopped (SIGSTOP), or a driver or the machine hung.",
            "Find out what suspended it, and resume the run.",
        ),
        "peer_lost": ProblemEntry(
            "A process could not continue because another one ended.",
            "The message of the other one says why.",
            "Read the logs of the others, and resume the run.",
        ),
        "machine_slept": ProblemEntry(
            "The machine slept during a run, or its clock was set forward.",
            "A laptop was closed, or somebody, or a time server, corrected the clock.",
            "Nothing: the time is left out of durations and curves.",
        ),
        "processor_time_limited": ProblemEntry(
            "The system ended a process of the run for the processor time that it has used.",
            "The shell that started the run limits it (`ulimit -t`).",
            "Start from a shell without that limit: `ulimit -t unlimited`.",
        ),
        "process_count_limited": ProblemEntry(
            "The system gave a process of the run no further thread.",
            "As many processes and threads run as this user may have (`ulimit -u`).",
            "End other programs, or raise the limit.",
        ),
        "no_first_step": ProblemEntry(
            "The trainer made no first step in time.",
            "It waited for a disk, the driver or another process; one that uses the processor is "
            "given an hour, and one for whose GPU the driver compiles kernels four.",
            "Read the last lines of its log; `gpupanel doctor` checks driver and libraries, and "
            "`gpupanel selftest` finds GPUs whose sums never end.",
        ),
        "first_step_takes_long": ProblemEntry(
            "No step was made yet, and the run still waits.",
            "The driver compiles TensorFlow's kernels for a GPU that the build has no machine code "
            "for, or the processor is at work.",
            "Nothing: it takes half an hour or longer once. What was compiled is kept where "
            "`CUDA_CACHE_MAXSIZE` allows it.",
        ),
        "gpu_lost": ProblemEntry(
            "A GPU was lost in the middle of the run.",
            "The driver reports that it does not answer: it fell off the bus (Xid 79), or needs a "
            "reset. Heat, power or a loose card do this.",
            "Resume the run on the other devices, which is offered as a fix; restarting the "
            "machine usually brings the GPU back. With `training.max_restarts` a run continues on "
            "the others by itself.",
        ),
        "gpu_failed": ProblemEntry(
            "CUDA gave up on a GPU in the middle of the run, and the driver still reaches it.",
            "An operation of the model, the driver or the card itself is at fault.",
            "Resume the run. If it fails again, test the GPU with `gpupanel selftest`, and see "
            "what the kernel's log says (`dmesg | grep -i xid`).",
        ),
        "trainer_not_killable": ProblemEntry(
            "A process of the run was killed and does not end.",
            "It waits in the kernel, as a rule for a driver or a disk that does not answer.",
            "Restart the machine; until then resume the run on other devices.",
        ),
        "no_step": ProblemEntry(
            "The trainer hangs.",
            "A collective that waits for a device does this.",
            "Try another `all_reduce`, or one device; the last checkpoint is kept.",
        ),
        "no_end": ProblemEntry(
            "The trainer did not end when it was asked to, so it was ended.",
            "It hung in a step.",
            "If that happens again, try another `all_reduce`, or one device.",
        ),
        "supervisor_gone": ProblemEntry(
            "The run's supervisor is gone, so the trainer saved and ended.",
            "Something ended the supervisor, or the machine ran out of memory.",
            "Resume the run.",
        ),
        "supervisor_lost": ProblemEntry(
            "The run ended without a recorded outcome.",
            "Its supervisor was killed, or the machine went down.",
            "Resume it from its last checkpoint; where it has saved none, start it again.",
        ),
        "supervisor_frozen": ProblemEntry(
            "The supervisor of a run is frozen.",
            "It was stopped (SIGSTOP) and not continued.",
            "Continue it with the command that is shown: it then records how the run ended.",
        ),
        "run_not_found": ProblemEntry(
            "There is no such run.",
            "The name is mistyped, or the run is in another folder.",
            "`gpupanel runs` lists them; `--runs-dir` names another folder.",
        ),
        "run_incomplete": ProblemEntry(
            "A run has no profile, plan or events.",
            "It was interrupted before they were written, or a file was deleted.",
            "What can be read is shown.",
        ),
        "run_damaged": ProblemEntry(
            "A file of a run cannot be read.",
            "It was changed, or the disk fails.",
            "What can be read is shown; its profile can be started or exported again.",
        ),
        "run_unreadable": ProblemEntry(
            "A run cannot be read.",
            "Permissions, or a disk that does not answer.",
            "Check both.",
        ),
        "run_newer": ProblemEntry(
            "A run was written by a newer gpupanel.",
            "Not all of it is known here.",
            "Update gpupanel.",
        ),
        "run_gone": ProblemEntry(
            "The folder of a run is gone.",
            "It was deleted or moved.",
            "Search the bin for it; a run without its folder saves nothing more, and ends.",
        ),
        "run_deleted": ProblemEntry(
            "A run was deleted while it was compared.",
            "Somebody moved its folder.",
            "What had been read of it is still shown.",
        ),
        "run_goes_on": ProblemEntry(
            "A run is running.",
            "So it can neither be deleted nor resumed.",
            "Stop it first, or watch it.",
        ),
        "run_is_a_link": ProblemEntry(
            "A run is a link to a folder elsewhere.",
            "So it is not deleted here.",
            "Delete the link with a file manager.",
        ),
        "run_not_in_bin": ProblemEntry(
            "A run is not in the bin any more.",
            "It was emptied, or the run was taken out of it.",
            "Search where files were restored to, or in a backup.",
        ),
        "run_place_taken": ProblemEntry(
            "A run stays in the bin.",
            "Another folder of its name is where it was.",
            "Rename that folder, then restore the run with a file manager.",
        ),
        "run_folder_unsafe": ProblemEntry(
            "A file of a run's folder is a link or something else that leads elsewhere.",
            "Whoever made the folder could reach other files with it.",
            "If the run is yours, put a plain file in its place; else do not use this folder.",
        ),
        "run_without_model": ProblemEntry(
            "The run has saved no model yet.",
            "A run saves it at its end.",
            "Let it complete, or stop it.",
        ),
        "events_unread": ProblemEntry(
            "Lines of a run's events are left out.",
            "A newer gpupanel wrote them, or they are damaged.",
            "Nothing is lost: `events.jsonl` has all of them.",
        ),
        "events_deleted": ProblemEntry(
            "The events of a run were deleted or replaced while it ran.",
            "Somebody cleaned its folder.",
            "The training is not affected; leave the folder alone while it runs.",
        ),
        "events_too_long": ProblemEntry(
            "The report of a run has curves of its beginning only.",
            "Reading all of its events would take too long.",
            "Outcome and metrics at its top are those of the end.",
        ),
        "disk_was_full": ProblemEntry(
            "The disk of a run was full for a time, or did not answer.",
            "What was to be reported was kept meanwhile.",
            "Keep more space free: the model needs some, too.",
        ),
        "run_filter_invalid": ProblemEntry(
            "A search of runs cannot be understood.",
            "A quote is open, or a value is missing.",
            "Write as `val_accuracy > 0.9 and model = cnn`.",
        ),
        "run_filter_unknown": ProblemEntry(
            "No run has a setting or metric of that name.",
            "It is mistyped.",
            "Take one of those that are proposed.",
        ),
        "run_filter_not_a_number": ProblemEntry(
            "A number is compared with a text.",
            "The setting has numbers.",
            "Compare it with a number.",
        ),
        "label_busy": ProblemEntry(
            "The name, tags and notes of a run are being written.",
            "Another window does so.",
            "Try again.",
        ),
        "tensorboard_not_installed": ProblemEntry(
            "TensorBoard is not installed.",
            "TensorFlow does not bring it any more.",
            '`pip install "gpupanel[tensorboard]"`',
        ),
        "tensorboard_not_started": ProblemEntry(
            "TensorBoard ended before it served the run.",
            "The detail has its own words.",
            "A newer version of it may help.",
        ),
        "tensorboard_too_slow": ProblemEntry(
            "TensorBoard did not serve the run in time.",
            "The machine may be busy.",
            "Try again later.",
        ),
        "tensorboard_without_files": ProblemEntry(
            "The run has no files for TensorBoard.",
            "It wrote none, or completed no epoch.",
            "Train with `training.tensorboard = true`; Live shows the same curves.",
        ),
        "tensorboard_not_written": ProblemEntry(
            "The files for TensorBoard could not be written.",
            "The disk is full, or does not answer.",
            "The training continues; Live shows the same curves.",
        ),
    },
)

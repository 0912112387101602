"""Queue and sweeps."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Queue and sweeps",
    "What waits, and trials; [queue and sweeps](queue-and-sweeps.md) explains both.",
    {
        "queue_busy": ProblemEntry(
            "The queue is being changed by another process.",
            "A gpupanel process hangs.",
            "Try again; if it happens again, end that process.",
        ),
        "queue_unreadable": ProblemEntry(
            "The queue cannot be read.",
            "A newer gpupanel wrote it, or it is damaged.",
            "Update gpupanel; or move the file away to begin with an empty queue.",
        ),
        "scheduler_ended": ProblemEntry(
            "The queue's scheduler ended before its work was done.",
            "What it has said last stands in the message; its log, `scheduler.log`, has the rest.",
            "List the queue, which starts it again; `gpupanel doctor` examines the environment.",
        ),
        "queue_stray_files": ProblemEntry(
            "In the queue's folder lies what is not the queue's.",
            "Somebody put it there, such as a copy of a profile. It is left alone.",
            "Move it away if you know what it is.",
        ),
        "queue_entry_missing": ProblemEntry(
            "The queue has no such entry.",
            "Its id is mistyped, or it was removed.",
            "`gpupanel queue` lists the entries with their ids.",
        ),
        "queue_entry_started": ProblemEntry(
            "An entry has been started.",
            "Its run is in progress.",
            "Stop its run, or add a new entry.",
        ),
        "queue_entry_ended": ProblemEntry(
            "An entry does not wait any more.",
            "Its run has ended.",
            "Add its profile again; that makes a new run.",
        ),
        "queue_entry_not_startable": ProblemEntry(
            "An entry could not be started when its turn came.",
            "Its devices, data or profile have changed.",
            "Edit it, or put it back when its devices are there again.",
        ),
        "queue_entry_overtaken": ProblemEntry(
            "An entry began, or was removed, while it was edited.",
            "The queue did not wait.",
            "The session still has the profile: add it as a new entry.",
        ),
        "run_removed": ProblemEntry(
            "The folder of a run was removed while the queue supervised it.",
            "Somebody deleted it.",
            "Add its profile again.",
        ),
        "optuna_missing": ProblemEntry(
            "A Bayesian sweep needs Optuna.",
            "It is not installed.",
            "`pip install 'gpupanel[sweep]'`, or use `method = \"random\"`.",
        ),
        "sweep_empty": ProblemEntry(
            "The profile does not say what to try.",
            "`[sweep.values]` is missing or empty.",
            'Add lines such as `"training.learning_rate" = [0.01, 0.001]`.',
        ),
        "sweep_key_unknown": ProblemEntry(
            "A key of a sweep is not a setting of this profile.",
            "It is mistyped, or of another kind of model or data.",
            'Name it from the top, such as `"training.learning_rate"`.',
        ),
        "sweep_setting_unused": ProblemEntry(
            "All trials would be equal.",
            "The setting has no effect with another one as it is.",
            "Change that one, or sweep it, too.",
        ),
        "sweep_values_invalid": ProblemEntry(
            "The values of a sweep are not allowed.",
            "A range is empty, a value is out of bounds, or there are too many settings.",
            "Do what the hint says.",
        ),
        "sweep_metric_unknown": ProblemEntry(
            "The metric of a sweep is not measured in each epoch.",
            "It is mistyped.",
            "Use one of those that are named.",
        ),
        "sweep_metric_not_measured": ProblemEntry(
            "The metric of a sweep needs validation examples.",
            "The profile has none.",
            "Set `data.validation_fraction`, or compare by a metric of the training.",
        ),
        "sweep_too_large": ProblemEntry(
            "A grid has too many combinations.",
            "Their number is the product of all values.",
            'Leave values out, or use `method = "random"` with a number of trials.',
        ),
        "sweep_without_training": ProblemEntry(
            "Only trainings can be swept.",
            "The task is another one.",
            'Set `task = "train"`.',
        ),
        "sweep_missing": ProblemEntry(
            "There is no such sweep.",
            "The name is mistyped, or its folder was moved.",
            "`gpupanel sweep PROFILE` prints the folder of the sweep that it starts.",
        ),
        "sweep_has_ended": ProblemEntry(
            "A sweep has ended.",
            "So it cannot be continued.",
            "Start its profile again.",
        ),
        "sweep_trial_removed": ProblemEntry(
            "A trial was taken out of the queue before it began.",
            "Somebody removed its entry.",
            "Start the sweep again to try its values.",
        ),
    },
)

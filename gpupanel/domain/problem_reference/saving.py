"""Saving and resuming."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Saving and resuming",
    "Checkpoints, and what a run continues from.",
    {
        "checkpoint_not_saved": ProblemEntry(
            "A checkpoint could not be saved.",
            "The disk is full, or does not answer.",
            "The training continues, and the previous one is kept; free some space.",
        ),
        "last_checkpoint_not_saved": ProblemEntry(
            "The last checkpoint of a training could not be saved.",
            "The disk is full, or does not answer.",
            "Free some space, and resume the run: it continues from the previous one.",
        ),
        "checkpoint_damaged": ProblemEntry(
            "A checkpoint differs from what was written.",
            "The disk fails, or somebody changed its files.",
            "Check the disk; the run continues from the previous one.",
        ),
        "best_weights_lost": ProblemEntry(
            "A resumed run does not have the weights of its best epoch any more.",
            "They were not kept, or their files are damaged or deleted.",
            "Nothing, if a later epoch becomes the best one; else start a new run.",
        ),
        "other_model_not_saved": ProblemEntry(
            "The weights that are not kept could not be saved beside the model.",
            "The disk is full, or does not answer.",
            "The model itself is saved. Free some space, and resume the run to have both.",
        ),
        "checkpoint_unreadable": ProblemEntry(
            "A checkpoint cannot be read now.",
            "The disk does not answer.",
            "Resume when it does. If its files are lost for good, delete the folder that is named.",
        ),
        "checkpoint_of_another_model": ProblemEntry(
            "A checkpoint is one of another model or optimizer.",
            "The profile of the run, or gpupanel, has changed since.",
            "Start the profile again.",
        ),
        "nothing_to_resume": ProblemEntry(
            "A run cannot be resumed.",
            "It has come to its end, or has saved no checkpoint.",
            "Start its profile again; that makes a new run.",
        ),
        "resume_does_not_fit": ProblemEntry(
            "A run cannot continue with that profile.",
            "Model, seed or global batch differ: it would be another training.",
            "Keep these as they were, or start a new run.",
        ),
        "amendment_damaged": ProblemEntry(
            "What a run was to continue with cannot be read.",
            "The file was interrupted while it was written.",
            "Remove the file that is named; the run then continues with its profile.",
        ),
    },
)

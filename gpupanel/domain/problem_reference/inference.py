"""Evaluate and predict."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Evaluate and predict",
    "Tasks that use a saved model.",
    {
        "inference_needs_saved_model": ProblemEntry(
            "The task takes a model that was trained before.",
            "`model.source` is something else.",
            "Choose a saved model, such as `model.keras` of a run.",
        ),
        "inference_needs_labels": ProblemEntry(
            "The data has no labels to compare predictions with.",
            "Only an evaluation needs them.",
            "Choose data with labels, or predict.",
        ),
        "inference_no_validation_examples": ProblemEntry(
            "There are no validation examples.",
            "The data holds none out.",
            "Take all examples, or hold out the fraction that training did.",
        ),
        "balanced_is_for_training": ProblemEntry(
            "Every device takes an equal share here.",
            "Shares are measured in training only.",
            "Set shares by hand if one device is faster.",
        ),
        "stratify_without_labels": ProblemEntry(
            "Which examples were held out cannot be known.",
            "They were chosen class by class, and these have no labels.",
            'Set `inference.examples` to `"all"`.',
        ),
        "outputs_not_finite": ProblemEntry(
            "The model gives NaN or infinity for an example.",
            "A training that diverged leaves such weights behind.",
            "Check that example, and the model.",
        ),
        "confusion_not_saved": ProblemEntry(
            "The confusion matrix could not be saved.",
            "The disk is full, or does not answer.",
            "Free space and evaluate again; the figures over all examples are there.",
        ),
        "confusion_unread": ProblemEntry(
            "The confusion matrix of a run cannot be read.",
            "Its file is missing or damaged.",
            "Evaluate again for the figures of each class.",
        ),
    },
)

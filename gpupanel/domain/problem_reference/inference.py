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
        "evaluates_what_was_held_out": ProblemEntry(
            "Of the data that the model learned from what its training held out is evaluated.",
            "`inference.examples` is left out, or automatic.",
            'Nothing needs to be done; `"all"` counts the examples that it learned from, too.',
        ),
        "evaluates_what_was_learned": ProblemEntry(
            "A model is evaluated on examples that it learned from.",
            "The data is that of its training, and all examples are chosen, or its training held "
            "out none, or others than are chosen; or the data has changed since.",
            'Leave `inference.examples` out, or set it to `"automatic"`; or choose other data.',
        ),
        "learned_from_unknown": ProblemEntry(
            "Whether a model learned from the data that it is evaluated on is not known.",
            "It was trained elsewhere, by an exported script, or by a former version of gpupanel: "
            "its file does not say what it learned from.",
            "Choose data that it did not learn from.",
        ),
        "inference_no_validation_examples": ProblemEntry(
            "There are no validation examples.",
            "The data holds none out.",
            "Take all examples, or hold out the fraction that training did.",
        ),
        "class_unknown": ProblemEntry(
            "The data has a class that the model was not trained on.",
            "Classes are matched by name: a folder may be called otherwise than in training, or "
            "hold something else.",
            "Name it as it was named in training; or leave those examples out, or predict, which "
            "needs no labels. A model that is trained further can have a new last layer.",
        ),
        "classes_left_out": ProblemEntry(
            "Examples of classes that the model does not know are left out.",
            "`inference.unknown_classes` says so.",
            "Nothing needs to be done if that is meant.",
        ),
        "label_missing": ProblemEntry(
            "The data says nothing of a label that the model gives.",
            "Labels are matched by name, and each has to be there.",
            "Add a column of 0 and 1 for each label of the model; or predict.",
        ),
        "classes_matched_by_number": ProblemEntry(
            "Class numbers of the data are taken for the places of the model's named classes.",
            "The data has numbers where the model's training data had names.",
            "Evaluate only if they were numbered in that order.",
        ),
        "model_without_class_names": ProblemEntry(
            "The model does not say what its classes are called.",
            "It was not trained here, or by an earlier version.",
            "Give the names in `model.class_names`, in the order of the model's outputs.",
        ),
        "class_names_misfit": ProblemEntry(
            "There is not one name for each output of the model.",
            "`model.class_names` has more or fewer.",
            "Give one name for each output, in their order.",
        ),
        "model_predicts_otherwise": ProblemEntry(
            "The model predicts something else than the data has.",
            "It was trained on classes, say, and the labels are read as values.",
            "Set `data.predicts` where the labels are what the model predicts; or choose other "
            "data, or predict.",
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

"""Models."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Models",
    "Networks, saved models and files of weights.",
    {
        "model_path_missing": ProblemEntry(
            "No file was chosen for the model.",
            "A saved model, or code that builds one, needs it.",
            "Choose a `.keras` file, or a `.py` file with `build_model(input_shape, outputs)`.",
        ),
        "model_weights_missing": ProblemEntry(
            "No file of weights was chosen.",
            "The model is to begin with one.",
            "Choose it, or begin with random weights.",
        ),
        "model_needs_pictures": ProblemEntry(
            "The model takes images, and the data has none.",
            "Convolutions need height and width.",
            "Take the model that the fix proposes.",
        ),
        "model_needs_words": ProblemEntry(
            "The model takes words, and the data has none.",
            "It begins with an embedding of a vocabulary.",
            "Take the model that the fix proposes.",
        ),
        "model_needs_columns": ProblemEntry(
            "The model takes columns of numbers and categories, and the data has none.",
            "It learns numbers for the categories of a table.",
            "Take the model that the fix proposes.",
        ),
        "model_pictures_too_small": ProblemEntry(
            "The images are too small for the model.",
            "Each convolution, or the architecture, halves their sides several times.",
            "Use fewer convolutions, or scale the images to a larger size.",
        ),
        "model_file_missing": ProblemEntry(
            "The saved model does not exist.",
            "It was moved, or the run has no copy any more.",
            "Put it back, or choose another one.",
        ),
        "model_file_unreadable": ProblemEntry(
            "The saved model cannot be opened.",
            "Permissions, or a disk that does not answer.",
            "Choose a file that you may read.",
        ),
        "model_file_damaged": ProblemEntry(
            "The saved model is truncated, or not a Keras model.",
            "A copy was interrupted.",
            "Save or copy it again.",
        ),
        "model_file_not_keras": ProblemEntry(
            "The file is not a `.keras` file.",
            "It is a SavedModel, an `.h5` file or something else.",
            'Save it as one where it was made: `model.save("model.keras")`. Keras opens an `.h5` '
            "file, but no SavedModel since Keras 3.",
        ),
        "model_runs_code": ProblemEntry(
            "The saved model holds code in its layers.",
            "Lambda layers carry Python code, which is never run here.",
            "Save the model without them.",
        ),
        "model_needs_code": ProblemEntry(
            "The saved model needs classes that are not Keras's own.",
            "Their code is not in the file.",
            "Save it with layers of Keras's own only.",
        ),
        "model_not_loaded": ProblemEntry(
            "Keras cannot load the saved model.",
            "A newer Keras may have saved it.",
            "Check that `keras.models.load_model` loads it here.",
        ),
        "model_not_single": ProblemEntry(
            "The model has several inputs or outputs.",
            "One of each is needed.",
            "Save a model with one input and one output.",
        ),
        "model_input_does_not_fit": ProblemEntry(
            "The model takes examples of another shape.",
            "It was trained on other data.",
            "Choose the data that it was trained for, or another model.",
        ),
        "model_input_not_numbers": ProblemEntry(
            "The model takes texts.",
            "Its preprocessing is inside.",
            "Save it without that.",
        ),
        "model_input_reshaped": ProblemEntry(
            "The examples are given to the model in another shape.",
            "They have the same numbers in the same order.",
            "Nothing, if the model was trained on examples of that shape.",
        ),
        "model_outputs_assumed": ProblemEntry(
            "What the model's outputs mean was assumed.",
            "Its last layer does not say it.",
            "If it is something else, say in model.outputs what they are, or save the model with a "
            "softmax, or a sigmoid each, at its end.",
        ),
        "application_inputs_scaled": ProblemEntry(
            "Examples from 0 to 1 are multiplied by 255.",
            "The architecture's own preprocessing is meant for pixels from 0 to 255.",
            "Nothing, if they are pixels that were divided by 255.",
        ),
        "application_inputs_range": ProblemEntry(
            "The examples are not pixels from 0 to 255.",
            "They were standardised or have another range; the architecture's own preprocessing "
            "is meant for pixels.",
            "Save them as pixels from 0 to 255, or from 0 to 1.",
        ),
        "saved_model_inputs_range": ProblemEntry(
            "A saved model that does not scale is given raw pixels.",
            "Outside of gpupanel pixels are often divided by 255 before a model takes them.",
            "Choose in `model.inputs` what is done with the pixels, or that they are given as they "
            "are.",
        ),
        "saved_model_inputs_far": ProblemEntry(
            "A saved model is given values of another range than those that it learned from.",
            "Pixels from 0 to 255 for one that learned from 0 to 1, or the other way round; or "
            "numbers in another unit.",
            "Choose in `model.inputs` what is done with them, or that they are given as they are.",
        ),
        "saved_model_inputs_scaled": ProblemEntry(
            "A saved model that divides pixels is given values from 0 to 1.",
            "It begins with a `Rescaling` for pixels from 0 to 255. Pixels that were divided by "
            "255 before would be divided twice: all images are nearly black to it.",
            "Choose in `model.inputs` that they are multiplied, or given as they are.",
        ),
        "model_outputs_unknown": ProblemEntry(
            "Nothing shows whether the model gives probabilities or logits.",
            "Its last layers compute something of their own, such as a mean of several softmaxes. "
            "A second softmax over probabilities would be learned from wrongly, without an error; "
            "a model that is not trained is taken for what its first outputs look like.",
            "Set model.outputs to what they are.",
        ),
        "model_outputs_do_not_fit": ProblemEntry(
            "The model has another number of outputs than the data has classes or values.",
            "It was trained for other data.",
            "Choose the data that it was trained for, or another model.",
        ),
        "model_without_recipe": ProblemEntry(
            "The saved model has no record of how its features are made.",
            "It was not trained on texts or a table by gpupanel.",
            "Use a model that was, or save the examples as it takes them in a NumPy array.",
        ),
        "saved_model_misfit": ProblemEntry(
            "The saved model cannot be trained further on this data.",
            "Its outputs are of other classes or values.",
            "Give it a new last layer, or choose the data that it was trained for.",
        ),
        "saved_model_not_trainable": ProblemEntry(
            "The saved model cannot be trained further.",
            "It has no weights that could learn, or a state that could not be kept.",
            "Evaluate it, or choose another model.",
        ),
        "file_too_large": ProblemEntry(
            "A file would take more memory than the machine has.",
            "It is very large; a malicious file looks like this, too.",
            "Use a smaller one.",
        ),
        "weights_missing": ProblemEntry(
            "The file of weights does not exist.",
            "It was moved or renamed.",
            "Choose another one, or put it back.",
        ),
        "weights_unreadable": ProblemEntry(
            "The file of weights cannot be opened.",
            "Permissions, or a disk that does not answer.",
            "Choose a file that you may read.",
        ),
        "weights_damaged": ProblemEntry(
            "The file of weights is truncated, or holds none.",
            "A copy was interrupted.",
            "Save or copy it again.",
        ),
        "weights_not_h5": ProblemEntry(
            "The file is not one of weights.",
            "Its name does not end in `.weights.h5`.",
            'Save weights with `model.save_weights("model.weights.h5")`.',
        ),
        "weights_elsewhere": ProblemEntry(
            "The weights are taken from another file.",
            "A link in the file leads there; it is not followed.",
            "Save the weights again, in one file.",
        ),
        "weights_do_not_fit": ProblemEntry(
            "The weights are not those of this architecture.",
            "They were saved by another model.",
            "Choose weights of the same architecture.",
        ),
        "weights_not_published": ProblemEntry(
            "A file in Keras's cache is not the one that Keras publishes.",
            "It was changed, or the download was.",
            "Remove it: the next run downloads it again.",
        ),
        "summary_without_training": ProblemEntry(
            "The profile trains nothing.",
            "Its model is in a file already.",
            "Name a profile whose task is train.",
        ),
        "summary_not_started": ProblemEntry(
            "The process that builds the model could not be started.",
            "The installation is damaged, or the system has no room for a process.",
            "Repair the installation; the detail has the system's answer.",
        ),
        "summary_too_slow": ProblemEntry(
            "Building the model took too long.",
            "It has very many layers, or the machine is busy.",
            "Try again, or use fewer layers.",
        ),
        "summary_died": ProblemEntry(
            "The process that builds the model ended.",
            "The model alone may need more memory than there is.",
            "Use a smaller one; the detail has the last words.",
        ),
        "summary_unreadable": ProblemEntry(
            "The process that builds the model gave an answer that cannot be read.",
            "This is a defect of gpupanel.",
            "Report it with the detail.",
        ),
    },
)

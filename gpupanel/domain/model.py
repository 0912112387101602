"""What is trained, or does what a task that does not train asks.

Each kind is a value here, with what is asked about it; the union at the end is the one list of
them. How one is built stands in the file of ``gpupanel/trainer/models`` that its ``module`` names,
how a script builds it in the file of that name in ``gpupanel/planning/script/models``.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.application_model import ApplicationModel
from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.kind import kind
from gpupanel.domain.layered_models import CnnModel, MlpModel
from gpupanel.domain.model_kind import (
    FrozenLayers,
    Inputs,
    Model,
    Outputs,
    fine_tune_from_setting,
    fine_tune_rate_setting,
    fine_tuning_of,
    frozen_setting,
    outputs_setting,
    synchronized_setting,
)
from gpupanel.domain.resnet_model import ResNetModel
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.tabular_model import TabularModel
from gpupanel.domain.transformer_model import TransformerModel
from gpupanel.domain.value import Float32, PositiveInt

__all__ = [
    "DEFAULT_MODEL",
    "ApplicationModel",
    "CnnModel",
    "Head",
    "Inputs",
    "MlpModel",
    "Model",
    "ModelSettings",
    "Outputs",
    "PythonModel",
    "ResNetModel",
    "SavedModel",
    "TabularModel",
    "TransformerModel",
    "saved_model",
]


ClassName = Annotated[str, Field(min_length=1)]


class Head(ChoiceEnum):
    """What becomes of a saved model's last layer when the model is trained further."""

    KEPT = (
        "kept",
        "Keep it: train the model further",
        "The data has the same classes or values as the data that it was trained on.",
    )
    NEW = (
        "new",
        "A new one for this data",
        (
            "The last layer is replaced by a new one with an output for each class or value of "
            "this data: to fine-tune the model for another task."
        ),
    )


class SavedModel(Model):
    """A Keras model in a ``.keras`` file, loaded in safe mode: no code of it is run.

    It is evaluated, predicts, or is trained further. Examples are given to it as the data has
    them, for it scales them itself. A run that trains it keeps a copy of the file.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["saved"] = kind(
        Choice(
            "saved",
            "Saved model: a .keras file",
            (
                "A trained model, such as one that a run has saved: it is trained further, or "
                "fine-tuned with a new last layer."
            ),
        )
    )
    path: str = setting(
        "File",
        "A Keras model in a .keras file. Every training run saves one in its folder, model.keras. "
        "It is loaded in safe mode, so that it cannot run code.",
        default="",
        path=PathKind((".keras",), "Keras models", "Choose the model"),
    )
    class_names: tuple[ClassName, ...] = setting(
        "Names of the classes",
        "Names of the model's classes or labels, in the order of its outputs: data is "
        "matched with them by name. The file of a model that was trained here contains them.",
        default=(),
        off="as the file says",
        advanced=True,
    )
    head: Head = setting(
        "Last layer",
        "Whether training keeps the last layer with weights, or replaces it.",
        default=Head.KEPT,
    )
    outputs: Outputs | None = outputs_setting()
    inputs: Inputs | None = setting(
        "Inputs",
        "How examples are scaled before they enter the model, if it was trained on scaled ones: "
        "many models that were trained elsewhere expect pixels that are divided by 255. A model "
        "that is trained further keeps this.",
        default=None,
        off="as they are",
        advanced=True,
    )
    measures: str = setting(
        "Loss and metrics",
        "The Python file that built the model, of which an evaluation executes loss and metrics: "
        "needed where it was trained by a loss of its own. Not of the functions alone: all of the "
        "file is executed, once you trust it.",
        default="",
        advanced=True,
        off="as the labels say",
        path=PathKind((".py",), "Python code", "Choose the code that built the model"),
    )
    frozen_layers: FrozenLayers = frozen_setting()
    fine_tune_from_epoch: PositiveInt | None = fine_tune_from_setting()
    fine_tune_learning_rate: Float32 | None = fine_tune_rate_setting()
    batch_norm_synchronized: bool = synchronized_setting()

    module: ClassVar[str] = "saved"
    is_saved: ClassVar[bool] = True

    @property
    @override
    def chosen_outputs(self) -> Outputs | None:
        return self.outputs

    @property
    @override
    def chosen_inputs(self) -> Inputs | None:
        return self.inputs

    @property
    @override
    def chosen_class_names(self) -> tuple[str, ...]:
        return self.class_names

    @property
    @override
    def measures_path(self) -> str:
        return self.measures

    @property
    @override
    def begins_with(self) -> str:
        return "saved"

    @property
    @override
    def has_new_head(self) -> bool:
        return self.head is Head.NEW

    @property
    @override
    def keeps_layers(self) -> bool:
        return self.frozen_layers != "none"

    @property
    @override
    def fine_tuning(self) -> FineTuning | None:
        return fine_tuning_of(
            self.frozen_layers, self.fine_tune_from_epoch, self.fine_tune_learning_rate
        )

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized


class PythonModel(Model):
    """A Keras model that a Python file of the person's builds.

    The file is one whole: it may import what is installed, but no file beside it, because the
    content of this one is what a person trusts. It has a function ``build_model``::

        def build_model(input_shape, outputs):
            return keras.Sequential([
                keras.Input(input_shape),
                keras.layers.Flatten(),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(outputs),
            ])

    ``input_shape`` is that of one example, without the batch axis; of several inputs a dictionary
    of their shapes by the names that the model's inputs have. Pixels come in from 0 to 1 and the
    columns of tables and of Keras's housing data standardised; the numbers of an ``.npz`` file or
    of Python code as they are. ``outputs`` is the number of classes, of labels, or of values to be
    predicted; where labels are arrays, the shape of what is needed for one example. The answer is a
    Keras model, sequential or functional, with one input and ``outputs`` numbers an example:
    logits, or probabilities (a softmax of classes, or a sigmoid of labels, wherever it stands in
    the model: it is taken off and put back when the model is saved), or the values in standard
    deviations from the mean of the training labels; arrays of values as they are. Layers keep no
    state of their own beside that of batch normalisation and dropout.

    Beside it the file may have ``loss(labels, outputs)`` and functions of the same arguments in a
    dictionary ``metrics``: each gives one number for each example, which the loop sums over the
    global batch. With a loss of their own outputs are taken as they are. A model of several
    outputs, for labels in a dictionary, has them by the same names; ``outputs`` is a dictionary
    then, and ``loss_weights`` one of what the loss of each counts.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["python"] = kind(
        Choice("python", "Python code…", "A function of your own builds the Keras model.")
    )
    path: str = setting(
        "Python file",
        "A Python file with a function build_model(input_shape, outputs) that gives a Keras model: "
        "sequential or functional, one number for each of the outputs; if need be with loss and "
        "metrics beside it. It may import what is installed, but no file beside it. You are asked "
        "before it is run for the first time.",
        default="",
        path=PathKind((".py",), "Python files", "Choose the code that builds the model"),
    )
    outputs: Outputs | None = outputs_setting()
    batch_norm_synchronized: bool = synchronized_setting()

    module: ClassVar[str] = "python_model"
    is_code: ClassVar[bool] = True

    @property
    @override
    def chosen_outputs(self) -> Outputs | None:
        return self.outputs

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized


ModelSettings = Annotated[
    MlpModel
    | CnnModel
    | ResNetModel
    | TransformerModel
    | TabularModel
    | ApplicationModel
    | SavedModel
    | PythonModel,
    Field(discriminator="source"),
]

DEFAULT_MODEL: ModelSettings = MlpModel()
"""What a new profile trains."""


def saved_model(path: str = "", measures: str = "") -> ModelSettings:
    """A model in a ``.keras`` file: what the tasks that do not train need.

    Args:
        path: Of the file.
        measures: Of the Python file with a loss and metrics of the person's own.
    """
    return SavedModel(path=path, measures=measures)

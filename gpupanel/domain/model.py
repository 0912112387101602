"""What is trained, or does what a task that does not train asks.

Each kind is a value here, with what is asked about it; the union at the end is the one list of
them. How one is built stands in the file of ``gpupanel/trainer/models`` that its ``module`` names,
how a script builds it in the file of that name in ``gpupanel/planning/script/models``.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.applications import APPLICATIONS, Application, ApplicationName
from gpupanel.domain.choice import Choice
from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.kind import KindValue, kind
from gpupanel.domain.layers import Stack
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.value import Fraction, PositiveInt

MOST_LAYERS = 256
"""TensorFlow traces each layer before the first step: more take longer than anybody waits."""
MOST_CONVOLUTIONS = 14
"""Each halves both sides of a picture: the last one leaves a pixel of a side of 16,384."""


Units = Annotated[tuple[PositiveInt, ...], Field(max_length=MOST_LAYERS)]
"""Of each of several layers."""


def _hidden(default: tuple[int, ...]) -> Any:  # noqa: ANN401 - as pydantic's
    return setting(
        "Hidden layers",
        "Units of each dense layer before the output, from the first to the last: 128, 64 makes "
        "two layers. More units can learn more, and need more memory and examples.",
        default=default,
        off="no hidden layer",
    )


def _dropout() -> Any:  # noqa: ANN401
    return setting(
        "Dropout",
        "The fraction of activations that is dropped at random during training, after each "
        "hidden layer, or before the output where there is none. 0.2 to 0.5 reduces overfitting.",
        default=0.0,
    )


def _batch_norm(layers: str) -> Any:  # noqa: ANN401
    return setting(
        "Batch normalisation",
        f"Normalises the activations of each batch after each {layers}. It often allows a larger "
        "learning rate.",
        default=False,
    )


def _synchronized(**more: Any) -> Any:  # noqa: ANN401
    return setting(
        "Synchronised over the replicas",
        "Take the statistics of batch normalisation over the whole global batch: the result is the "
        "same however the batch is divided. Without it each replica uses its own share only, "
        "which is faster, and the result depends on the shares.",
        default=True,
        **more,
    )


class Model(KindValue):
    """What every model has, and what is asked about it."""

    is_trainable: ClassVar[bool] = True
    """Whether it is trained; else it is taken by the tasks that do not train."""

    @property
    def stack(self) -> Stack | None:
        """The layers that it is made of; ``None``: known when its file or its code is read."""
        return None

    @property
    def least_side(self) -> int:
        """The least height and width of a picture, in pixels; 0: it takes any data."""
        return 0

    @property
    def begins_with(self) -> str:
        """The weights it begins with: "none", which are drawn, or others; empty: not chosen yet."""
        return "none"

    @property
    def weights_path(self) -> str:
        """The file of weights that it begins with; empty where a file was not chosen."""
        return self.chosen_paths.get("weights", "")

    @property
    def keeps_layers(self) -> bool:
        """Whether some of its layers keep the weights that they begin with."""
        return False

    @property
    def synchronizes_batch_norm(self) -> bool:
        """Whether batch normalisation that it has takes its statistics over all replicas."""
        return False


class MlpModel(Model):
    """Dense layers with ReLU between them."""

    source: Literal["mlp"] = kind(
        Choice(
            "mlp",
            "MLP: dense layers",
            ("Every unit is connected to all units of the layer before; for any data."),
        )
    )
    hidden: Units = _hidden(default=(128,))
    dropout: Fraction = _dropout()
    batch_norm: bool = _batch_norm("hidden layer")
    batch_norm_synchronized: bool = _synchronized(applies={"batch_norm": (True,)})

    module: ClassVar[str] = "layered"

    @property
    @override
    def stack(self) -> Stack:
        return Stack((), self.hidden, self.dropout, self.batch_norm)

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized


class CnnModel(Model):
    """3x3 convolutions, each followed by ReLU and 2x2 max pooling, then dense layers."""

    source: Literal["cnn"] = kind(
        Choice("cnn", "CNN: convolutions", "Small filters slide over the image; for images.")
    )
    filters: tuple[PositiveInt, ...] = setting(
        "Filters",
        "How many 3x3 filters each convolution has, from the first to the last. After each one "
        "the image is halved in height and width by 2x2 max pooling.",
        default=(32,),
        examples=[[32, 64]],
        min_length=1,
        max_length=MOST_CONVOLUTIONS,
    )
    hidden: Units = _hidden(default=())
    dropout: Fraction = _dropout()
    batch_norm: bool = _batch_norm("convolution and hidden layer")
    batch_norm_synchronized: bool = _synchronized(applies={"batch_norm": (True,)})

    module: ClassVar[str] = "layered"

    @property
    @override
    def stack(self) -> Stack:
        return Stack(self.filters, self.hidden, self.dropout, self.batch_norm)

    @property
    @override
    def least_side(self) -> int:
        return self.stack.smallest_side

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized


class ApplicationModel(Model):
    """An architecture of ``keras.applications``, with a head for the data.

    It takes pictures: bytes, or numbers from 0 to 255. What the architecture wants them scaled to
    is inside the model, also inside the one that is saved. The head is the mean over the picture,
    dropout and a dense layer.

    The path of weights is empty while none was chosen; a relative one is meant from the profile's
    folder.
    """

    source: ApplicationName = kind(
        *(
            Choice(
                each.name,
                f"{each.name}: {each.parameters / 1e6:.1f} million weights",
                "Its published weights were trained on images of "
                f"{each.usual_side}x{each.usual_side} pixels; it takes any of "
                f"{each.family.least_side} or more.",
            )
            for each in APPLICATIONS
        )
    )
    weights: str = setting(
        "Weights",
        "What the network begins with. With weights learned from many images, far fewer of yours "
        "are needed.",
        default="none",
        choices=(
            Choice("none", "None: from scratch", "Random, by the seed."),
            Choice(
                "imagenet",
                "ImageNet weights",
                "Learned from 1.3 million photographs; downloaded once, into Keras's cache.",
            ),
        ),
        path=PathKind((".h5",), "Keras weights", "Choose the weights"),
    )
    frozen_layers: Literal["none", "base"] | PositiveInt = setting(
        "Frozen layers",
        "Which layers keep the weights that they begin with. The fewer layers learn, the less "
        "memory and the fewer images are needed. Frozen batch normalisation keeps its statistics, "
        "too.",
        default="none",
        prefix="all but the last ",
        unit="layer",
        choices=(
            Choice("none", "None: every layer learns"),
            Choice("base", "The base: only the head learns"),
        ),
    )
    dropout: Fraction = setting(
        "Dropout",
        "The fraction of activations that is dropped at random before the output, while training. "
        "0.2 to 0.5 reduces overfitting.",
        default=0.0,
    )
    batch_norm_synchronized: bool = _synchronized(advanced=True)

    module: ClassVar[str] = "application"

    @property
    def application(self) -> Application:
        """What is known of the architecture."""
        return next(each for each in APPLICATIONS if each.name == self.source)

    @property
    @override
    def least_side(self) -> int:
        return self.application.family.least_side

    @property
    @override
    def begins_with(self) -> str:
        return self.weights

    @property
    @override
    def keeps_layers(self) -> bool:
        return self.frozen_layers != "none"

    @property
    @override
    def downloads(self) -> tuple[KerasFile, ...]:
        return (self.application.weights,) if self.weights == "imagenet" else ()

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized


class SavedModel(Model):
    """A Keras model in a ``.keras`` file, loaded in safe mode: no code of it is run.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["saved"] = kind(
        Choice(
            "saved",
            "Saved model: a .keras file",
            ("A trained model, such as one that a run has saved."),
        )
    )
    path: str = setting(
        "File",
        "A Keras model in a .keras file. Every training run saves one in its folder, model.keras. "
        "It is loaded in safe mode, so that it cannot run code.",
        default="",
        path=PathKind((".keras",), "Keras models", "Choose the model"),
    )

    is_trainable: ClassVar[bool] = False


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

    ``input_shape`` is that of one example, without the batch axis. Pixels come in from 0 to 1 and
    the columns of Keras's housing data standardised; the numbers of an ``.npz`` file or of Python
    code as they are. ``outputs`` is the number of classes, of labels, or of values to be
    predicted. The answer is a Keras model, sequential or functional, with one input and ``outputs``
    numbers an example: logits (a softmax of classes, or a sigmoid of labels, at its end is taken
    off and put back when the model is saved), or the values in standard deviations from the mean
    of the training labels. Layers keep no state of
    their own beside that of batch normalisation and dropout.

    The path is empty while none was chosen; a relative one is meant from the profile's folder.
    """

    source: Literal["python"] = kind(
        Choice("python", "Python code…", "A function of your own builds the Keras model.")
    )
    path: str = setting(
        "Python file",
        "A Python file with a function build_model(input_shape, outputs) that gives a Keras model: "
        "sequential or functional, one number for each of the outputs. It may import what is "
        "installed, but no file beside it. You are asked before it is run for the first time.",
        default="",
        path=PathKind((".py",), "Python files", "Choose the code that builds the model"),
    )
    batch_norm_synchronized: bool = _synchronized(advanced=True)

    module: ClassVar[str] = "python_model"
    is_code: ClassVar[bool] = True

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized


ModelSettings = Annotated[
    MlpModel | CnnModel | ApplicationModel | SavedModel | PythonModel, Field(discriminator="source")
]

DEFAULT_MODEL: ModelSettings = MlpModel()
"""What a new profile trains."""


def saved_model(path: str = "") -> ModelSettings:
    """A model in a ``.keras`` file: what the tasks that do not train take."""
    return SavedModel(path=path)

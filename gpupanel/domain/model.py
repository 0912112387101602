"""What is trained."""

from typing import Annotated, Literal

from pydantic import Field

from gpupanel.domain.value import Fraction, PositiveInt, Value

MOST_LAYERS = 256
"""TensorFlow traces each layer before the first step: more take longer than anybody waits."""
MOST_CONVOLUTIONS = 14
"""Each halves both sides of a picture: the last one leaves a pixel of a side of 16,384."""


class MlpModel(Value):
    """Dense layers with ReLU between them.

    Attributes:
        hidden: Units of each hidden layer.
        dropout: Fraction of activations dropped after each hidden layer while training.
        batch_norm: Normalise over the batch after each hidden layer.
        batch_norm_synchronized: Take the statistics over the whole global batch; without it over
            each replica's part, which is faster and depends on the shares.
    """

    source: Literal["mlp"] = "mlp"
    hidden: Annotated[tuple[PositiveInt, ...], Field(max_length=MOST_LAYERS)] = (128,)
    dropout: Fraction = 0.0
    batch_norm: bool = False
    batch_norm_synchronized: bool = True


class CnnModel(Value):
    """3x3 convolutions, each followed by ReLU and 2x2 max pooling, then dense layers.

    Attributes:
        filters: Filters of each convolution.
        hidden: Units of each dense layer before the output.
        batch_norm: Normalise over the batch after each convolution and hidden layer.
        batch_norm_synchronized: See :class:`MlpModel`.
    """

    source: Literal["cnn"] = "cnn"
    filters: tuple[PositiveInt, ...] = Field(
        default=(32,), min_length=1, max_length=MOST_CONVOLUTIONS
    )
    hidden: Annotated[tuple[PositiveInt, ...], Field(max_length=MOST_LAYERS)] = ()
    dropout: Fraction = 0.0
    batch_norm: bool = False
    batch_norm_synchronized: bool = True

    @property
    def smallest_side(self) -> int:
        """The least height and width of a picture, in pixels: each pooling halves both."""
        return int(2 ** len(self.filters))


class SavedModel(Value):
    """A Keras model in a ``.keras`` file, loaded in safe mode: no code of it is run.

    Attributes:
        path: The file, empty while none was chosen; a relative one is meant from the profile's
            folder.
    """

    source: Literal["saved"] = "saved"
    path: str = ""


class PythonModel(Value):
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
    code as they are. ``outputs`` is the number of classes, or 1 where a value is predicted. The
    answer is a Keras model, sequential or functional, with one input and ``outputs`` numbers an
    example: logits (a softmax at its end is taken off and put back when the model is saved), or
    the value in standard deviations from the mean of the training labels. Layers keep no state of
    their own beside that of batch normalisation and dropout.

    Attributes:
        path: The file, empty while none was chosen; a relative one is meant from the profile's
            folder.
    """

    source: Literal["python"] = "python"
    path: str = ""


BuildableModel = MlpModel | CnnModel
"""What is built here, layer by layer."""

TrainableModel = MlpModel | CnnModel | PythonModel
"""What can be trained."""

ModelSettings = Annotated[
    MlpModel | CnnModel | SavedModel | PythonModel, Field(discriminator="source")
]

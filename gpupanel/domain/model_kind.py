"""What every model has: its settings, what is asked about it, and settings that several share."""

from collections.abc import Mapping
from enum import StrEnum
from math import prod
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.kind import KindValue
from gpupanel.domain.layers import Stack
from gpupanel.domain.setting import setting
from gpupanel.domain.value import PositiveInt

MOST_LAYERS = 256
"""TensorFlow traces each layer before the first step: more take longer than anybody waits."""

Units = Annotated[tuple[PositiveInt, ...], Field(max_length=MOST_LAYERS)]
"""The number of units of each layer."""


class ExampleKind(StrEnum):
    """What a model can be given as one example."""

    ANY = "any"
    IMAGES = "pictures"  # as in the problem code model_needs_pictures
    """Height x width, or height x width x channels."""
    WORDS = "words"
    """The numbers of the words of a text."""
    COLUMNS = "columns"
    """One number for each column, or several for one of categories."""


def hidden_setting(default: tuple[int, ...]) -> Any:  # noqa: ANN401 - as pydantic's
    """The units of dense layers before the output."""
    return setting(
        "Hidden layers",
        "Units of each dense layer before the output, from the first to the last: 128, 64 makes "
        "two layers. More units can learn more, and need more memory and examples.",
        default=default,
        off="no hidden layer",
    )


def dropout_setting(where: str, default: float = 0.0) -> Any:  # noqa: ANN401
    """What part of the activations is dropped, and where."""
    return setting(
        "Dropout",
        "The fraction of activations that is dropped at random during training, "
        f"{where}. 0.2 to 0.5 reduces overfitting.",
        default=default,
        advanced=True,
    )


def batch_norm_setting(layers: str) -> Any:  # noqa: ANN401
    """Whether batches are normalised after these layers."""
    return setting(
        "Batch normalisation",
        f"Normalises the activations of each batch after each {layers}. It often allows a larger "
        "learning rate.",
        default=False,
        advanced=True,
    )


class Outputs(ChoiceEnum):
    """What the last layer of a model that was not built here gives, of classes or labels."""

    PROBABILITIES = (
        "probabilities",
        "Probabilities",
        "Numbers from 0 to 1: of classes they sum to 1, of labels each is one of its own.",
    )
    LOGITS = (
        "logits",
        "Logits",
        "Numbers without bounds, before a softmax or a sigmoid.",
    )


def outputs_setting() -> Any:  # noqa: ANN401
    """What the outputs of a model are, where its layers do not show it."""
    return setting(
        "Outputs",
        "Whether the model gives probabilities or logits. Detected from what its last layers "
        "compute: a softmax or a sigmoid, wherever it stands, or a layer without either. Where "
        "that does not show it, it is asked for: of a saved model before Start, of Python code "
        "when the run builds it. Values need none.",
        default=None,
        off="automatic",
        advanced=True,
    )


class Inputs(ChoiceEnum):
    """What is done with the examples before a model that was not built here takes them."""

    AS_GIVEN = (
        "as_given",
        "As they are",
        "The model scales them itself, or was trained on unscaled ones.",
    )
    DIVIDED = ("divided_by_255", "Divided by 255", "Pixels become numbers from 0 to 1.")
    CENTRED = ("minus_1_to_1", "From -1 to 1", "Pixels are divided by 127.5, less 1.")
    MULTIPLIED = ("times_255", "Times 255", "Numbers from 0 to 1 become pixels.")

    @property
    def scale_and_offset(self) -> tuple[float, float]:
        """What each number is multiplied by, and what is added then."""
        return _SCALES_AND_OFFSETS[self]


_SCALES_AND_OFFSETS: Mapping[Inputs, tuple[float, float]] = {
    Inputs.AS_GIVEN: (1.0, 0.0),
    Inputs.DIVIDED: (1 / 255, 0.0),
    Inputs.CENTRED: (1 / 127.5, -1.0),
    Inputs.MULTIPLIED: (255.0, 0.0),
}


FrozenLayers = Literal["none", "base"] | PositiveInt
"""Which layers of a base keep their weights: none, all, or all but so many of the last ones."""


def frozen_setting() -> Any:  # noqa: ANN401
    """Which layers of a base keep the weights that they begin with."""
    return setting(
        "Frozen layers",
        "Which layers keep the weights that they begin with. The fewer layers learn, the less "
        "memory and the fewer examples are needed. Frozen batch normalisation keeps its "
        "statistics, too.",
        default="none",
        prefix="all but the last ",
        unit="layer",
        choices=(
            Choice("none", "None: every layer learns"),
            Choice("base", "The base: only the head learns"),
        ),
    )


def fine_tune_from_setting() -> Any:  # noqa: ANN401
    """The setting of the epoch from which the frozen layers of a base are trained, too."""
    return setting(
        "Fine-tuning",
        "Until this epoch only the head learns; from it on all layers that are not frozen do. So "
        "weights that were learned before are not spoiled by a head that is still random.",
        default=None,
        prefix="from epoch ",
        off="off",
        examples=[5],
    )


def fine_tune_rate_setting() -> Any:  # noqa: ANN401
    """The learning rate from that epoch on."""
    return setting(
        "Fine-tuning rate",
        "The learning rate from that epoch on; a schedule continues at its place, scaled to this. "
        "A tenth or a hundredth of the learning rate before is usual.",
        default=None,
        off="as before",
        advanced=True,
        needs=("fine_tune_from_epoch",),
        examples=[1e-5],
    )


def fine_tuning_of(
    frozen_layers: FrozenLayers, from_epoch: int | None, learning_rate: float | None
) -> FineTuning | None:
    """What the settings of a model come to; ``None``: nothing begins to learn later."""
    if from_epoch in (None, 1) or frozen_layers == "base":
        return None
    layers = None if frozen_layers == "none" else frozen_layers
    return FineTuning(from_epoch=from_epoch, layers=layers, learning_rate=learning_rate)


def synchronized_setting(**more: Any) -> Any:  # noqa: ANN401
    """Whether statistics of batch normalisation are those of the global batch."""
    return setting(
        "Synchronised over the replicas",
        "Take the statistics of batch normalisation over the whole global batch: the result is the "
        "same however the batch is divided. Without it each replica uses its own share only, "
        "which is faster, and the result depends on the shares.",
        default=True,
        advanced=True,
        **more,
    )


class Model(KindValue):
    """What every model has, and what is asked about it."""

    is_saved: ClassVar[bool] = False
    """Whether it is a trained model in a file, which the tasks that do not train need."""

    is_divided: ClassVar[bool] = False
    """Whether its layers can be placed on several devices."""

    takes: ClassVar[ExampleKind] = ExampleKind.ANY
    """What its examples have to be."""
    is_suggested: ClassVar[bool] = False
    """Whether it is what is proposed first for examples of that kind."""
    takes_any_channels: ClassVar[bool] = True
    """Whether an image may have any number of channels; else one or three."""

    wants_pixels: ClassVar[bool] = False
    """Whether it scales what it takes by itself, from 0 to 255."""

    @property
    def chosen_outputs(self) -> Outputs | None:
        """What a person said that its outputs are; ``None``: it is found out."""
        return None

    @property
    def chosen_inputs(self) -> Inputs | None:
        """What a person said is done with its examples before it takes them; ``None``: nothing."""
        return None

    @property
    def chosen_class_names(self) -> tuple[str, ...]:
        """Names that a person gave its outputs; empty: its file says them."""
        return ()

    @property
    def measures_path(self) -> str:
        """Python code whose loss and metrics measure an evaluation; empty: none does."""
        return ""

    @property
    def stack(self) -> Stack | None:
        """The layers that it is made of; ``None``: known when its file or its code is read."""
        return None

    @property
    def least_side(self) -> int:
        """The least height and width of an image, in pixels."""
        return 1

    @property
    def begins_with(self) -> str:
        """The weights it begins with: "none", which are drawn, or others; empty: not chosen yet."""
        return "none"

    @property
    def has_new_head(self) -> bool:
        """Whether a last layer for the data takes the place of that of a saved model."""
        return False

    @property
    def weights_path(self) -> str:
        """The file of weights that it begins with; empty where a file was not chosen."""
        return self.chosen_paths.get("weights", "")

    def with_all_learning(self) -> Self:
        """The same layers, of which all that ever learn do so from the first step on.

        They begin with weights that are drawn: no file of weights is read for them.
        """
        plain = {"weights": "none", "fine_tune_from_epoch": None, "fine_tune_learning_rate": None}
        fields = type(self).model_fields
        return self.model_copy(update={k: v for k, v in plain.items() if k in fields})

    @property
    def keeps_layers(self) -> bool:
        """Whether some of its layers keep the weights that they begin with."""
        return False

    @property
    def fine_tuning(self) -> FineTuning | None:
        """Which layers begin to learn later; ``None``: what learns is the same all along."""
        return None

    def least_weights(
        self,
        feature_shape: tuple[int, ...],
        outputs: int,
        token_count: int,
    ) -> int:
        """Numbers that it holds at least; 0 for one that code or a file makes.

        Args:
            feature_shape: Of one example, without the batch axis.
            outputs: Of its last layer.
            token_count: How many different numbers stand for words; 0: the features are no words.
        """
        return 0

    def least_activations(self, feature_shape: tuple[int, ...]) -> int:
        """Numbers that a step holds of each example at least.

        Args:
            feature_shape: Of one example, without the batch axis.
        """
        return prod(feature_shape)

    @property
    def normalises_batches(self) -> bool | None:
        """Whether it has batch normalisation; ``None``: known when it is built."""
        return None if self.stack is None else self.stack.batch_norm

    @property
    def synchronizes_batch_norm(self) -> bool:
        """Whether batch normalisation that it has takes its statistics over all replicas."""
        return False

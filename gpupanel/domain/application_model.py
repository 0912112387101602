"""The architectures of ``keras.applications`` as a kind of model."""

from typing import ClassVar

from typing_extensions import override

from gpupanel.domain.applications import APPLICATIONS, Application, ApplicationName
from gpupanel.domain.choice import Choice
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.keras_file import KerasFile
from gpupanel.domain.kind import kind
from gpupanel.domain.model_kind import (
    ExampleKind,
    FrozenLayers,
    Model,
    dropout_setting,
    fine_tune_from_setting,
    fine_tune_rate_setting,
    fine_tuning_of,
    frozen_setting,
    synchronized_setting,
)
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.value import Float32, Fraction, PositiveInt


class ApplicationModel(Model):
    """An architecture of ``keras.applications``, with a head for the data.

    It takes images: bytes, or numbers from 0 to 255. What the architecture wants them scaled to
    is inside the model, also inside the one that is saved. The head is the mean over the image,
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
    frozen_layers: FrozenLayers = frozen_setting()
    fine_tune_from_epoch: PositiveInt | None = fine_tune_from_setting()
    fine_tune_learning_rate: Float32 | None = fine_tune_rate_setting()
    dropout: Fraction = dropout_setting("before the output")
    batch_norm_synchronized: bool = synchronized_setting()

    module: ClassVar[str] = "application"
    is_divided: ClassVar[bool] = True
    wants_pixels: ClassVar[bool] = True
    takes: ClassVar[ExampleKind] = ExampleKind.IMAGES
    takes_any_channels: ClassVar[bool] = False

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
    def fine_tuning(self) -> FineTuning | None:
        return fine_tuning_of(
            self.frozen_layers, self.fine_tune_from_epoch, self.fine_tune_learning_rate
        )

    @property
    @override
    def downloads(self) -> tuple[KerasFile, ...]:
        return (self.application.weights,) if self.weights == "imagenet" else ()

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized

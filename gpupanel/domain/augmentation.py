"""How images are changed at random while they are trained on."""

from typing import Annotated

from pydantic import Field

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Value

Part = Annotated[float, Field(ge=0.0, le=0.9)]
"""A fraction of an image's side, or of the value that is changed."""


class Flip(ChoiceEnum):
    """In which directions an image may be mirrored."""

    NONE = "none", "None", "Images stay as they are."
    HORIZONTAL = (
        "horizontal",
        "Left and right",
        ("Half of the images, chosen at random in each epoch."),
    )
    VERTICAL = "vertical", "Up and down", "Half of the images, chosen at random in each epoch."
    BOTH = (
        "both",
        "Both directions",
        ("Each direction independently: a quarter of the images stay as they are."),
    )


class Fill(ChoiceEnum):
    """What stands where an image that was moved has nothing."""

    REFLECT = "reflect", "Mirrored image", "The image, mirrored at its edge."
    NEAREST = "nearest", "Edge colour", "The nearest pixel, repeated."
    ZERO = "zero", "Black", "Zeros, which suits images with a black background."


class Augmentation(Value):
    """Changes that make no other label of an image, drawn for each example in each epoch.

    What is drawn depends on ``training.seed``, the epoch and the place in it alone: a training that
    is resumed, or divided in another way, sees the same images. Only training examples are
    changed.
    """

    flip: Flip = setting(
        "Flip",
        "Mirror images at random. Not for digits and letters, whose meaning it changes.",
        default=Flip.NONE,
    )
    rotate_degrees: Annotated[float, Field(ge=0.0, le=180.0)] = setting(
        "Rotation (°)",
        "Rotate images by up to this many degrees, in either direction.",
        default=0.0,
        unit="degree",
        off="none",
    )
    zoom: Part = setting(
        "Zoom",
        "Make images larger or smaller by up to this fraction: 0.1 is from 90 % to 110 %.",
        default=0.0,
        off="none",
    )
    shift: Part = setting(
        "Shift",
        "Move images by up to this fraction of their sides, as cropping and padding does.",
        default=0.0,
        off="none",
    )
    fill: Fill = setting(
        "Edges",
        "What fills the area that rotating, zooming or shifting leaves empty.",
        default=Fill.REFLECT,
    )
    brightness: Part = setting(
        "Brightness",
        "Make images lighter or darker by up to this fraction.",
        default=0.0,
        off="none",
    )
    contrast: Part = setting(
        "Contrast",
        "Raise or lower the contrast by up to this fraction.",
        default=0.0,
        off="none",
    )
    hue: Annotated[float, Field(ge=0.0, le=0.5)] = setting(
        "Hue",
        "Shift the hue by up to this fraction of the colour circle; 0.5 reaches every hue.",
        default=0.0,
        off="none",
    )
    cutout: Part = setting(
        "Cutout",
        "Cover a square at a random position with the image's mean colour, so that the model "
        "cannot rely on a single spot. Its side is this fraction of the image's shorter one "
        "(DeVries and Taylor, 2017).",
        default=0.0,
        off="none",
    )
    mixup: Annotated[float, Field(ge=0.0, le=10.0)] = setting(
        "Mixup",
        "Blend each example and its label with another of its batch. The number is the alpha of "
        "the Beta distribution of the amount: with 0.2 most blends are slight, with 1 every "
        "amount is equally likely (Zhang and others, 2018).",
        default=0.0,
        off="none",
    )

    @property
    def moves(self) -> bool:
        """Whether pixels change their places."""
        lengths = (self.rotate_degrees, self.zoom, self.shift)
        return self.flip is not Flip.NONE or any(lengths)

    @property
    def changes_images(self) -> bool:
        """Whether examples must be images: blending alone needs only numbers."""
        return self.moves or any((self.brightness, self.contrast, self.hue, self.cutout))

    @property
    def changes_anything(self) -> bool:
        """Whether examples are changed at all."""
        return self.changes_images or self.mixup > 0.0


NO_AUGMENTATION = Augmentation()
"""Examples are trained on as they are."""

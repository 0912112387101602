"""Other settings for a training that learns by heart or does not learn."""

from typing import Final

from gpupanel.domain.augmentation import NO_AUGMENTATION
from gpupanel.domain.data_source import ImageSource
from gpupanel.domain.problem import Change, Fix
from gpupanel.planning.findings.context import FindingContext

_LEAST_SIDE: Final = 32
"""Pixels: the least that a pretrained network takes."""
_PRETRAINED: Final = "MobileNetV3Small"


def augmented(context: FindingContext) -> Fix | None:
    """Images changed at random, where none are yet and they may be."""
    data = context.profile.data
    if not isinstance(data, ImageSource) or not _is_image(context) or _may_have_masks(context):
        return None
    if data.augmentation != NO_AUGMENTATION:
        return None
    values = {"rotate_degrees": 10.0, "zoom": 0.1, "shift": 0.1}
    changes = (Change(path=("data", "augmentation"), value=values),)
    return context.fix(Fix(label="Change images at random", changes=changes))


def _may_have_masks(context: FindingContext) -> bool:
    """Whether an image may have a mask, which would not be changed with it, nor be learned so."""
    profile = context.profile
    return profile.data.may_have_arrays and profile.model.is_code


def pretrained(context: FindingContext) -> Fix | None:
    """A small network that begins with published weights, where the examples are images."""
    model = context.profile.model
    shape = () if context.data is None else context.data.feature_shape
    if model.begins_with not in ("", "none") or not _is_image(context) or _may_have_masks(context):
        return None
    if min(shape[:2]) < _LEAST_SIDE:
        return None
    value = {"source": _PRETRAINED, "weights": "imagenet", "frozen_layers": "base"}
    change = Change(path=("model",), value=value)
    return context.fix(Fix(label=f"Use pretrained {_PRETRAINED}", changes=(change,)))


def _is_image(context: FindingContext) -> bool:
    shape = () if context.data is None else context.data.feature_shape
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))


def narrower(context: FindingContext) -> Fix | None:
    """Layers half as wide, of a model whose widths are settings."""
    model = context.profile.model
    widths = {name: getattr(model, name, None) for name in ("filters", "hidden")}
    changes = tuple(
        Change(path=("model", name), value=[max(4, width // 2) for width in found])
        for name, found in widths.items()
        if isinstance(found, tuple) and found and max(found) > 4
    )
    return context.fix(Fix(label="Halve the layers", changes=changes)) if changes else None


def other_rate(context: FindingContext) -> float:
    """The usual rate of the optimizer, or where it is near that, a tenth of what was chosen."""
    training = context.profile.training
    usual = training.optimizer.traits.usual_rate
    is_near = usual / 30.0 <= training.learning_rate <= 3.0 * usual
    # A trial of a sweep has six digits, of which a button needs two.
    return float(f"{training.learning_rate / 10.0:.1e}") if is_near else usual

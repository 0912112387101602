"""What is proposed for the data that was chosen: a model, and a batch that fits."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.model_fit import example_kind, suggested_model, use_model
from gpupanel.domain.model_kind import ExampleKind
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.setting import settings_of
from gpupanel.planning.context import PlanningContext

_LEAST_SIDE: Final = 48
"""Pixels. Two convolutions and a dense layer suit the 28x28 or 32x32 of the usual examples."""
_SMALLEST: Final = 8
_SIDES: Final = (64, 96, 128, 160, 192, 224)
"""Image sizes that common networks were made for."""
_LARGEST_BATCH: Final = 64
_LEAST_UPDATES: Final = 8
"""The fewest updates of an epoch."""


def better_model(context: PlanningContext) -> Iterator[Problem]:
    """Images for which there is a better model than plain layers: it is proposed, with a batch."""
    preview, profile = context.known_data, context.profile
    # Of the models with plain layers the shapes are known here.
    if preview is None or not context.trains or profile.model.stack is None:
        return
    if not preview.form.is_plain:
        return  # a model of the person's own takes such
    examples = example_kind(profile.data, preview.feature_shape)
    suggested = suggested_model(examples)
    sides = preview.feature_shape[:2]
    if examples is not ExampleKind.IMAGES or suggested is None or min(sides) < _LEAST_SIDE:
        return
    batch, fitting = profile.training.global_batch_size, batch_for(preview.trained_count)
    is_too_large = bool(preview.trained_count) and fitting < batch
    yield Problem(
        code="model_suggested",
        severity=Severity.HINT,
        field="model.source",
        message=f"From images of {sides[0]}x{sides[1]} pixels a {suggested.name} usually learns "
        "more than plain layers do, with fewer parameters.",
        hint="Use it, or keep the model.",
        fix=use_model(suggested, *(use_batch(fitting).changes if is_too_large else ())),
    )


def better_image_size(context: PlanningContext) -> Iterator[Problem]:
    """Images that are scaled to another size than theirs, and nobody chose it."""
    preview, profile = context.known_data, context.profile
    if preview is None or preview.image_sides is None or not context.trains:
        return
    setting = next((s for s in settings_of(type(profile.data)) if s.name == "image_size"), None)
    chosen = profile.data.chosen_shape[:2]
    if setting is None or chosen != setting.default or profile.model.is_saved:
        return  # a saved model takes images of its own size
    side, takes_any = side_for(min(preview.image_sides)), profile.model.stack is None
    if side == chosen[0] or (side > chosen[0] and not takes_any):
        # A dense layer behind larger images has a weight for each of their pixels.
        return
    sides = f"{preview.image_sides[0]}x{preview.image_sides[1]} pixels"
    loss = "lose much detail" if side > chosen[0] else "cost more and show nothing more"
    yield Problem(
        code="image_size_suggested",
        severity=Severity.HINT,
        field="data.image_size",
        message=f"The usual image has {sides}: scaled to {chosen[0]}x{chosen[1]}, images {loss}.",
        hint="Larger images cost more memory and time.",
        fix=Fix.of(f"Use {side}x{side} pixels", "data.image_size", [side, side]),
    )


def side_for(side: int) -> int:
    """The side to scale images to: theirs where they are small, else the next below, 224 at most.

    Args:
        side: The shorter one of the images, in pixels.
    """
    if side < _LEAST_SIDE:
        return max(side, _SMALLEST)
    return max(each for each in _SIDES if each <= max(side, _SIDES[0]))


def batch_for(trained_on: int) -> int:
    """A global batch with which an epoch has several updates: a power of two, 64 at most.

    Args:
        trained_on: Examples of an epoch.
    """
    most = max(1, min(_LARGEST_BATCH, trained_on // _LEAST_UPDATES))
    return int(2 ** (most.bit_length() - 1))


def use_batch(batch: int) -> Fix:
    """A fix that takes that global batch."""
    return Fix.of(f"Use a batch of {batch:,}", "training.global_batch_size", batch)

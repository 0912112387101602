"""Whether the numbers of examples are what a model expects: their range, and their order."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.data import Axes
from gpupanel.domain.model_kind import ExampleKind, Inputs
from gpupanel.domain.number_text import number_range
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.context import PlanningContext

_CHANNELS: Final = (1, 3, 4)
_LEAST_SIDE: Final = 8
"""The least side of an image: below, its channel axis cannot be detected."""


def channels_first(context: PlanningContext) -> Iterator[Problem]:
    """Images in the order of PyTorch: channels, height, width."""
    preview, model, data = context.known_features, context.profile.model, context.profile.data
    may_matter = model.is_saved or model.is_code or model.takes is ExampleKind.IMAGES
    if preview is None or len(preview.feature_shape) != 3 or not may_matter:
        return
    first, height, width = preview.feature_shape
    if first not in _CHANNELS or min(height, width) < _LEAST_SIDE:
        return
    problem = Problem(
        code="channels_first",
        severity=Severity.WARNING,
        field="data.path",
        message=f"The examples have the shape {first} x {height} x {width}: the channels seem "
        f"to come first, as in PyTorch. They are taken for images of {first} x {height} pixels "
        f"with {width} channels.",
        hint="Give them with the channels last: numpy.moveaxis(x, 1, -1).",
    )
    if not data.may_move_axes:
        yield problem
    elif data.chosen_axes is None:
        move = Fix.of("Move the channels to the end", "data.axes", Axes.CHANNELS_FIRST.value)
        leave = Fix.of("They are last", "data.axes", Axes.CHANNELS_LAST.value)
        hint = "Have them moved to the end, or say that they are there."
        mended = {"hint": hint, "fix": move, "alternatives": (leave,)}
        yield problem.model_copy(update=mended)


def application_inputs(context: PlanningContext) -> Iterator[Problem]:
    """Numbers before an architecture whose own preprocessing is meant for pixels of 0 to 255."""
    preview, profile = context.known_features, context.profile
    is_application = profile.model.wants_pixels and context.trains
    if preview is None or not is_application or profile.data.scaling is not None:
        return
    if preview.value_range is None:
        return
    least, greatest = preview.value_range
    if least >= 0.0 and greatest <= 1.0:
        yield Problem(
            code="application_inputs_scaled",
            severity=Severity.HINT,
            field="model.source",
            message=f"{profile.model.source} takes pixels from 0 to 255, and the examples lie "
            "between 0 and 1: they are multiplied by 255 first, also in the saved model.",
            hint="Nothing needs to be done if they are pixels that were divided by 255.",
        )
    elif least < 0.0 or greatest > 255.0:
        yield Problem(
            code="application_inputs_range",
            severity=Severity.WARNING,
            field="model.source",
            message=f"{profile.model.source} takes pixels from 0 to 255, and the examples have "
            f"values from {number_range(least, greatest)}: its preprocessing brings them into a "
            "range that its weights were not trained with.",
            hint="Save the examples as pixels from 0 to 255 (uint8), or from 0 to 1.",
        )


def saved_model_inputs(context: PlanningContext) -> Iterator[Problem]:
    """Raw pixels for a saved model that takes them as they are: few models learned from these."""
    preview, profile = context.known_features, context.profile
    if preview is None or not _takes_as_given(profile) or preview.model_scales is not False:
        return
    if preview.value_range is None or len(preview.feature_shape) not in (2, 3):
        return
    least, greatest = preview.value_range
    if least >= 0.0 and greatest > _MOST_SCALED:
        yield Problem(
            code="saved_model_inputs_range",
            severity=Severity.WARNING,
            field="model.path",
            message=f"The saved model begins without a layer that scales, and is given pixels from "
            f"{number_range(least, greatest)}. Was it trained on pixels that were divided by 255 "
            "before, its outputs are wrong.",
            hint="If it was, have them divided here, too. If it learned from such pixels, say that "
            "they are given as they are.",
            fix=_given(Inputs.DIVIDED, "Divide by 255 before it"),
            alternatives=(
                _given(Inputs.CENTRED, "Bring into -1 to 1 before it"),
                _given(Inputs.AS_GIVEN, "Give them as they are"),
            ),
        )


def saved_model_divides(context: PlanningContext) -> Iterator[Problem]:
    """Pixels that were divided by 255 for a saved model that divides them itself."""
    preview, profile = context.known_features, context.profile
    if preview is None or not _takes_as_given(profile) or not preview.model_divides_pixels:
        return
    if preview.value_range is None or len(preview.feature_shape) not in (2, 3):
        return
    least, greatest = preview.value_range
    if least >= 0.0 and greatest <= 1.0:
        yield Problem(
            code="saved_model_inputs_scaled",
            severity=Severity.WARNING,
            field="model.path",
            message=f"The saved model begins with a layer that divides pixels from 0 to 255, and "
            f"is given values from {number_range(least, greatest)}. Were they divided by 255 "
            "before, they are divided twice, and its outputs are wrong.",
            hint="If they were, have them multiplied by 255. If it learned from such values, say "
            "that they are given as they are.",
            fix=_given(Inputs.MULTIPLIED, "Multiply by 255 before it"),
            alternatives=(_given(Inputs.AS_GIVEN, "Give them as they are"),),
        )


def saved_model_expects(context: PlanningContext) -> Iterator[Problem]:
    """Values of another range than those that a saved model learned from."""
    preview, profile = context.known_features, context.profile
    if preview is None or not _takes_as_given(profile) or preview.model_expects is None:
        return
    if preview.value_range is None:
        return
    (least, greatest), (low, high) = preview.value_range, preview.model_expects
    is_beyond = least < low or greatest > high
    if not is_beyond and greatest - least > (high - low) / _MOST_NARROW:
        return
    yield Problem(
        code="saved_model_inputs_far",
        severity=Severity.WARNING,
        field="model.path",
        message=f"The saved model is given values from {number_range(least, greatest)}: they "
        + ("lie far beyond" if is_beyond else "are nearly the same beside")
        + " those that it learned from.",
        hint="Give it values as it learned from them; or have these divided or multiplied by 255 "
        "before it, or say that they are given as they are.",
        fix=_given(Inputs.DIVIDED, "Divide by 255 before it")
        if is_beyond
        else _given(Inputs.MULTIPLIED, "Multiply by 255 before it"),
        alternatives=(_given(Inputs.AS_GIVEN, "Give them as they are"),),
    )


def _takes_as_given(profile: Profile) -> bool:
    """Whether it is a saved model, and nobody said what is done with its examples."""
    return profile.model.is_saved and profile.model.chosen_inputs is None


def _given(inputs: Inputs, label: str) -> Fix:
    return Fix.of(label, "model.inputs", inputs.value)


_MOST_NARROW: Final = 1000.0
"""Values within such a part of what a model may be given are nearly the same to it."""
_MOST_SCALED: Final = 16.0
"""Standardised pixels stay below this."""

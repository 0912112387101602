"""Whether examples are what a model takes: known from their shape, before anything is built."""

from gpupanel.domain.data import DataSettings
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.model_kind import ExampleKind
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.setting import settings_of

_NAMES = {
    ExampleKind.IMAGES: "images",
    ExampleKind.WORDS: "texts",
    ExampleKind.COLUMNS: "rows of a table",
}
_HINTS = {
    ExampleKind.IMAGES: "Use dense layers (an MLP), or data whose examples are height x width "
    "(x channels).",
    ExampleKind.WORDS: "Use dense layers (an MLP), or texts as data.",
    ExampleKind.COLUMNS: "Use dense layers (an MLP), or a table as data.",
}
_USE_MLP = Fix.of("Use an MLP", "model", {"source": "mlp"})


def kind_misfit(model: ModelSettings, data: DataSettings) -> Problem | None:
    """Why a model cannot take the examples of a source, as far as its settings say it."""
    is_text = data.token_count > 0
    known = {
        ExampleKind.ANY: True,
        ExampleKind.IMAGES: data.has_images is not False and not is_text,
        ExampleKind.WORDS: is_text,
        ExampleKind.COLUMNS: not data.has_images and not is_text,
    }
    if known[model.takes]:
        return None
    return _misfit(model, f"{data.source} has none")


def shape_misfit(
    model: ModelSettings, data: DataSettings, feature_shape: tuple[int, ...]
) -> Problem | None:
    """Why a model cannot take examples of that shape.

    Args:
        model: What is trained.
        data: Where they come from.
        feature_shape: Of one example: an image has two axes, or three with its channels.
    """
    if (problem := kind_misfit(model, data)) is not None:
        return problem
    if model.takes is ExampleKind.COLUMNS and len(feature_shape) != 1:
        return _misfit(model, f"an example of {data.source} has the shape {feature_shape}")
    if model.takes is not ExampleKind.IMAGES:
        return None
    is_image = len(feature_shape) in (2, 3)
    if not model.takes_any_channels:
        is_image = is_image and feature_shape[2:] in ((), (1,), (3,))
    smallest = min(feature_shape[:2]) if is_image else 0
    if not is_image or (smallest < 2 and model.least_side > 1):
        return _misfit(model, f"an example of {data.source} has the shape {feature_shape}")
    if smallest >= model.least_side:
        return None
    if model.stack is None:
        return _image_below(model, data, feature_shape)
    most = smallest.bit_length() - 1
    filters = model.stack.filters
    return Problem(
        code="model_pictures_too_small",
        field="model.filters",
        message=f"Images of {feature_shape[0]}x{feature_shape[1]} pixels are too small for "
        f"{len(filters)} convolutions: each halves both sides.",
        hint=f"Use at most {most} of them.",
        fix=Fix.of(f"Keep the first {most}", "model.filters", list(filters[:most])),
    )


def _misfit(model: ModelSettings, why: str) -> Problem:
    return Problem(
        code=f"model_needs_{model.takes}",
        field="model.source",
        message=f"The model {model.source} takes {_NAMES[model.takes]}, and {why}.",
        hint=_HINTS[model.takes],
        fix=_USE_MLP,
    )


def _image_below(
    model: ModelSettings, data: DataSettings, feature_shape: tuple[int, ...]
) -> Problem:
    least = model.least_side
    sides = [max(side, least) for side in feature_shape[:2]]
    may_be_scaled = any(each.name == "image_size" for each in settings_of(type(data)))
    scaled = Fix.of(f"Use {sides[0]}x{sides[1]} pixels", "data.image_size", sides)
    return Problem(
        code="model_pictures_too_small",
        field="data.image_size" if may_be_scaled else "model.source",
        message=f"Images of {feature_shape[0]}x{feature_shape[1]} pixels are too small for "
        f"{model.source}, which needs {least}x{least} at least.",
        hint="Scale them to a larger size." if may_be_scaled else "Use larger images, or a CNN.",
        fix=scaled if may_be_scaled else None,
    )

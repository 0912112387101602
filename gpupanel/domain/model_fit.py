"""Whether examples are what a model takes: known from their shape, before anything is built."""

from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import SOURCE, Kind, kinds_of
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.model_kind import ExampleKind, Model
from gpupanel.domain.problem import Change, Fix, Problem
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


def example_kind(data: DataSettings, feature_shape: tuple[int, ...] = ()) -> ExampleKind:
    """What the examples of a source are.

    Args:
        data: The source.
        feature_shape: Of one example; empty: not known.
    """
    if data.token_count:
        return ExampleKind.WORDS
    if data.has_images or (data.has_images is None and len(feature_shape) in (2, 3)):
        return ExampleKind.IMAGES
    return ExampleKind.COLUMNS if data.has_images is False else ExampleKind.ANY


def suggested_model(examples: ExampleKind) -> Kind | None:
    """The model that is proposed first for such examples; ``None``: one that takes any will do."""
    for kind in kinds_of(ModelSettings):
        model = kind.values
        if issubclass(model, Model) and model.is_suggested and model.takes is examples:
            return kind
    return None


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
    return _misfit(model, f"{data.source} has none", example_kind(data))


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
    words = f"an example of {data.source} has the shape {feature_shape}"
    of_shape = words, example_kind(data, feature_shape)
    if model.takes is ExampleKind.COLUMNS and len(feature_shape) != 1:
        return _misfit(model, *of_shape)
    if model.takes is not ExampleKind.IMAGES:
        return None
    is_image = len(feature_shape) in (2, 3)
    if not model.takes_any_channels:
        is_image = is_image and feature_shape[2:] in ((), (1,), (3,))
    smallest = min(feature_shape[:2]) if is_image else 0
    if not is_image or (smallest < 2 and model.least_side > 1):
        return _misfit(model, *of_shape)
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


def _misfit(model: ModelSettings, why: str, examples: ExampleKind) -> Problem:
    suggested = None if examples is model.takes else suggested_model(examples)
    fixes = (_USE_MLP,) if suggested is None else (use_model(suggested), _USE_MLP)
    return Problem(
        code=f"model_needs_{model.takes}",
        field="model.source",
        message=f"The model {model.source} takes {_NAMES[model.takes]}, and {why}.",
        hint=_HINTS[model.takes],
        fix=fixes[0],
        alternatives=fixes[1:],
    )


def use_model(kind: Kind, *more: Change) -> Fix:
    """A fix that takes a model with its default settings.

    Args:
        kind: Which.
        more: Changed with it.
    """
    change = Change(path=("model",), value={SOURCE: kind.source})
    return Fix(label=f"Use the model “{kind.name}”", changes=(change, *more))


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

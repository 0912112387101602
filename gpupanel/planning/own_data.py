"""Settings that fit data of one's own, where nobody has chosen any yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from gpupanel.domain.applications import APPLICATIONS, Application
from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DataSettings
from gpupanel.domain.model_fit import example_kind
from gpupanel.domain.model_kind import ExampleKind
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.profile import LONGEST_NAME, Profile
from gpupanel.domain.setting import setting_of
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.rules.suggestion_rules import batch_for, side_for
from gpupanel.planning.starting_profile import STARTING_NAMES, is_still_starting

FEW_IMAGES: Final = 5_000
"""Training images. With fewer, weights that were learned before are kept and only the head learns:
a network's millions of weights would fit so few images by heart. With as many or more, the whole
network learns once the head has learned for some epochs."""
_FINE_TUNE_FROM: Final = 4
_MOST_WEIGHTS: Final = 10_000_000
"""Of a pretrained network to begin with: a CPU still trains it in minutes."""
_LEAST_ORIGINAL_SIDE: Final = 64
"""Pixels: ImageNet's photographs are of larger things than smaller images show."""
_LEAST_SIDE, _MOST_SCRATCH_SIDE = 96, 128
"""Pixels: to which images are scaled for a pretrained network at least, for a ResNet at most."""
_LEAST_BATCH: Final = 8
_AUGMENTATION: Final = Augmentation(
    rotate_degrees=10.0, zoom=0.1, shift=0.1, brightness=0.1, contrast=0.1
)
"""None of it changes what an image shows. Mirroring does, of letters, signs and hands."""


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A network whose published weights can be had.

    Attributes:
        application: Which.
        is_here: Whether its weights were downloaded before.
    """

    application: Application
    is_here: bool


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was chosen for data of one's own.

    Attributes:
        profile: With it.
        reason: What, and why, in a few sentences.
    """

    profile: Profile
    reason: str


@dataclass(frozen=True, slots=True)
class _Choice:
    sentence: str
    model: Mapping[str, object]
    epochs: int = 100
    patience: int = 10
    rate: float = 1e-3
    data: Mapping[str, object] = field(default_factory=dict)
    """What the data's settings are to be, where nobody chose them."""


def pretrained_networks() -> tuple[Application, ...]:
    """Those that a training on images may begin with, the smallest first."""
    small = (each for each in APPLICATIONS if each.parameters <= _MOST_WEIGHTS)
    return tuple(sorted(small, key=lambda each: each.parameters))


def is_own(data: DataSettings) -> bool:
    """Whether it is a file or a folder that a person chose, with something to be learned."""
    path = data.path_setting
    return (
        path is not None and path.is_required and bool(data.chosen_path) and not data.chosen_files
    )


def may_be_fitted(profile: Profile, before: Fitted | None = None) -> bool:
    """Whether nothing is overwritten that a person chose.

    Args:
        profile: As it is now.
        before: What other data was fitted with; what is left of it was not chosen either.
    """
    if profile.task != "train" or profile.sweep is not None or not is_own(profile.data):
        return False
    given = None if before is None else (before.profile.model, before.profile.training)
    return is_still_starting(profile) or (profile.model, profile.training) == given


def may_use_pretrained(data: DataSettings) -> bool:
    """Whether its examples are images of any size, with the pixels that such networks take."""
    return bool(data.has_images) and "image_size" in type(data).model_fields


def fitted_to_data(
    profile: Profile,
    preview: DataPreview,
    pretrained: Pretrained | None,
    before: Fitted | None = None,
) -> Fitted | None:
    """Name, model, training, image size and augmentation for the data that was chosen.

    Args:
        profile: Names data of one's own; see :func:`may_be_fitted`.
        preview: Of this data.
        pretrained: The smallest that can be had; ``None``: none can.
        before: What other data was fitted with: it is replaced.

    Returns:
        ``None`` where too little is known of the data, or it cannot be trained on.
    """
    count = preview.training_count
    if preview.is_refused or not count or not preview.feature_shape or not preview.form.is_plain:
        return None
    chosen = _chosen(profile.data, preview, pretrained)
    more = []
    data = _fitted_data(profile.data, chosen, None if before is None else before.profile.data)
    if data.chosen_augmentation.changes_anything:
        more.append("augmentation")
    training: dict[str, object] = {
        "epochs": chosen.epochs,
        "global_batch_size": max(batch_for(count), min(count, _LEAST_BATCH)),
        "learning_rate": chosen.rate,
    }
    if preview.held_out_count:
        training["early_stopping_patience"] = chosen.patience
        more.append("early stopping")
    parts = {"name": _name(profile, before), "data": data.model_dump(), "model": chosen.model}
    fitted = Profile.model_validate({**profile.model_dump(), **parts, "training": training})
    with_more = f" With {' and '.join(more)}." if more else ""
    return Fitted(fitted, chosen.sentence + with_more)


def with_choices_since(fitted: Fitted, before: Profile, now: Profile) -> Fitted | None:
    """What was chosen for data, with what a person changed while that was found out.

    Args:
        fitted: Made of ``before``.
        before: The profile as it was when the data was chosen.
        now: As it is.

    Returns:
        ``None`` where the person chose a model, or something else to do with it.
    """
    if (now.model, now.task, now.sweep) != (before.model, before.task, before.sweep):
        return None
    made = fitted.profile
    parts = {
        "name": made.name if now.name == before.name else now.name,
        "model": made.model,
        "training": made.training.model_copy(update=_changed(before.training, now.training)),
        "data": made.data.model_copy(update=_changed(before.data, now.data)),
    }
    return Fitted(now.model_copy(update=parts), fitted.reason)


def _changed(before: Value, now: Value) -> dict[str, object]:
    return {
        name: value
        for name in type(now).model_fields
        if (value := getattr(now, name)) != getattr(before, name, value)
    }


def _chosen(data: DataSettings, preview: DataPreview, pretrained: Pretrained | None) -> _Choice:
    for_data = f"Chosen for {preview.training_count:,}"
    examples = example_kind(data, preview.feature_shape)
    if examples is ExampleKind.IMAGES:
        return _for_images(for_data, data, preview, pretrained)
    if examples is ExampleKind.WORDS:
        model = {"source": "transformer", "dropout": 0.2}
        return _Choice(f"{for_data} texts: a small transformer.", model, 20, 3, 5e-4)
    if data.source == "table":
        model = {"source": "table", "dropout": 0.1}
        layers = "two dense layers, and an embedding of each column of categories"
        return _Choice(f"{for_data} rows: {layers}.", model)
    dense: dict[str, object] = {"source": "mlp", "hidden": (128, 64), "dropout": 0.1}
    return _Choice(f"{for_data} examples: two dense layers.", dense)


def _for_images(
    for_data: str, data: DataSettings, preview: DataPreview, pretrained: Pretrained | None
) -> _Choice:
    original = min(preview.image_sides or preview.feature_shape[:2])
    is_large = original >= _LEAST_ORIGINAL_SIDE
    wanted: dict[str, object] = {"augmentation": _AUGMENTATION}
    if may_use_pretrained(data) and is_large and pretrained is not None:
        side = max(_LEAST_SIDE, side_for(original))
        wanted["image_size"] = (side, side)
        words, model = _with_weights(pretrained, preview.training_count)
        return _Choice(f"{for_data} images: {words}", model, 30, 5, data=wanted)
    side = min(side_for(original), _MOST_SCRATCH_SIDE)
    wanted["image_size"] = (side, side)
    why = ""
    if may_use_pretrained(data):
        why = (
            ", because no weights of a pretrained network have been downloaded, and their server "
            "cannot be reached"
            if is_large
            else f", because images of {original} pixels are too small for a pretrained network"
        )
    model = {"source": "resnet", "dropout": 0.2}
    sentence = f"{for_data} images: a small ResNet that learns from scratch{why}."
    return _Choice(sentence, model, data=wanted)


def _with_weights(pretrained: Pretrained, count: int) -> tuple[str, Mapping[str, object]]:
    application = pretrained.application
    megabytes = f"{application.weights.size_bytes / 1e6:.0f} MB"
    got = "already downloaded" if pretrained.is_here else f"{megabytes}, downloaded once"
    model: dict[str, object] = {"source": application.name, "weights": "imagenet", "dropout": 0.2}
    if count < FEW_IMAGES:
        model["frozen_layers"] = "base"
        learns = f"With fewer than {FEW_IMAGES:,} images only its last layer learns."
    else:
        model |= {"fine_tune_from_epoch": _FINE_TUNE_FROM, "fine_tune_learning_rate": 1e-4}
        learns = f"Its last layer learns first, and all of it from epoch {_FINE_TUNE_FROM} on."
    return f"{application.name}, pretrained on ImageNet ({got}). {learns}", model


def _fitted_data(data: DataSettings, chosen: _Choice, before: DataSettings | None) -> DataSettings:
    """The data with what is wanted of its settings that nobody chose."""
    free = {
        key: value
        for key, value in chosen.data.items()
        if key in type(data).model_fields
        and getattr(data, key) in (setting_of(type(data), key).default, getattr(before, key, None))
    }
    return data.model_copy(update=free)


def _name(profile: Profile, before: Fitted | None) -> str:
    """That of the file or the folder, unless a person gave another one."""
    nobodys = STARTING_NAMES if before is None else {*STARTING_NAMES, before.profile.name}
    if profile.name not in nobodys:
        return profile.name
    path, setting = PurePath(profile.data.chosen_path), profile.data.path_setting
    suffixes = () if setting is None or setting.path is None else setting.path.suffixes
    name = path.stem if path.suffix.lower() in suffixes else path.name
    return visible_line(name).strip()[:LONGEST_NAME] or profile.name

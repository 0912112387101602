"""An architecture of ``keras.applications`` with a head, as the trainer builds it."""

from collections.abc import Iterator
from string import Template

from typing_extensions import override

from gpupanel.domain.data import Scaling
from gpupanel.domain.layers import NORM_MOMENTUM
from gpupanel.domain.model import ApplicationModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.model_section import BuiltText, ModelScript, outputs_of
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import lines_of

_BASE = """
pixels = keras.applications.$family.preprocess_input(pixels)
base = keras.applications.$name(include_top=False, weights=None, input_shape=pixels.shape[1:])
base.name = "base"
"""
_NORMS = """
for norm in batch_norms(base):
    norm.momentum = $momentum
"""
_PUBLISHED_WEIGHTS = """
weights = keras.utils.get_file(
    $file,
    $url,
    cache_subdir="models",$digest
)
base.load_weights(weights)
"""
_FROZEN = """
layers = [layer for layer in base.layers if layer.weights]
for layer in $frozen:
    layer.trainable = False
"""
_MEAN = """
hidden = keras.layers.GlobalAveragePooling2D(name="mean")(base(pixels))
"""
_OUTPUTS = """
outputs = keras.layers.Dense($outputs, name="outputs", dtype="float32")(hidden)
"""


class _Application(ModelScript[ApplicationModel]):
    """Python that builds it."""

    @override
    def built(self, model: ApplicationModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        return BuiltText(part("rgb_pixels"), in_scope=lines_of(_built(model, profile)))


def _built(model: ApplicationModel, profile: Profile) -> Iterator[str]:
    data, application = profile.data, model.application
    yield 'inputs = keras.Input(x.shape[1:], name="features")'
    if data.scaling in (None, Scaling.NONE):
        yield "is_to_1 = x.dtype != np.uint8 and x.min() >= 0 and x.max() <= 1"
        yield "pixels = rgb_pixels(inputs, 1 if is_to_1 else 255)"
    else:
        greatest = data.greatest if data.scaling is Scaling.DIVIDE else 255
        yield f"pixels = rgb_pixels(inputs, {greatest})"
    yield Template(_BASE).substitute(family=application.family.module, name=application.name)
    yield Template(_NORMS).substitute(momentum=NORM_MOMENTUM)
    published = application.weights
    if model.downloads:
        yield Template(_PUBLISHED_WEIGHTS).substitute(
            file=f'"{published.place}"',
            url=f'"{published.url}"',
            digest=f'\n    file_hash="{published.digest}",' if published.digest else "",
        )
    elif model.weights != "none":
        yield f"base.load_weights({model.weights!r})"
    last = model.frozen_layers if isinstance(model.frozen_layers, int) else 0
    if model.keeps_layers or model.fine_tuning is not None:
        # Until layers begin to learn, the whole base is frozen.
        is_whole = not last or model.fine_tuning is not None
        yield Template(_FROZEN).substitute(frozen="layers" if is_whole else f"layers[: -{last}]")
    if profile.fine_tuning is not None:
        later = f"layers[-{last} :]" if last else "layers"
        yield f"later_layers = {later}  # learn from epoch {model.fine_tune_from_epoch} on"
    yield _MEAN
    if model.dropout:
        yield f'hidden = keras.layers.Dropout({model.dropout}, name="dropout")(hidden)'
    yield Template(_OUTPUTS).substitute(outputs=outputs_of(data))


SCRIPT = _Application()

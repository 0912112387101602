"""An architecture of ``keras.applications`` with a head, as the trainer builds it."""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import Scaling
from gpupanel.domain.model import ApplicationModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.model_section import BuiltText, ModelScript, outputs_of
from gpupanel.planning.script.sections import lines_for

# In the margin: D pixels that are not from 0 to 255, U pixels of a range that the data shows, W
# weights that were learned before, K those that Keras publishes, F frozen layers, P dropout, L
# layers that learn later.
_TEXT = """
  |inputs = keras.Input(x.shape[1:], name="features")
d |pixels = inputs
D |pixels = keras.layers.Rescaling(255 / $greatest, name="pixels", dtype="float32")(inputs)
U |if x.dtype != np.uint8 and x.min() >= 0 and x.max() <= 1:
U |    pixels = keras.layers.Rescaling(255.0, name="pixels", dtype="float32")(inputs)
  |if len(pixels.shape) == 3:
  |    pixels = keras.layers.Reshape((*x.shape[1:], 1), name="channel", dtype="float32")(pixels)
  |if pixels.shape[-1] == 1:
  |    pixels = keras.layers.Concatenate(name="colours", dtype="float32")([pixels] * 3)
  |pixels = keras.applications.$family.preprocess_input(pixels)
  |base = keras.applications.$name(include_top=False, weights=None, input_shape=pixels.shape[1:])
  |base.name = "base"
K |weights = keras.utils.get_file(
K |    $file,
K |    $url,
K |    cache_subdir="models",$digest
K |)
K |base.load_weights(weights)
Wk|base.load_weights($weights)
F |layers = [layer for layer in base.layers if layer.weights]
F |for layer in $frozen:
F |    layer.trainable = False
L |later_layers = $later  # learn from epoch $from_epoch on
  |hidden = keras.layers.GlobalAveragePooling2D(name="mean")(base(pixels))
P |hidden = keras.layers.Dropout($dropout, name="dropout")(hidden)
  |outputs = keras.layers.Dense($outputs, name="outputs", dtype="float32")(hidden)
"""


class _Application(ModelScript[ApplicationModel]):
    """Python that builds it."""

    @override
    def built(self, model: ApplicationModel, profile: Profile, plan: LaunchPlan) -> BuiltText:
        data, application = profile.data, model.application
        published = application.weights
        conditions = {
            "D": data.scaling is Scaling.DIVIDE and data.greatest != 255,
            "U": data.scaling in (None, Scaling.NONE),
            "W": model.weights != "none",
            "K": bool(model.downloads),
            "F": model.keeps_layers or model.fine_tuning is not None,
            "P": model.dropout > 0.0,
            "L": profile.fine_tuning is not None,
        }
        last = model.frozen_layers if isinstance(model.frozen_layers, int) else 0
        # Until layers begin to learn, the whole base is frozen.
        is_whole = not last or model.fine_tuning is not None
        digest = f'\n    file_hash="{published.digest}",' if published.digest else ""
        text = Template(lines_for(_TEXT, {name for name, holds in conditions.items() if holds}))
        return BuiltText(
            "",
            in_scope=text.substitute(
                greatest=data.greatest,
                family=application.family.module,
                name=application.name,
                file=f'"{published.place}"',
                url=f'"{published.url}"',
                digest=digest,
                weights=repr(model.weights),
                frozen="layers" if is_whole else f"layers[: -{last}]",
                later=f"layers[-{last} :]" if last else "layers",
                from_epoch=model.fine_tune_from_epoch,
                dropout=model.dropout,
                outputs=outputs_of(data),
            ),
        )


SCRIPT = _Application()

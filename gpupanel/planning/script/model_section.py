"""The script's model: the same layers, with the same names, as a run builds."""

from gpupanel.domain.data import KerasData, Target
from gpupanel.domain.model import BuildableModel, CnnModel
from gpupanel.domain.profile import Profile

_FLOAT32 = 'dtype="float32"'


def model_section(profile: Profile, model: BuildableModel) -> str:
    """Python that builds the model within the strategy's scope."""
    lines = ["with strategy.scope():"]
    if profile.training.mixed_precision:
        lines.insert(0, 'keras.config.set_dtype_policy("mixed_bfloat16")')
    body = ["inputs = keras.Input(x.shape[1:])", *_scaling(profile)]
    if isinstance(model, CnnModel):
        body += _convolutions(model)
    else:
        body.append("hidden = keras.layers.Flatten()(hidden)")
    body += _dense(model)
    outputs = "class_count" if profile.data.target is Target.CLASSES else "1"
    body += [
        f"outputs = keras.layers.Dense({outputs}, {_FLOAT32})(hidden)",
        "model = keras.Model(inputs, outputs)",
        f"optimizer = {_optimizer(profile)}",
    ]
    return "\n".join([*lines, *(f"    {line}" for line in body)])


def _scaling(profile: Profile) -> list[str]:
    if profile.data.target is Target.VALUES:
        return [
            "deviation = np.where(x.std(axis=0) > 0, x.std(axis=0), 1)",
            "normalise = keras.layers.Normalization(mean=x.mean(axis=0), variance=deviation**2)",
            "hidden = normalise(inputs)",
        ]
    if isinstance(profile.data, KerasData) and profile.data.source in ("imdb", "reuters"):
        return ["hidden = inputs"]
    return [f"hidden = keras.layers.Rescaling(1 / greatest, {_FLOAT32})(inputs)"]


def _convolutions(model: CnnModel) -> list[str]:
    lines = ["if len(hidden.shape) == 3:"]
    lines.append("    hidden = keras.layers.Reshape((*hidden.shape[1:], 1))(hidden)")
    for filters in model.filters:
        lines.append(f'hidden = keras.layers.Conv2D({filters}, 3, padding="same")(hidden)')
        if model.batch_norm:
            lines.append(_batch_norm(model))
        lines.append("hidden = keras.layers.ReLU()(hidden)")
        lines.append("hidden = keras.layers.MaxPooling2D(2)(hidden)")
    return [*lines, "hidden = keras.layers.Flatten()(hidden)"]


def _batch_norm(model: BuildableModel) -> str:
    synchronized = model.batch_norm_synchronized
    return f"hidden = keras.layers.BatchNormalization(synchronized={synchronized})(hidden)"


def _dense(model: BuildableModel) -> list[str]:
    lines = []
    for units in model.hidden:
        lines.append(f"hidden = keras.layers.Dense({units})(hidden)")
        if model.batch_norm:
            lines.append(_batch_norm(model))
        lines.append("hidden = keras.layers.ReLU()(hidden)")
        if model.dropout:
            lines.append(f"hidden = keras.layers.Dropout({model.dropout})(hidden)")
    if isinstance(model, CnnModel) and model.dropout and not model.hidden:
        lines.append(f"hidden = keras.layers.Dropout({model.dropout})(hidden)")
    return lines


def _optimizer(profile: Profile) -> str:
    training = profile.training
    name = {"adam": "Adam", "adamw": "AdamW", "sgd": "SGD", "rmsprop": "RMSprop"}[
        training.optimizer
    ]
    momentum = f", momentum={training.momentum}" if training.optimizer in ("sgd", "rmsprop") else ""
    return f"keras.optimizers.{name}({training.learning_rate}{momentum})"

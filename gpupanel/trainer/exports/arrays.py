"""What a model takes and gives whose inputs or outputs are arrays by their names."""

from typing import Final

import keras

from gpupanel.domain.data import Target
from gpupanel.domain.model import Outputs
from gpupanel.domain.trained_on import TrainedOn, TrainedOutput
from gpupanel.trainer.exports.described_model import ArrayInput, ArrayOutput, ModelArrays
from gpupanel.trainer.inference.replicas import OutputLayer, output_layer_of
from gpupanel.trainer.models.named_model import Named, NamedModel

_MEANS: Final = {
    Target.CLASSES: "The probability of each class, along the last axis.",
    Target.LABELS: "The probability that each place is 1.",
    Target.VALUES: "A number for each place, in the unit of the training data.",
}
_UNKNOWN: Final = "The numbers as the model gives them: its file does not say what they mean."


def taken_by(model: NamedModel, examples: Named) -> tuple[ArrayInput, ...]:
    """What the model takes, in the order of its inputs.

    Args:
        model: Sides of its inputs may be open.
        examples: Have one for each of these.
    """
    return tuple(
        ArrayInput(
            name=name,
            shape=tuple(
                side or known
                for side, known in zip(each.shape[1:], examples[name].shape[1:], strict=True)
            ),
            dtype=str(each.dtype),
        )
        for name, each in model.inputs.items()
    )


def row_of(
    model: NamedModel, trained: TrainedOn | None, said: Outputs | None
) -> OutputLayer | None:
    """The last layer of a model that gives a row of classes, labels or values.

    Args:
        model: Any.
        trained: What its file says of its training.
        said: What its outputs are, as a person says.

    Returns:
        ``None``: it gives arrays, or what only a loss of a person's own knows.
    """
    if trained is None and model.gives_one:
        sides = model.model.outputs[0].shape[1:]
        is_row = all(side == 1 for side in sides[:-1])
    else:
        is_row = trained is not None and trained.outputs == "row"
    if not is_row:
        return None
    plain = model.model
    if not model.takes_one:
        plain = keras.Model(plain.inputs, plain.outputs[0])
    return output_layer_of(plain, said)


def arrays_given(trained: TrainedOn | None, outputs: Named) -> ModelArrays:
    """What a model gives, as far as its file says it.

    Args:
        trained: What that says; ``None``: nothing.
        outputs: For some examples, by names.
    """
    known = dict[str, TrainedOutput]()
    if trained is not None and trained.outputs == "arrays":
        known = {each.name: each for each in trained.parts}
        if not known:
            (name,) = outputs
            known[name] = TrainedOutput(
                name=name, predicts=trained.predicts, class_names=trained.class_names
            )
    return ModelArrays(
        outputs=tuple(
            _output(name, tuple(each.shape[1:]), known.get(name)) for name, each in outputs.items()
        )
    )


def _output(name: str, shape: tuple[int, ...], known: TrainedOutput | None) -> ArrayOutput:
    if known is None:
        return ArrayOutput(
            name=name, kind="unknown", numbers="unknown", shape=shape, means=_UNKNOWN
        )
    return ArrayOutput(
        name=name,
        kind=known.predicts,
        numbers="values" if known.predicts is Target.VALUES else "probabilities",
        shape=shape,
        names=known.class_names,
        means=_MEANS[known.predicts],
    )

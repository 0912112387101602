"""The optimizers that a profile can name, each a value with what is asked about it.

One more is a member and its traits, where Keras has a class of that name and what it takes are
settings of ``[training]``: window, schema, trainer and exported script have it from here.
"""

from dataclasses import dataclass

from gpupanel.domain.choice import ChoiceEnum


@dataclass(frozen=True, slots=True)
class OptimizerTraits:
    """What is asked about an optimizer.

    Attributes:
        moments: Numbers that it keeps beside each weight, momentum left out.
        takes: Settings of ``[training]`` that Keras's class takes under the same name. With
            ``momentum`` it keeps one more number where that is not 0.
        decays_weights: Makes weights a little smaller with each update.
        is_fused: A run has one operation of TensorFlow's do the whole update.
    """

    moments: int = 0
    takes: tuple[str, ...] = ()
    decays_weights: bool = False
    is_fused: bool = False

    @property
    def has_momentum(self) -> bool:
        """Whether it takes the setting ``momentum``."""
        return "momentum" in self.takes


class Optimizer(ChoiceEnum):
    """Keras's optimizers that a profile can name; the label is the name of Keras's class."""

    ADAM = "adam", "Adam", "Adapts the step of each weight; a good first choice."
    ADAMW = "adamw", "AdamW", "Adam with weights that decay a little at each update."
    SGD = "sgd", "SGD", "Plain gradient descent, with momentum if you like."
    RMSPROP = "rmsprop", "RMSprop", "Divides each step by how large recent gradients were."

    @property
    def traits(self) -> OptimizerTraits:
        """What is asked about it."""
        return _TRAITS[self]


_TRAITS = {
    Optimizer.ADAM: OptimizerTraits(moments=2, is_fused=True),
    Optimizer.ADAMW: OptimizerTraits(moments=2, decays_weights=True, is_fused=True),
    Optimizer.SGD: OptimizerTraits(takes=("momentum",)),
    Optimizer.RMSPROP: OptimizerTraits(moments=1, takes=("momentum",)),
}

DEFAULT_OPTIMIZER = Optimizer.ADAM
"""What a new profile trains with."""


def optimizers_taking(name: str) -> tuple[str, ...]:
    """Those that take a setting, as profiles name them."""
    return tuple(each.value for each in Optimizer if name in each.traits.takes)

"""The optimizers that a profile can name, each a value with what is asked about it.

One more is a member and its traits, where Keras has a class of that name and what it takes are
settings of ``[training]``: window, schema, trainer and exported script have it from here.
"""

import struct
from dataclasses import dataclass

from gpupanel.domain.choice import ChoiceEnum


@dataclass(frozen=True, slots=True)
class OptimizerTraits:
    """What is asked about an optimizer.

    Attributes:
        moments: Numbers that it keeps beside each weight, momentum left out.
        takes: Settings of ``[training]`` that Keras's class takes under the same name, beside
            ``weight_decay``, which every one takes. With ``momentum`` it keeps one more number
            where that is not 0.
        decays_weights: Makes weights a little smaller with each update where nothing says how much.
        held_in_update: Numbers beside each weight that an update holds for a moment, where no fused
            operation does it. With momentum it is one more.
        is_fused: A run may have one operation of TensorFlow's do the whole update.
        usual_rate: A learning rate to begin with: Keras's own default, except of Lion, whose
            authors advise one 3 to 10 times smaller than Adam's (Chen and others, 2023).
    """

    moments: int = 0
    held_in_update: int = 0
    takes: tuple[str, ...] = ()
    decays_weights: bool = False
    is_fused: bool = False
    usual_rate: float = 1e-3

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
    LION = (
        "lion",
        "Lion",
        "Uses only the sign of a momentum; needs a learning rate 3 to 10 times smaller.",
    )

    @property
    def traits(self) -> OptimizerTraits:
        """What is asked about it."""
        return _TRAITS[self]


_BETAS = ("beta_1", "beta_2")
_TRAITS = {
    Optimizer.ADAM: OptimizerTraits(
        moments=2, held_in_update=2, takes=(*_BETAS, "epsilon"), is_fused=True
    ),
    Optimizer.ADAMW: OptimizerTraits(
        moments=2,
        held_in_update=2,
        takes=(*_BETAS, "epsilon"),
        decays_weights=True,
        is_fused=True,
    ),
    Optimizer.SGD: OptimizerTraits(takes=("momentum", "nesterov"), usual_rate=1e-2),
    Optimizer.RMSPROP: OptimizerTraits(moments=1, held_in_update=1, takes=("momentum", "epsilon")),
    Optimizer.LION: OptimizerTraits(moments=1, held_in_update=2, takes=_BETAS, usual_rate=1e-4),
}

DEFAULT_OPTIMIZER = Optimizer.ADAM
"""What a new profile trains with."""
PLAIN_OPTIMIZER = Optimizer.SGD
"""Whose update is the gradient itself, as far as the learning rate says."""
_FUSED_ROUNDING = 2e-5
"""How far, relative to it, the rounding of 1 - beta may move a moment: 1.3e-5 at Adam's usual."""


def optimizers_taking(name: str) -> tuple[str, ...]:
    """The optimizers that take a setting, as profiles name them."""
    return tuple(each.value for each in Optimizer if name in each.traits.takes)


def is_fine_in_float32(beta: float) -> bool:
    """Whether 1 - beta is nearly the same when beta was rounded to float32 before.

    That is how TensorFlow's fused operation takes it, where Keras subtracts in double precision.
    """
    (rounded,) = struct.unpack("f", struct.pack("f", beta))
    return bool(abs(rounded - beta) <= _FUSED_ROUNDING * (1.0 - beta))

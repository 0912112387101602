"""Layers whose results depend on how a batch is divided, and what is said of them."""

from collections.abc import Sequence
from typing import Final

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.visible_text import visible_line

MIXING_LAYERS: Final = frozenset({"AugMix", "CutMix", "Equalization", "MixUp", "RandAugment"})
"""Keras's own that take something from the other examples of a call, or draw once for a graph.

``MixUp`` and ``CutMix`` blend an example with another one, ``Equalization`` (also in
``RandAugment``) counts the values of all, and ``AugMix`` draws by Python while it is traced.
"""
_MOST_NAMES = 5


def depends_on_split(layers: Sequence[str], why: str = ".") -> Problem:
    """A warning about layers that do not draw by step and example.

    Args:
        layers: Their names; a stranger's.
        why: As the end of the sentence.
    """
    return Problem(
        code="random_numbers_by_split",
        severity=Severity.WARNING,
        field="model",
        message=f"{_listed(layers)}: what is drawn at random there, or taken from other examples, "
        "depends on how a batch is divided among replicas and micro-batches, and so do the weights"
        f"{why}",
        hint="Draw with keras.random.uniform, normal, randint, gamma, beta, categorical or "
        "dropout, the examples first in the shape; change images in [data.augmentation]; or train "
        "on one device without accumulation.",
    )


def drawn_in_predictions(layers: Sequence[str]) -> Problem:
    """A warning about layers that draw at random also where nothing is trained.

    Args:
        layers: Their names; a stranger's.
    """
    return Problem(
        code="predictions_at_random",
        severity=Severity.WARNING,
        field="model.path",
        message=f"{_listed(layers)}: the model draws at random there also when it predicts. Its "
        "figures and predictions are others each time, here and of every export.",
        hint="Nothing needs to be done if that is wanted, as of Monte Carlo dropout. Otherwise "
        "let those layers draw only where call() gets training=True.",
    )


def _listed(layers: Sequence[str]) -> str:
    named = ", ".join(map(visible_line, layers[:_MOST_NAMES])) or "Layers of the model"
    return f"{named} and {len(layers) - _MOST_NAMES} more" if len(layers) > _MOST_NAMES else named

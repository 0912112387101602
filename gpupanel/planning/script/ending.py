"""How a script finds out what a model ends in: as training does it, by the same text."""

from gpupanel.domain.data import Target
from gpupanel.domain.model import ModelSettings, Outputs
from gpupanel.planning.script.parts import part

_WITH_LOGITS = """ending = ending_of(network{of_places})
if ending == "{probable}":  # the loss is exact before it
    network = before_ending(network, ending{of_places})"""
_PROBABILITIES = """
else:
    network = with_logarithms(network, of_labels={of_labels})"""


def ending_functions() -> str:
    """Python of ``ending_of``, ``before_ending`` and ``with_logarithms``."""
    return part("model_ending")


def with_logits(model: ModelSettings, target: Target | None, are_arrays: str = "") -> str:
    """Lines that take the softmax or sigmoid off ``network``; empty where values are predicted.

    Args:
        model: Has what its outputs are, where a person says it.
        target: What the labels are; ``None``: classes, as far as anybody knows.
        are_arrays: Whether an example has an array of them, as an expression; empty: it has not.
    """
    if target is Target.VALUES:
        return ""
    of_labels = target is Target.LABELS
    lines = _WITH_LOGITS.format(
        probable="sigmoid" if of_labels else "softmax",
        of_places=f", of_places={are_arrays}" if are_arrays else "",
    )
    if model.chosen_outputs is Outputs.PROBABILITIES:
        lines += _PROBABILITIES.format(of_labels=of_labels)
    return lines

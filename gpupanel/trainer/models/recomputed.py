"""Which parts of a model compute their activations again."""

from collections.abc import Sequence

import keras

from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.training import Recompute
from gpupanel.trainer.parts.recompute import Segment, segments_of

_FEWEST_SEGMENTS = 2


def recomputed_segments(
    model: keras.Model, recompute: Recompute | Sequence[str]
) -> Sequence[Segment]:
    """The segments of the model whose activations are computed again; none: they are kept.

    Args:
        model: Which is trained.
        recompute: Nothing, its blocks, or what ends after layers of these names.

    Raises:
        ProblemError: The model cannot be divided into any.
    """
    if recompute is Recompute.NONE:
        return ()
    try:
        segments = segments_of(model, None if recompute is Recompute.BLOCKS else recompute)
    except ValueError as error:
        raise ProblemError(_not_recomputed(str(error))) from error
    if len(segments) < _FEWEST_SEGMENTS:
        raise ProblemError(_not_recomputed("nothing divides its layers into blocks"))
    return segments


def _not_recomputed(why: str) -> Problem:
    return Problem(
        code="recompute_without_blocks",
        field="training.recompute",
        message=f"The activations of this model cannot be computed again block by block: {why}.",
        hint='Set training.recompute to "none", name layers after which it divides, or build the '
        "model as a functional one (keras.Model(inputs, outputs)) whose blocks follow each other.",
        fix=Fix.of("Keep the activations", "training.recompute", Recompute.NONE.value),
    )

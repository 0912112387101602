"""Whether pictures are as light or dark around what they show as those of the training."""

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.trained_on import TrainedOn
from gpupanel.trainer.datasets.examples import Features, Indices, read_features
from gpupanel.trainer.inference.sampled_rows import sampled_rows
from gpupanel.trainer.parts.image_edges import edge_means, is_grey, is_ground_unlike

_ROOM = 0.1
_LOOKED_AT = 32
"""So many examples: where they are files, each is decoded once more."""


def notes_of_ground(
    trained: TrainedOn | None, features: Features, chosen: Indices
) -> tuple[Problem, ...]:
    """A warning where the ground of most pictures is light and that of the training dark, or so.

    A picture of black ink on paper gets a wrong answer of a model that learned from white on black,
    and nothing else shows it.

    Args:
        trained: What the model's file says; ``None``: nothing.
        features: Of all examples.
        chosen: Those that are given to the model.
    """
    if trained is None or trained.edges is None or trained.value_range is None or not len(chosen):
        return ()
    least, greatest = trained.value_range
    if not is_grey(tuple(features.shape[1:])) or least >= greatest:
        return ()
    rows = chosen[sampled_rows(len(chosen), _LOOKED_AT)]
    try:
        edges = (edge_means(read_features(features, rows)) - least) / (greatest - least)
    except ProblemError:
        return ()  # said of it, or left out
    if edges.min() < -_ROOM or edges.max() > 1.0 + _ROOM:
        return ()  # they are scaled otherwise, which is said of them elsewhere
    unlike = [edge for edge in edges.tolist() if is_ground_unlike(edge, trained.edges)]
    if 2 * len(unlike) <= len(rows):
        return ()
    here, there = ("bright", "dark") if unlike[0] >= 0.5 else ("dark", "bright")
    of_them = f"{len(unlike):,} of {len(rows):,} examples" if len(rows) > 1 else "the example"
    return (
        Problem(
            code="light_and_dark_differ",
            severity=Severity.WARNING,
            field="data",
            message=f"The edge of {of_them} is {here}, and the training examples have a {there} "
            "one: what is light there may be dark here, and the model knows only one of them.",
            hint="If so, swap light and dark in the files; a few pictures at once can be swapped "
            "on the page of the run.",
        ),
    )

"""What is said of layers that draw at random."""

from gpupanel.domain.problem import Severity
from gpupanel.domain.random_layers import depends_on_split, drawn_in_predictions


def test_that_layers_that_draw_in_predictions_are_named() -> None:
    problem = drawn_in_predictions(["noise", "mask"])
    assert (problem.code, problem.severity) == ("predictions_at_random", Severity.WARNING)
    assert problem.message.startswith("noise, mask: the model draws at random there also when")


def test_that_of_many_layers_the_first_are_named_and_the_names_of_strangers_made_visible() -> None:
    names = ["a\x1b", *(f"layer_{number}" for number in range(6))]
    for problem in (drawn_in_predictions(names), depends_on_split(names)):
        assert problem.message.startswith("a\\x1b, layer_0, layer_1, layer_2, layer_3 and 2 more: ")

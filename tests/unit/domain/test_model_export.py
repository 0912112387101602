"""What was exported, in one sentence."""

import pytest

from gpupanel.domain.model_export import ModelExport, export_sentence
from gpupanel.domain.problem import Problem, Severity


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (ModelExport(size_bytes=900), "900 bytes, not compared with the model."),
        (
            ModelExport(
                size_bytes=3 * 2**20,
                compared=64,
                of_data=True,
                largest_difference=2.5e-7,
                seconds_an_example=0.0012,
                model_seconds_an_example=0.02,
            ),
            (
                "3.0 MiB; over 64 examples of the data its outputs differ from the model's by "
                "2.5e-07 at most; 1.2 ms an example, 20 ms in Keras."
            ),
        ),
        (
            ModelExport(size_bytes=10, compared=16, largest_difference=0.0),
            (
                "10 bytes; over 16 examples of random numbers its outputs differ from the "
                "model's by 0.0e+00 at most."
            ),
        ),
    ],
)
def test_that_an_export_is_a_sentence(found: ModelExport, words: str) -> None:
    assert export_sentence(found) == words


def test_that_an_export_stands_whatever_there_is_to_be_known_of_it() -> None:
    hint = Problem(code="known", message="Something.", severity=Severity.WARNING)
    assert ModelExport(problems=(hint,)).is_written
    assert not ModelExport(problems=(hint, Problem(code="broken", message="Broken."))).is_written

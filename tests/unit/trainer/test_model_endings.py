"""What a model ends in is found out from what its layers compute."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gpupanel.trainer.models.saved_ending import is_wrapped, plain_ending
from tests.forked.processes import run_forked

pytestmark = pytest.mark.tensorflow

WANTED = {
    "dense": "softmax",
    "logits": "linear",
    "nested": "softmax",
    "nested twice": "softmax",
    "function": "softmax",
    "function of nn": "softmax",
    "reshape": "softmax",
    "flatten": "softmax",
    "dropout": "softmax",
    "cast": "softmax",
    "linear activation": "softmax",
    "own layer": "softmax",
    "mean of places": "linear",
    "softmax of places": "softmax",
    "normalised": "linear",
    "scaled": "linear",
    "percent": "unknown",
    "mean of two": "unknown",
    "groups": "unknown",
    "relu": "relu",
    "sigmoid": "sigmoid",
    "sigmoid function": "sigmoid",
    "sigmoids": "sigmoid",
    "tempered": "softmax",
    "tempered afterwards": "unknown",
    "logarithms": "linear",
    "softmax of examples": "unknown",
    "softmax of another axis": "unknown",
    "mixture": "unknown",
    "mixture of two": "unknown",
    "attention": "linear",
    "clipped": "unknown",
    "recurrent": "tanh",
}
PLAIN = {
    *("dense", "logits", "nested", "nested twice", "function", "function of nn", "dropout"),
    *("linear activation", "softmax of places", "scaled", "sigmoid", "tempered"),
}
"""Known without Keras."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Endings, those that a script finds, differences, and what comes of saved models."""
    builder, folder = Path(__file__).with_name("model_endings.py"), tmp_path_factory.mktemp("ends")
    done = run_forked(
        [sys.executable, str(builder), str(folder)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answer: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.long
def test_that_an_ending_is_found_wherever_it_stands(found: list[dict[str, Any]]) -> None:
    endings, in_script, *_ = found
    assert endings == WANTED
    assert in_script == endings


@pytest.mark.long
def test_that_probabilities_are_the_same_after_their_ending_was_taken_off(
    found: list[dict[str, Any]],
) -> None:
    differences = {name: each for name, each in found[2].items() if each is not None}
    assert set(differences) == {k for k, end in WANTED.items() if end in ("softmax", "sigmoid")}
    assert max(each for name, each in differences.items() if name != "cast") < 1e-6
    assert differences["cast"] < 1e-3  # of half precision


@pytest.mark.long
def test_that_a_saved_model_gives_the_same_probabilities_when_it_was_trained_further(
    found: list[dict[str, Any]],
) -> None:
    further = found[3]
    for name in ("nested, None", "function, None", "reshape, None", "labels"):
        assert further[name] < 1e-6, name
    assert further["mean of two, probabilities"] < 1e-6


@pytest.mark.long
def test_that_an_ending_that_cannot_be_known_is_asked_for(found: list[dict[str, Any]]) -> None:
    assert found[3]["mean of two, None"] == "model_outputs_unknown"
    assert found[3]["nested, logits"] == "saved_model_misfit"


@pytest.mark.long
def test_that_what_a_person_said_of_a_model_holds_only_until_it_was_trained_further(
    found: list[dict[str, Any]],
) -> None:
    assert found[3]["again, said"] < 1e-6


@pytest.mark.long
def test_that_an_ending_is_found_from_the_configuration_of_a_file(
    found: list[dict[str, Any]],
) -> None:
    saved = {name: ending for name, ending in WANTED.items() if name != "own layer"}
    assert {name: built for name, (_, built) in found[4].items()} == saved
    plain = {name: said for name, (said, _) in found[4].items() if said is not None}
    assert plain == {name: saved[name] for name in PLAIN}


@pytest.mark.parametrize(
    "odd",
    [
        *(None, [], "x", {}, {"class_name": "Sequential"}, {"config": {"layers": [1, {}]}}),
        {"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense"}]}},
        {"class_name": "Sequential", "config": {"layers": [{"config": []}, {"class_name": {}}]}},
    ],
)
def test_that_an_odd_configuration_says_nothing_of_its_ending(odd: object) -> None:
    assert plain_ending(odd) is None
    assert not is_wrapped(odd)

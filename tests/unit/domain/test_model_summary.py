"""What is said of the layers of a model before it is trained."""

import pytest

from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.model_summary import (
    LayerSummary,
    ModelSummary,
    ParameterCounts,
    SummaryRequest,
    parameters_text,
    shape_text,
    summary_request,
    summary_sentence,
    summary_text,
)
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings

DENSE = LayerSummary(
    name="dense", kind="Dense", output_shape=(3, None), parameters=1200, trainable=1200
)
FROZEN = LayerSummary(name="conv", kind="Conv2D", parameters=7, within="base")
RELU = LayerSummary(name="re\x1blu", kind="ReLU")


def test_that_a_profile_says_what_is_built() -> None:
    profile = Profile()
    request = summary_request(profile)
    assert (request.data, request.model, request.seed) == (
        profile.data,
        profile.model,
        profile.training.seed,
    )


def test_that_layers_are_written_in_words() -> None:
    assert [shape_text(each) for each in (DENSE, RELU)] == ["3 x any", ""]
    assert [parameters_text(each) for each in (DENSE, FROZEN, RELU)] == ["1,200", "7 (frozen)", ""]
    assert [each.path for each in (DENSE, FROZEN)] == ["dense", "base/conv"]


@pytest.mark.parametrize(
    ("summary", "sentence"),
    [
        (ModelSummary(), "No layers are known yet."),
        (
            ModelSummary(problems=(Problem(code="x", message="No."),)),
            "The model cannot be built.",
        ),
        (
            ModelSummary(needs_download=True),
            "The layers are known once the data is on this machine.",
        ),
        (
            ModelSummary(needs_start=True),
            "The layers come from Python code, which is executed only by a run.",
        ),
        (
            ModelSummary(layers=(DENSE,), parameters=ParameterCounts(trainable=2**18)),
            "1 layer, 262,144 parameters: 1.0 MiB.",
        ),
        (
            ModelSummary(layers=(DENSE,), parameters=ParameterCounts(trainable=1_984)),
            "1 layer, 1,984 parameters: 7.8 KiB.",
        ),
        (
            ModelSummary(layers=(DENSE,), parameters=ParameterCounts(trainable=2**30)),
            "1 layer, 1,073,741,824 parameters: 4.0 GiB.",
        ),
        (
            ModelSummary(layers=(FROZEN, DENSE), parameters=ParameterCounts(trainable=7, frozen=3)),
            "2 layers, 10 parameters, 3 of them not trained: 40 bytes.",
        ),
        (
            ModelSummary(layers=(DENSE,), fine_tuning=FineTuning(from_epoch=2)),
            (
                "1 layer, 0 parameters: 0 bytes. In epoch 1 only the head learns, from epoch 2 on "
                "all layers of the base do, too."
            ),
        ),
    ],
)
def test_that_what_is_known_is_one_sentence(summary: ModelSummary, sentence: str) -> None:
    assert summary_sentence(summary) == sentence


def test_that_all_of_it_can_be_copied_without_control_characters() -> None:
    parameters = ParameterCounts(trainable=1200, frozen=7)
    lines = summary_text(ModelSummary(layers=(FROZEN, RELU), parameters=parameters)).splitlines()
    assert lines[2:] == [
        "Layer\tKind\tOutput\tParameters",
        "base/conv\tConv2D\t\t7",
        r"re\x1blu" + "\tReLU\t\t0",
    ]


def test_that_what_is_built_in_every_way_is_the_same_for_all_of_them() -> None:
    def request(**training: object) -> SummaryRequest:
        return summary_request(Profile(training=TrainingSettings(**training)))

    plain = request().in_every_way
    assert plain.with_variants
    assert request(recompute="blocks", mixed_precision=True).in_every_way == plain
    assert request(recompute=("block_1",)).in_every_way != plain
    assert request(seed=8).in_every_way != plain

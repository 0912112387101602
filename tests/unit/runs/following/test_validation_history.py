"""What a training said of its validation examples is read from a file that others may write."""

from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.shown_examples import ShownClass, ShownExample
from gpupanel.domain.validation_examples import (
    EpochPredictions,
    ExamplePrediction,
    FollowedExamples,
)
from gpupanel.runs.following import validation_history
from gpupanel.runs.following.validation_history import ValidationHistory, read_validation_history

CAT = ShownExample(index=3, label="cat")
DOG = ShownExample(index=8, label="dog", name="pets/8.png")


def said(*chances: float) -> tuple[ExamplePrediction, ...]:
    return tuple(
        ExamplePrediction(
            predicted=(ShownClass(name="cat", probability=each),),
            label_probability=each,
            is_right=each > 0.5,
        )
        for each in chances
    )


def begun(*examples: ShownExample, from_epoch: int = 1) -> FollowedExamples:
    return FollowedExamples(from_epoch=from_epoch, validation_examples=40, examples=examples)


def after(epoch: int, *chances: float) -> EpochPredictions:
    return EpochPredictions(epoch=epoch, predictions=said(*chances))


@pytest.fixture
def layout(tmp_path: Path) -> RunLayout:
    return RunLayout(tmp_path)


def read(layout: RunLayout, *lines: FollowedExamples | EpochPredictions | str) -> ValidationHistory:
    text = (each if isinstance(each, str) else each.model_dump_json() for each in lines)
    layout.validation_examples.write_text("\n".join(text) + "\n", encoding="utf-8")
    return read_validation_history(layout)


def test_that_a_run_without_the_file_has_none(layout: RunLayout) -> None:
    assert read_validation_history(layout) == ValidationHistory()


def test_that_epochs_come_in_their_order_with_what_was_said_of_each_example(
    layout: RunLayout,
) -> None:
    history = read(layout, begun(CAT, DOG), after(1, 0.2, 0.9), after(2, 0.6, 0.8))
    assert history.examples == (CAT, DOG)
    assert history.validation_examples == 40
    assert [each.epoch for each in history.epochs] == [1, 2]
    assert [each.label_probability for each in history.of_example(0)] == [0.2, 0.6]


def test_that_what_is_trained_again_replaces_what_was_said_before(layout: RunLayout) -> None:
    lines = (begun(CAT), after(1, 0.2), after(2, 0.3), after(3, 0.4))
    history = read(layout, *lines, begun(CAT, from_epoch=2), after(2, 0.7))
    found = [(each.epoch, each.predictions[0].label_probability) for each in history.epochs]
    assert found == [(1, 0.2), (2, 0.7)]


def test_that_other_examples_begin_anew(layout: RunLayout) -> None:
    history = read(layout, begun(CAT), after(1, 0.2), begun(DOG, from_epoch=2), after(2, 0.7))
    assert history.examples == (DOG,)
    assert [each.epoch for each in history.epochs] == [2]


@pytest.mark.parametrize(
    "odd",
    [
        '{"kind": "epo',
        "",
        "null",
        '{"kind": "of a later version"}',
        '{"kind": "epoch", "epoch": -1, "predictions": []}',
        after(2, 0.5, 0.5).model_dump_json(),
        "\x00\xff",
        begun(CAT).model_dump_json().replace('"cat"', f'"{"c" * 2**20}"'),
    ],
)
def test_that_lines_that_do_not_fit_are_passed_over(layout: RunLayout, odd: str) -> None:
    history = read(layout, begun(CAT), odd, after(1, 0.2))
    assert [each.epoch for each in history.epochs] == [1]


def test_that_names_have_no_control_characters(layout: RunLayout) -> None:
    odd = begun(CAT).model_dump_json().replace('"cat"', '"c\\u001b[31mat"')
    assert "\x1b" not in read(layout, odd, after(1, 0.2)).examples[0].label


def test_that_no_link_is_followed(layout: RunLayout, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("", encoding="utf-8")
    layout.validation_examples.symlink_to(other)
    with pytest.raises(OSError, match="validation-examples"):
        read_validation_history(layout)


def test_that_no_more_is_read_than_a_run_writes(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation_history, "MOST_BYTES", 2_000)
    history = read(layout, begun(CAT), *(after(epoch, 0.2) for epoch in range(1, 100)))
    assert 1 <= len(history.epochs) < 20

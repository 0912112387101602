"""Which file of a run has which weights."""

from pathlib import Path

import pytest

from gpupanel.domain.best_epoch import Keep
from gpupanel.domain.events import ModelSaved, encode_event
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tools.export.saved_models import model_with, other_weights


def a_run(root: Path, *files: str, **saved: object) -> RunLayout:
    for name in files:
        (root / name).write_bytes(b"weights")
    event = ModelSaved(time_s=1.0, path="model.keras", **saved)
    (root / "events.jsonl").write_text(encode_event(event) + "\n")
    return RunLayout(root)


def refused(layout: RunLayout, weights: Keep | None) -> str:
    with pytest.raises(ProblemError) as raised:
        model_with(layout, weights)
    return raised.value.problems[0].code


def test_that_the_best_and_the_last_are_told_apart(tmp_path: Path) -> None:
    files = ("model.keras", "model-last.keras")
    layout = a_run(tmp_path, *files, epoch=4, is_best=True, is_last=False)
    found = [model_with(layout, each).name for each in (None, Keep.BEST, Keep.LAST)]
    assert found == ["model.keras", "model.keras", "model-last.keras"]
    assert other_weights(layout) is Keep.LAST


def test_that_a_run_that_keeps_the_last_has_the_best_beside_it(tmp_path: Path) -> None:
    layout = a_run(tmp_path, "model.keras", "model-best.keras", epoch=9)
    found = [model_with(layout, each).name for each in (None, Keep.BEST, Keep.LAST)]
    assert found == ["model.keras", "model-best.keras", "model.keras"]
    assert other_weights(layout) is Keep.BEST


def test_that_one_model_may_be_both(tmp_path: Path) -> None:
    layout = a_run(tmp_path, "model.keras", epoch=9, is_best=True)
    assert {model_with(layout, each).name for each in (None, *Keep)} == {"model.keras"}


def test_that_what_was_not_saved_is_refused_and_not_guessed(tmp_path: Path) -> None:
    # An earlier version saved the last weights, and did not say so.
    layout = a_run(tmp_path, "model.keras")
    assert model_with(layout, Keep.LAST) == layout.model
    assert refused(layout, Keep.BEST) == "weights_not_saved"
    kept = a_run(tmp_path, "model.keras", epoch=4, is_best=True, is_last=False)
    assert refused(kept, Keep.LAST) == "weights_not_saved"
    layout.events.unlink()
    assert refused(layout, Keep.LAST) == "weights_not_saved"
    layout.model.unlink()
    assert refused(layout, None) == "run_without_model"

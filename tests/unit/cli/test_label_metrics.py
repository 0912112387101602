"""What the terminal says of an evaluation of several labels."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.cli.evaluation_report import evaluation_document, print_evaluation
from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.label_metrics_file import write_label_metrics
from gpupanel.runs.following.status import RunStatus

STATUS = RunStatus(
    evaluation=EvaluationDone(
        time_s=0.0,
        examples=3,
        metrics=Metrics(loss=0.2, accuracy=0.75),
        labels_file="evaluation.npz",
    )
)


def test_that_each_label_has_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    layout = RunLayout(tmp_path)
    counts = np.array([[2, 1], [2, 0], [1, 0]])
    write_label_metrics(layout.confusion, ("sun", "sea"), counts)
    sun, sea = evaluation_document(layout, STATUS)["labels"]
    assert sun == {
        "name": "sun",
        "examples": 2,
        "predicted": 2,
        "right": 1,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }
    assert (sea["precision"], sea["recall"]) == (None, 0.0)
    print_evaluation(layout, STATUS)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["sun", "0.5000", "0.5000", "0.5000", "2"] in lines


def test_that_a_file_that_is_gone_is_said(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert "labels" not in evaluation_document(RunLayout(tmp_path), STATUS)
    assert "The metrics of the labels" in capsys.readouterr().err

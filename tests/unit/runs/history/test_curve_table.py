"""Curves as a table in a file: all values, the last word on each, all or nothing."""

import csv
from pathlib import Path

import pytest

from gpupanel.domain.events import (
    EpochDone,
    FiguresReported,
    RunStarted,
    StepsDone,
    TrainingResumed,
    encode_event,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.history.curve_table import WritingCancelledError, write_curve_table
from gpupanel.runs.history.curves import CurveReader


def step(number: int, loss: float, accuracy: float | None = None) -> StepsDone:
    return StepsDone(
        time_s=1000.0 + number,
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=8,
        loss=loss,
        accuracy=accuracy,
        learning_rate=0.01,
        gradient_norm=1.25,
        examples_per_second=10.5,
        waiting_for_data=0.125,
    )


def run_with(folder: Path, *events) -> RunLayout:
    folder.mkdir()
    layout = RunLayout(folder)
    lines = [encode_event(RunStarted(time_s=1000.0, supervisor_pid=1)), *map(encode_event, events)]
    layout.events.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return layout


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_that_every_value_of_every_run_has_a_row_to_the_last_digit(tmp_path):
    loss = 0.1234567890123456
    first = run_with(
        tmp_path / "one, and more",
        step(1, 2.0),
        step(2, 99.0),
        TrainingResumed(time_s=1002.5, path="c", epoch=1, step=1),
        step(2, loss),
        EpochDone(time_s=1004.5, epoch=1, step=2, metrics=Metrics(val_loss=1.5), seconds=1.0),
    )
    second = run_with(tmp_path / "two", step(1, 3.0, 0.25))
    path = tmp_path / "curves.csv"

    count = write_curve_table(path, (first, second))

    header, *table = rows(path)
    assert header == ["run", "step", "time_s", "metric", "value"]
    assert count == len(table) == 17
    assert ["one, and more", "2", "2.000", "loss", repr(loss)] in table
    assert ["one, and more", "2", "4.500", "val_loss", "1.5"] in table
    assert ["two", "1", "1.000", "accuracy", "0.25"] in table
    assert ["two", "1", "1.000", "learning_rate", "0.01"] in table
    assert ["two", "1", "1.000", "gradient_norm", "1.25"] in table
    assert ["two", "1", "1.000", "waiting_for_data", "0.125"] in table
    assert not any(row[4] == "99.0" for row in table)


def test_that_a_long_run_is_written_whole(tmp_path):
    layout = run_with(tmp_path / "long", *(step(n, 1.0 / n) for n in range(1, 12_001)))
    assert layout.events.stat().st_size > 2**20
    path = tmp_path / "curves.csv"
    assert write_curve_table(path, (layout,)) == 60_000
    assert len(rows(path)) == 60_001


def test_that_a_cancelled_table_leaves_what_stood_there(tmp_path):
    layout = run_with(tmp_path / "run", step(1, 2.0))
    path = tmp_path / "curves.csv"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(WritingCancelledError):
        write_curve_table(path, (layout,), lambda: True)
    assert path.read_text(encoding="utf-8") == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["curves.csv", "run"]


def test_that_a_folder_that_cannot_be_written_to_is_an_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_curve_table(tmp_path / "nowhere" / "curves.csv", ())


def test_that_a_run_is_followed_where_the_reading_stopped(tmp_path):
    layout = run_with(tmp_path / "run", step(1, 2.0))
    reader = CurveReader(layout)
    assert reader.read()
    assert not reader.read()
    with layout.events.open("a", encoding="utf-8") as file:
        file.write(encode_event(step(2, 1.0)) + "\n" + encode_event(step(3, 0.5))[:40])
    assert reader.read()
    assert reader.points()["loss"].values.tolist() == [2.0, 1.0]
    assert reader.step == 2


def test_that_a_run_that_is_gone_has_nothing(tmp_path):
    reader = CurveReader(RunLayout(tmp_path / "gone"))
    assert not reader.read()
    assert reader.points() == {}


def test_that_figures_of_a_program_stand_in_the_table_whatever_they_are_called(tmp_path):
    reported = FiguresReported(time_s=1002.0, step=1, figures={'a,"b"\n': 0.5, "reward": 0.25})
    layout = run_with(tmp_path / "run", step(1, 2.0), reported)
    write_curve_table(tmp_path / "curves.csv", [layout])
    found = [row[3:] for row in rows(tmp_path / "curves.csv")]
    assert ['a,"b"\\n', "0.5"] in found
    assert ["reward", "0.25"] in found

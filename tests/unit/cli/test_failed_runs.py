"""What ``gpupanel run`` prints of a run that failed."""

from pathlib import Path

import pytest
import typer

from gpupanel.cli import run_end
from gpupanel.domain.events import RunEnded, TrainingEnded
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.status import RunStatus

TRACE = "Traceback (most recent call last):\n" + "\n".join(f"  line {n}" for n in range(60))
FAILED = Problem(
    code="out_of_memory",
    message="The GPU has no memory left.",
    hint="Take a smaller batch.",
    detail=TRACE,
    fix=Fix.of("Half the batch", "training.global_batch_size", 32),
)


def printed(
    folder: Path, problem: Problem, capsys: pytest.CaptureFixture[str], process: int = 0
) -> str:
    status = RunStatus()
    for event in (
        TrainingEnded(time_s=1.0, process=process, outcome=Outcome.FAILED, problem=problem),
        RunEnded(time_s=2.0, outcome=Outcome.FAILED, problem=problem),
    ):
        status = status.after(event)
    with pytest.raises(typer.Exit) as left:
        run_end._print(RunLayout(folder), status, json=False)
    assert left.value.exit_code == 1
    return capsys.readouterr().err


def test_that_a_trace_is_left_in_the_log_whose_path_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    err = printed(tmp_path, FAILED, capsys)

    assert "The GPU has no memory left. [out_of_memory]" in " ".join(err.split())
    assert "Take a smaller batch." in err
    assert "Half the batch: training.global_batch_size = 32" in err
    assert f"Details: {tmp_path / 'trainer.log'}\n" in err
    assert "Traceback" not in err


def test_that_the_log_is_that_of_the_process_that_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    err = printed(tmp_path, FAILED, capsys, process=2)

    assert f"Details: {tmp_path / 'trainer-2.log'}\n" in err


def test_that_a_few_lines_are_printed_where_they_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    err = printed(tmp_path, FAILED.model_copy(update={"detail": "one\ntwo"}), capsys)

    assert "one\ntwo" in err
    assert "Details:" not in err

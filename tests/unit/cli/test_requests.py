"""What the terminal asks of a run that goes on."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.request import Request
from tests.fakes.run_directory import WrittenRun

RUNNER = CliRunner()


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        (["stop"], Request.STOP),
        (["stop", "--now"], Request.END),
        (["suspend"], Request.SUSPEND),
        (["checkpoint"], Request.CHECKPOINT),
    ],
)
def test_that_it_lies_where_the_run_reads(
    runs_dir: Path, words: list[str], request_: Request
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        told = RUNNER.invoke(app, [*words, run.layout.name])
        asked = RUNNER.invoke(app, [*words, run.layout.name, "--json"])

    assert told.exit_code == asked.exit_code == 0
    assert f"Asked {run.layout.name} to" in " ".join(told.output.split())
    assert json.loads(asked.stdout) == {"run": str(run.layout.root), "asked": True}
    assert [path.name for path in run.layout.requests.iterdir()] == [request_.value]


def test_that_a_run_that_ended_is_asked_for_nothing(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end()

    told = RUNNER.invoke(app, ["checkpoint", run.layout.name])

    assert told.exit_code == 0
    assert "has ended already (completed)" in " ".join(told.output.split())
    assert not any(run.layout.requests.iterdir())

"""What another user keeps for themselves is said to be so, and not to be missing or damaged."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.cli.named_run import run_called
from gpupanel.domain.problem import ProblemError
from gpupanel.runs.queue.queue_files import QueueFiles

_NOBODY = 65534


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Path]:
    """A folder that this user may not look into."""
    folder = tmp_path / "others"
    (folder / "run").mkdir(parents=True)
    for name in ("run/profile.toml", "queue.json"):
        (folder / name).touch()
    is_root = os.geteuid() == 0
    folder.chmod(0)
    if is_root:
        os.seteuid(_NOBODY)
    yield folder
    if is_root:
        os.seteuid(0)
    folder.chmod(0o700)


@pytest.mark.parametrize("is_whole_path", [True, False])
def test_that_a_run_that_may_not_be_seen_is_not_missing(others: Path, is_whole_path: bool) -> None:
    with pytest.raises(ProblemError) as caught:
        run_called(str(others / "run") if is_whole_path else "run", others)
    (problem,) = caught.value.problems
    assert problem.code == "not_permitted"
    assert str(others / "run") in problem.message


def test_that_a_queue_that_may_not_be_read_is_not_damaged(others: Path) -> None:
    with pytest.raises(ProblemError) as caught:
        QueueFiles(others).read()
    (problem,) = caught.value.problems
    assert "Permission denied" in problem.message
    assert "permissions" in problem.hint
    assert "Update" not in problem.hint

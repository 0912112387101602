"""A queue of the test's own, in which nothing starts unless the test says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.runs.queue import orders
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.sweeps import starting
from tests.fakes.queued_runs import QueuedRuns


@pytest.fixture
def files(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> QueueFiles:
    """An empty queue whose orders start no process."""
    for module in (orders, starting):
        monkeypatch.setattr(module, "ensure_scheduler", lambda files: False)
    return QueueFiles(state_dir / "queue")


@pytest.fixture
def runs() -> Iterator[QueuedRuns]:
    """Runs without processes."""
    runs = QueuedRuns()
    yield runs
    for root in runs.started:
        if root in runs._locks:
            runs.vanish(root)

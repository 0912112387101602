"""Trains a run in calls of as many steps as may be, and prints how many steps each call took.

``python count_call_steps.py MOST_CALL_BYTES RUN_DIR``: any number of steps fits into the time of a
call, so that only what a call carries bounds them. Of each training call as JSON: its steps, and
whether what it takes was being placed before.
"""

import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from gpupanel.trainer.loop import consensus
from gpupanel.trainer.process import train_run
from gpupanel.trainer.steps import feeds
from gpupanel.trainer.steps.feeds import StreamedFeed

root = Path(sys.argv[2])
taken: list[tuple[int, bool]] = []
take = StreamedFeed.tensors


def recorded(feed: StreamedFeed, batches: Any, *arguments: Any) -> Any:
    taken.append((len(batches), feed._ahead._next is not None))
    return take(feed, batches, *arguments)


with (
    mock.patch.object(feeds, "MOST_CALL_BYTES", int(sys.argv[1])),
    mock.patch.object(consensus, "_CALL_S", 1e6),
    mock.patch.object(StreamedFeed, "tensors", recorded),
):
    status = train_run(root)
print(json.dumps(taken))
sys.exit(status)

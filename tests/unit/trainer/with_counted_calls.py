"""Runs a program whose training calls take as many steps as what they carry allows.

``python with_counted_calls.py MOST_BYTES PROGRAM RUN_DIR``: any number of steps fits into the
time of a call. Each process writes its calls to ``calls-PLACE.jsonl`` in the run directory: how
many steps, and whether others were under way when what they take was read.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

from gpupanel.trainer.loop import consensus
from gpupanel.trainer.loop.calls_in_flight import CallsInFlight
from gpupanel.trainer.started_run import process_place
from gpupanel.trainer.steps import feeds
from gpupanel.trainer.steps.streamed_feed import StreamedFeed

calls = Path(sys.argv[3]) / f"calls-{process_place()}.jsonl"
take, enter = StreamedFeed.tensors, CallsInFlight.__enter__
loops: list[CallsInFlight] = []


def entered(loop: CallsInFlight) -> CallsInFlight:
    loops.append(loop)
    return enter(loop)


def counted(feed: StreamedFeed, batches: Any, *arguments: Any) -> Any:
    with calls.open("a", encoding="utf-8") as file:
        file.write(json.dumps([len(batches), not loops[-1].is_empty]) + "\n")
    return take(feed, batches, *arguments)


most_bytes = int(sys.argv[1])
feeds.most_call_bytes = lambda _: most_bytes
consensus._CALL_S = 1e6
StreamedFeed.tensors = counted
CallsInFlight.__enter__ = entered  # type: ignore[method-assign]
# As where it stands: it may have others beside it.
sys.argv = sys.argv[2:]
sys.path.insert(0, str(Path(sys.argv[0]).parent))
runpy.run_path(sys.argv[0], run_name="__main__")

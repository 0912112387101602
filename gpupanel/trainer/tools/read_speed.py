"""``python -m gpupanel.trainer.tools.read_speed``: how fast training examples can be read.

A :class:`~gpupanel.domain.read_speed.ReadSpeedRequest` as JSON on standard input is answered by a
:class:`~gpupanel.domain.read_speed.ReadSpeed` on standard output. Examples are read as a training
reads them, batch by batch in its order, ahead of who takes them, but nothing is computed, and no
cache is written. What is wrong with the data is inside the answer.
"""

import sys
import time
from contextlib import closing

import numpy as np

from gpupanel.domain.data import DataCache
from gpupanel.domain.read_speed import ReadSpeed, ReadSpeedRequest
from gpupanel.trainer.datasets.examples import held_rows
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.steps.look_ahead import LookAhead
from gpupanel.trainer.steps.order import make_epoch_order
from gpupanel.trainer.tools.dry_run import divided


def read_speed(request: ReadSpeedRequest) -> ReadSpeed:
    """Read for some seconds; or the problems that a training would have."""
    profile = request.profile
    if needs_download(profile.data):
        return ReadSpeed(needs_download=True)
    if profile.data.is_code or profile.model.is_code:
        return ReadSpeed(needs_start=True)
    try:
        return _read(request)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in training
        return ReadSpeed(problems=problems_of(error, what="Reading examples"))


def _read(request: ReadSpeedRequest) -> ReadSpeed:
    profile, begin_s = request.profile, time.monotonic()
    data = profile.data.model_copy(update={"cache": DataCache.NONE})
    parts = divided(profile.model_copy(update={"data": data}))
    order = make_epoch_order(data, parts, profile.training.seed)
    training = parts.training
    found = ReadSpeed(
        examples=len(order),
        example_bytes=training.example_bytes,
        is_in_memory=held_rows(training.features) is not None,
        opening_seconds=round(time.monotonic() - begin_s, 3),
        cache=profile.data.cache,
    )
    if found.is_in_memory:
        return found
    rows, epoch, coming = 0, 0, np.empty(0, np.int32)
    begin_s = time.monotonic()
    until_s = begin_s + request.seconds
    with closing(LookAhead(training)) as ahead:
        while not rows or time.monotonic() < until_s:
            if not len(coming):
                epoch += 1
                coming = order.of(epoch)
                ahead.expect(coming)
            batch, coming = np.split(coming, [profile.training.global_batch_size])
            rows += len(ahead.take(batch))
        seconds = time.monotonic() - begin_s
    return found.model_copy(update={"read_examples": rows, "read_seconds": round(seconds, 3)})


def main() -> int:
    """Answer the request on standard input."""
    request = ReadSpeedRequest.model_validate_json(sys.stdin.buffer.read())
    sys.stdout.write(read_speed(request).model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())

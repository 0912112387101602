"""A trainer whose shares were measured by another run: it takes those, at the same steps.

``python with_given_shares.py RUN_DIR``; the file that ``GIVEN_SHARES`` names has for each step from
which there were others the shares, as JSON. Replicas are measured all the same. Each step is a call
of its own, so that shares can change before any of them.
"""

import json
import os
import sys
from pathlib import Path

from gpupanel.trainer.__main__ import main
from gpupanel.trainer.balancing.balancing import Balancing
from gpupanel.trainer.loop import consensus
from gpupanel.trainer.steps.step_calls import CallSums

GIVEN = {
    int(step): tuple(shares)
    for step, shares in json.loads(Path(os.environ["GIVEN_SHARES"]).read_text()).items()
}


def take(balancing: Balancing, step: int) -> None:
    if balancing._adjusting is not None and step in GIVEN:
        balancing._adjusting.shares = GIVEN[step]
        balancing._choose(balancing._adjusting, step, "measured")


def measure(balancing: Balancing, step: int) -> None:
    really_measure(balancing, step)
    take(balancing, step)


def saw(balancing: Balancing, sums: CallSums, batch_size: int, step: int) -> None:
    del sums, batch_size
    take(balancing, step)


really_measure = Balancing.measure
Balancing.measure, Balancing.saw = measure, saw
consensus._CALL_S = 0.0
os._exit(main(Path(sys.argv[1])))

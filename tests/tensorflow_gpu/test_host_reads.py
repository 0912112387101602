"""Nothing of a step is read by the host: cards work through a call without waiting for it."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.forked.processes import run_forked
from tests.patience import PATIENCE_S
from tests.tensorflow_gpu.fixtures import CardsOfThisProcess

pytestmark = [pytest.mark.tensorflow, pytest.mark.long]

SLEEP_S = 0.03
"""What ``time_cards.py`` has the second card sleep in each step."""
ALL_EXAMPLES = 12 * 32 * (6 + 1) * 4
"""Bytes of all examples of ``count_copies.py``."""


def answer_of(cards: CardsOfThisProcess, script: str, *arguments: str, **variables: str) -> Any:
    """What a script beside this file prints last."""
    done = run_forked(
        [sys.executable, "-P", str(Path(__file__).with_name(script)), *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        server=cards.server,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("feed", ["resident", "streamed"])
@pytest.mark.parametrize("count", [1, 2])
def test_that_a_call_is_read_once_after_it_was_launched_however_many_steps_it_has(
    cards_in_process: CardsOfThisProcess, tmp_path: Path, count: int, feed: str
) -> None:
    variables = {"GPUPANEL_TEST_CUDA_COPIES": str(tmp_path / "copies")}
    answer = answer_of(cards_in_process, "count_copies.py", str(count), feed, **variables)
    for name, found in answer.items():
        for call in found.values():
            # So the call after it is launched while the card still computes this one. Where
            # replicas are timed, one step of a call is: each tells when it begins and ends.
            clocks = [4, 4] * count if name == "is timed" else []
            assert call["launched"]["to the host"] == clocks
            assert len(call["waited for"]["to the host"]) == 1
        if feed == "resident":
            # What stays on a card is not copied to it step by step.
            copied = found["12"]["launched"]["to a card"]
            assert all(size < ALL_EXAMPLES / 8 for size in copied)


def test_that_a_slow_card_is_seen_by_one_step_of_a_call(
    cards_in_process: CardsOfThisProcess,
) -> None:
    for call in answer_of(cards_in_process, "time_cards.py"):
        quick_s, slow_s = call["seconds"]
        assert 0.0 < quick_s < slow_s
        # The host may look at the clock somewhat later than it could.
        assert 0.5 * call["steps"] * SLEEP_S <= slow_s


def test_that_examples_are_copied_to_a_card_part_by_part_and_once(
    cards_in_process: CardsOfThisProcess,
) -> None:
    answer = answer_of(cards_in_process, "hold_examples.py")
    assert answer["device"].endswith("GPU:0")
    assert answer["again"]
    assert answer["alike"]
    assert answer["integers"]
    # A card holds bytes as halves; besides a part of them that is on its way.
    assert answer["card"] <= 1.25 * (2 * answer["bytes"])
    # What stands in for the card holds it in the same process, so the host's is told from it.
    assert answer["host"] - answer["card"] <= 0.75 * answer["bytes"]

"""A trainer without TensorFlow, for tests of what watches a trainer.

``python tests/fakes/trainer.py MODE... RUN_DIR`` writes the events that a trainer would, then does
what its mode says.
"""

import os
import signal
import sys
import time
from pathlib import Path

from gpupanel.domain.events import (
    Event,
    Phase,
    PhaseChanged,
    RequestAnswered,
    StepsDone,
    TrainingEnded,
    encode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout


def main(mode: str, layout: RunLayout) -> int:
    log = os.open(layout.events, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(event: Event) -> None:
        os.write(log, encode_event(event).encode() + b"\n")

    print(f"the fake trainer says {mode}", flush=True)
    say(PhaseChanged(time_s=time.time(), phase=Phase.IMPORTING_TENSORFLOW))
    if mode == "hang_at_start":
        time.sleep(60)
    say(PhaseChanged(time_s=time.time(), phase=Phase.TRAINING))
    say(
        StepsDone(
            time_s=time.time(),
            step=10,
            steps=10,
            epoch=1,
            step_in_epoch=10,
            examples=640,
            loss=1.0,
            accuracy=0.5,
            examples_per_second=1000.0,
        )
    )
    if mode == "ignore_sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    if mode == "hang_in_a_step":
        time.sleep(60)
    if mode == "leave_a_child":
        if os.fork() == 0:
            time.sleep(60)
        return 0
    if mode == "vanish":
        return 3
    if mode == "kill_itself":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "fail":
        problem = Problem(code="loss_not_finite", message="The loss became NaN at step 11.")
        say(TrainingEnded(time_s=time.time(), outcome=Outcome.FAILED, problem=problem))
        return 1
    if mode == "wait_for_stop":
        while not (layout.requests / Request.STOP).exists():
            time.sleep(0.01)
        say(RequestAnswered(time_s=time.time(), request=Request.STOP))
        say(TrainingEnded(time_s=time.time(), outcome=Outcome.STOPPED))
        return 0
    metrics = Metrics(loss=0.5, accuracy=0.9)
    say(
        TrainingEnded(
            time_s=time.time(),
            outcome=Outcome.COMPLETED,
            metrics=metrics,
            examples_per_second=1234.0,
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], RunLayout(Path(sys.argv[2]))))

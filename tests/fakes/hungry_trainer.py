"""A trainer without TensorFlow that lacks memory as long as it takes much at a time.

``python tests/fakes/hungry_trainer.py STEPS RUN_DIR`` is refused memory until the plan has so many
accumulation steps, and completes then.
"""

import os
import sys
import time
from pathlib import Path

from gpupanel.domain.events import (
    Event,
    MemoryExhausted,
    Phase,
    PhaseChanged,
    TrainingEnded,
    encode_event,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.domain.run_layout import RunLayout

MIB = 2**20


def main(enough: int, layout: RunLayout) -> int:
    log = os.open(layout.events, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def say(event: Event) -> None:
        os.write(log, encode_event(event).encode() + b"\n")

    plan = LaunchPlan.model_validate_json(layout.plan.read_bytes())
    training = parse_profile(layout.profile.read_text(encoding="utf-8")).training
    assert plan.accumulation_steps == training.accumulation_steps
    say(PhaseChanged(time_s=time.time(), phase=Phase.TRAINING))
    if plan.accumulation_steps >= enough:
        say(TrainingEnded(time_s=time.time(), outcome=Outcome.COMPLETED))
        return 0
    say(
        MemoryExhausted(
            time_s=time.time(),
            device_key=plan.devices[0].key,
            logical_device=plan.replicas[0].logical_device,
            asked_bytes=1_280 * MIB,
            tensor_shape=(64, 1_024, 5_120),
            tensor_type="float",
            limit_bytes=4_096 * MIB,
            held_bytes=3_584 * MIB,
        )
    )
    problem = Problem(code="out_of_memory", message="Not enough.", detail="the trace")
    say(TrainingEnded(time_s=time.time(), outcome=Outcome.FAILED, problem=problem))
    return 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), RunLayout(Path(sys.argv[2]))))

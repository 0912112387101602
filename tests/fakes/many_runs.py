"""A folder of many runs of every kind, for lists of them."""

from pathlib import Path

from gpupanel.domain import events
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.events import Event, encode_event
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.planning.prepare import prepare

FIRST_S = 1_780_000_000.0
APART_S = 3_600.0
OUTCOMES = (
    Outcome.COMPLETED,
    Outcome.COMPLETED,
    Outcome.STOPPED,
    Outcome.FAILED,
    Outcome.SUSPENDED,
    None,
)
"""In turn; ``None``: its supervisor was killed, so that there is no last word."""


def write_many_runs(
    runs_dir: Path, count: int, inventory: DeviceInventory, *, steps: int = 100
) -> None:
    """Write so many runs as supervisors and trainers would, an hour apart, the last one newest.

    Args:
        runs_dir: Is made.
        count: How many; their profiles are called ``run 0``, ``run 1`` and so on.
        inventory: The devices that they used.
        steps: Events of steps in each, of some 200 bytes.
    """
    runs_dir.mkdir(parents=True)
    plan = prepare(Profile(), inventory).plan
    assert plan is not None
    plan_text = plan.model_dump_json(indent=2)
    profile_text = dump_profile(Profile(name="a name"))
    for number in range(count):
        folder = runs_dir / f"run-{number:05}"
        folder.mkdir()
        (folder / "requests").mkdir()
        profile = profile_text.replace('"a name"', f'"run {number}"')
        (folder / "profile.toml").write_text(profile, encoding="utf-8")
        (folder / "plan.json").write_text(plan_text, encoding="utf-8")
        (folder / "run.lock").touch()
        written = _events(FIRST_S + APART_S * number, steps, number, OUTCOMES[number % 6])
        text = "".join(f"{encode_event(event)}\n" for event in written)
        (folder / "events.jsonl").write_text(text, encoding="utf-8")


def _events(start_s: float, steps: int, number: int, outcome: Outcome | None) -> list[Event]:
    accuracy = (number * 37 % 100) / 100
    metrics = Metrics(loss=0.5, accuracy=accuracy, val_loss=1.0 - accuracy, val_accuracy=accuracy)
    written: list[Event] = [
        events.RunStarted(time_s=start_s, supervisor_pid=1),
        events.TrainerStarted(time_s=start_s, pid=2),
        *(
            events.StepsDone(
                time_s=start_s + step,
                step=step,
                steps=1,
                epoch=1,
                step_in_epoch=step,
                examples=64,
                loss=2.0 / step,
                accuracy=accuracy,
                examples_per_second=1000.0 + number,
            )
            for step in range(1, steps + 1)
        ),
        events.EpochDone(
            time_s=start_s + steps, epoch=1, step=steps, metrics=metrics, seconds=float(steps)
        ),
    ]
    if outcome is None:
        return written
    failed = Problem(code="loss_not_finite", message="The loss is not finite.")
    end = events.RunEnded(
        time_s=start_s + steps + 1,
        outcome=outcome,
        metrics=metrics,
        examples_per_second=1000.0 + number,
        problem=failed if outcome is Outcome.FAILED else None,
        log_tail=("a line of the log",) * 20 if outcome is Outcome.FAILED else (),
    )
    return [*written, end]

"""What power limits cost in speed is said by runs that trained the same, and never invented."""

from pathlib import Path

from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.telemetry import DeviceProcess, DeviceReading, TelemetrySample
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history.limit_speeds import LimitSpeed, limit_sentence, limit_speeds
from gpupanel.runs.history.run_summary import RunSummary

KEY = "GPU-11111111-aaaa"
OTHER = "GPU-22222222-bbbb"


def run(
    folder: Path,
    name: str,
    speed: float | None,
    *limits_w: float | None,
    profile: Profile | None = None,
    keys: tuple[str, ...] = (KEY,),
    outcome: Outcome = Outcome.COMPLETED,
) -> RunSummary:
    path = folder / name
    path.mkdir()
    (path / "profile.toml").write_text(dump_profile(profile or Profile(name=name)))
    process = DeviceProcess(pid=1, command="python {} }")
    samples = [
        TelemetrySample(
            time_s=float(second),
            readings=(
                DeviceReading(key=KEY, power_limit_w=limit_w, processes=(process,)),
                DeviceReading(key=OTHER, power_limit_w=99.0),
            ),
        ).model_dump_json()
        for second, limit_w in enumerate(limits_w)
    ]
    (path / "telemetry.jsonl").write_text("\n".join(samples) + "\n")
    return RunSummary(
        name=name,
        path=path,
        profile_name=name,
        outcome=outcome,
        examples_per_second=speed,
        device_keys=keys,
    )


def test_that_the_same_training_under_two_limits_says_what_the_lower_one_costs(
    tmp_path: Path,
) -> None:
    runs = (
        run(tmp_path, "low", 930.0, 250.0, 250.0),
        run(tmp_path, "older low", 500.0, 250.0),
        run(tmp_path, "high", 1000.0, 350.0),
    )
    speeds = limit_speeds(KEY, runs)

    assert speeds == (
        LimitSpeed(350.0, 1000.0, 1.0, "high"),
        LimitSpeed(250.0, 930.0, 0.93, "low"),
    )
    words = limit_sentence(speeds)
    assert "at 350 W 1,000 examples/s (in high)" in words
    assert "at 250 W 0.93 of it (in low)" in words


def test_that_what_cannot_be_compared_is_not(tmp_path: Path) -> None:
    other = Profile(training=TrainingSettings(global_batch_size=7))
    runs = (
        run(tmp_path, "one", 1000.0, 350.0),
        run(tmp_path, "another batch", 930.0, 250.0, profile=other),
        run(tmp_path, "changed meanwhile", 930.0, 350.0, 250.0),
        run(tmp_path, "two GPUs", 930.0, 250.0, keys=(KEY, OTHER)),
        run(tmp_path, "another GPU", 930.0, 250.0, keys=(OTHER,)),
        run(tmp_path, "failed", 930.0, 250.0, outcome=Outcome.FAILED),
        run(tmp_path, "without speed", None, 250.0),
        run(tmp_path, "no limit", 930.0, None),
    )
    assert limit_speeds(KEY, runs) == ()
    assert "has not been measured here" in limit_sentence(())


def test_that_damaged_readings_and_profiles_are_left_out(tmp_path: Path) -> None:
    runs = (
        run(tmp_path, "good", 1000.0, 350.0),
        run(tmp_path, "no readings", 930.0, 250.0),
        run(tmp_path, "no profile", 930.0, 250.0),
        run(tmp_path, "no number", 930.0, 250.0),
    )
    (tmp_path / "no readings" / "telemetry.jsonl").unlink()
    (tmp_path / "no profile" / "profile.toml").write_text("[")
    (tmp_path / "no number" / "telemetry.jsonl").write_text(
        f'{{"key":"{KEY}","power_limit_w":1.2.3}}\n'
    )
    assert limit_speeds(KEY, runs) == ()

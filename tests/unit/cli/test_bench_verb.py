"""What `gpupanel bench --apply` writes where others write meanwhile; measuring is not done."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import bench as module
from gpupanel.domain.bench import Bench, BenchCandidate, BenchDivision, BenchResult
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.readiness import Machine
from tests.fakes.devices import CPU_ONLY

PROFILE = 'schema_version = 1\nname = "digits"\n[data]\nsource = "digits"\n'
EDITED = f"{PROFILE}[training]\nepochs = 77\n"
MIRRORED = BenchResult(
    candidate=BenchCandidate(
        division=BenchDivision.EQUAL,
        device_keys=("cpu",),
        replicas=2,
        visible=("cpu",),
        cpu_replicas=2,
        strategy=StrategySettings(kind=StrategyKind.MIRRORED),
    ),
    name="2 replicas, equal shares",
    examples_per_second=1_000.0,
)


def bench(
    monkeypatch: pytest.MonkeyPatch, profile: Path, apply: Path, meanwhile: Callable[[], object]
) -> tuple[int, str]:
    def compare(*_: Any, **__: Any) -> Bench:
        meanwhile()
        return Bench(results=(MIRRORED,), measured_s=1.0)

    monkeypatch.setattr(module, "compare", compare)
    monkeypatch.setattr(module, "read_machine", lambda: Machine(CPU_ONLY))
    done = CliRunner().invoke(app, ["bench", str(profile), "--apply", str(apply)])
    return done.exit_code, " ".join(done.output.split())


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "digits.toml"
    path.write_text(PROFILE)
    return path


@pytest.mark.parametrize("is_other_file", [False, True])
def test_that_what_somebody_saves_while_devices_are_compared_is_kept(
    profile: Path, monkeypatch: pytest.MonkeyPatch, *, is_other_file: bool
) -> None:
    applied = profile.with_name("fastest.toml") if is_other_file else profile
    status, said = bench(monkeypatch, profile, applied, lambda: applied.write_text(EDITED))
    assert status == 1
    assert "[bench_file_changed]" in said
    assert "left as it is. The fastest way was: 2 replicas, equal shares." in said
    assert "trains as the fastest one does" not in said
    assert applied.read_text() == EDITED


@pytest.mark.parametrize("is_deleted", [False, True])
def test_that_a_file_that_nobody_has_written_is_replaced(
    profile: Path, monkeypatch: pytest.MonkeyPatch, *, is_deleted: bool
) -> None:
    act = profile.unlink if is_deleted else profile.read_bytes
    status, said = bench(monkeypatch, profile, profile, act)
    assert (status, "trains as the fastest one does" in said) == (0, True), said
    assert read_profile(profile).strategy.kind is StrategyKind.MIRRORED

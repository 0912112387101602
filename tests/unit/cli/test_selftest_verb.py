"""`gpupanel selftest [PROFILE]`: what is wrong with the devices, for people and for scripts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import selftest as selftest_module
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.self_test import (
    CaseOutcome,
    CaseResult,
    SelfTest,
    SelfTestCase,
    SelfTestKind,
    SelfTestPlace,
    SelfTestProgress,
)
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.readiness import Machine
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

PLACES = tuple(
    SelfTestPlace(device_key=gpu.key, logical_device=f"/device:GPU:{number}")
    for number, gpu in enumerate(TWO_UNEQUAL.gpus)
)
SUM = SelfTestCase(
    kind=SelfTestKind.ALL_REDUCE, places=PLACES, all_reduce=AllReduce.NCCL, seconds=12.0
)
MEMORY = SelfTestCase(kind=SelfTestKind.MEMORY, places=PLACES[1:], amount_mib=9_000, seconds=12.0)
STEP = SelfTestCase(kind=SelfTestKind.STEP, places=PLACES[:1], seconds=30.0)
WELL = SelfTest(
    outcomes=(
        CaseOutcome(case=SUM, result=CaseResult.PASSED, figure=12_345.0, tested_s=1.8e9),
        CaseOutcome(case=MEMORY, result=CaseResult.PASSED, figure=9_000.0, tested_s=1.8e9),
    ),
    tested_s=1.8e9,
    is_remembered=True,
)
HUNG = SelfTest(
    outcomes=(
        CaseOutcome(case=SUM, result=CaseResult.HANGS, detail="No answer.", tested_s=1.8e9),
        CaseOutcome(case=STEP, result=CaseResult.NOT_DONE, detail="Time was up.", tested_s=1.8e9),
    ),
    problems=(
        Problem(
            code="self_test_all_reduce",
            field="strategy.all_reduce",
            message="NCCL does not answer over RTX 4090 and RTX 3060.",
            fix=Fix.of("Turn peer-to-peer off", "strategy.peer_to_peer", value=False),
        ),
    ),
    tested_s=1.8e9,
)


class Asked:
    """What was asked, and the answer."""

    def __init__(self, answer: SelfTest) -> None:
        self.answer, self.profile, self.again = answer, Profile(), False

    def __call__(self, profile: Profile, _: Machine, *, on_progress, again: bool) -> SelfTest:
        self.profile, self.again = profile, again
        on_progress(SelfTestProgress(done=0, count=2))
        on_progress(SelfTestProgress(done=1, count=2, case=SUM))
        return self.answer


def said(monkeypatch: pytest.MonkeyPatch, asked: Asked, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr(selftest_module, "run_self_test", asked)
    found = CliRunner().invoke(app, ["selftest", *arguments], env={"COLUMNS": "200"})
    return found.exit_code, found.stdout


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest_module, "read_machine", lambda: Machine(TWO_UNEQUAL))


def test_that_what_passed_is_a_table_with_its_date(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(WELL)
    status, text = said(monkeypatch, asked)
    assert status == 0
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "RTX 4090 and RTX 3060 All-reduce: NCCL OK 12,345 MiB/s" in lines
    assert "RTX 3060 Memory OK 9,000 MiB" in lines
    assert "2 of 2 tests passed. Tested on 15 January 2027" in text
    # Without a profile every GPU is tested.
    assert asked.profile.devices.visible == tuple(gpu.key for gpu in TWO_UNEQUAL.gpus)
    assert asked.profile.strategy.kind is StrategyKind.MIRRORED
    assert not asked.again


def test_that_what_failed_has_its_fix_and_is_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(HUNG)
    status, text = said(monkeypatch, asked, "--again")
    assert status == 1
    assert asked.again
    assert "NCCL does not answer over RTX 4090 and RTX 3060." in text
    assert "Turn peer-to-peer off: strategy.peer_to_peer = false" in text
    assert "Not done: Time was up." in text
    assert "0 of 2 tests passed, 1 failed, 1 not done." in text


def test_that_scripts_get_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = said(monkeypatch, Asked(HUNG), "--json")
    document = json.loads(text)
    assert status == 1
    assert document["ok"] is False
    assert document["outcomes"][0]["result"] == "hangs"
    assert document["problems"][0]["code"] == "self_test_all_reduce"
    assert json.loads(said(monkeypatch, Asked(WELL), "--json")[1])["ok"] is True


def test_that_two_logical_devices_stand_in_where_there_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selftest_module, "read_machine", lambda: Machine(CPU_ONLY))
    asked = Asked(WELL)
    said(monkeypatch, asked)
    assert asked.profile.devices == DeviceSettings(visible=("cpu",), cpu_replicas=2)


def test_that_a_profile_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = Asked(WELL)
    bad = tmp_path / "bad.toml"
    bad.write_text("schema_version = 1\n[strategy]\nkind = 'nonsense'\n")
    assert said(monkeypatch, asked, str(bad), "--json")[0] == 2
    assert said(monkeypatch, asked, str(tmp_path / "absent.toml"))[0] == 2
    good = tmp_path / "good.toml"
    write_profile(good, Profile(name="mine"))
    assert said(monkeypatch, asked, str(good))[0] == 0
    assert asked.profile.name == "mine"

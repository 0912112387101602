"""`gpupanel lr-find PROFILE`: a learning rate, for people and for scripts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import lr_find as lr_find_module
from gpupanel.domain.model import SavedModel
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.rate_range import RatePoint, RateRange
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.readiness import Machine
from tests.fakes.devices import CPU_ONLY

FOUND = RateRange(
    points=tuple(RatePoint(rate=10.0**n, loss=2.0, smoothed=1.5) for n in range(-5, 0)),
    suggested=0.018,
)


def asked(tmp_path: Path, profile: Profile, *options: str) -> tuple[int, str]:
    path = tmp_path / "p.toml"
    write_profile(path, profile)
    answer = CliRunner().invoke(app, ["lr-find", str(path), *options], env={"COLUMNS": "200"})
    return answer.exit_code, answer.output


@pytest.fixture
def profile(monkeypatch: pytest.MonkeyPatch) -> Profile:
    monkeypatch.setattr(lr_find_module, "read_machine", lambda: Machine(CPU_ONLY))
    return Profile(devices=DeviceSettings(visible=("cpu",)))


def test_that_the_rate_is_a_sentence_and_one_json_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    tried = []
    monkeypatch.setattr(
        lr_find_module, "try_learning_rates", lambda *given: tried.append(given) or FOUND
    )
    status, text = asked(tmp_path, profile)
    assert status == 0
    assert text.splitlines()[-1] == "The loss falls fastest at a learning rate of 0.018."
    assert text.splitlines()[1].split() == ["1.0e-05", "2.0000", "1.5000"]
    assert [device for _, device in tried] == ["cpu"]
    status, text = asked(tmp_path, profile, "--json")
    assert (status, RateRange.model_validate(json.loads(text))) == (0, FOUND)


def test_that_finding_none_is_an_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    problem = Problem(code="a", message="No data.")
    for answer, words in ((RateRange(), "fell at no"), (RateRange(problems=(problem,)), "No data")):
        monkeypatch.setattr(lr_find_module, "try_learning_rates", lambda *_, found=answer: found)
        status, text = asked(tmp_path, profile)
        assert status == 1
        assert words in text


def test_that_a_model_that_is_not_trained_is_refused(tmp_path: Path) -> None:
    evaluating = Profile(task="evaluate", model=SavedModel(path="m.keras"))
    status, text = asked(tmp_path, evaluating, "--json")
    assert status == 2
    assert "rate_range_without_training" in text

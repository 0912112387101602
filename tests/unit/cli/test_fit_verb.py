"""`gpupanel fit PROFILE`: the ways in which a training fits, for people and for scripts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import fit as fit_module
from gpupanel.domain.model import ResNetModel
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.directory.profile_file import write_profile
from gpupanel.runs.readiness import Machine
from tests.fakes.devices import RTX_3060, RTX_4090, TWO_UNEQUAL
from tests.fakes.step_variants import LARGE, VARIANTS

FOUND = ModelSummary(step=LARGE, variants=VARIANTS)


def profile(batch: int, *, both: bool = True) -> Profile:
    keys = (RTX_4090.key, RTX_3060.key) if both else (RTX_4090.key,)
    kind = StrategyKind.MIRRORED if both else StrategyKind.ONE_DEVICE
    return Profile(
        devices=DeviceSettings(visible=keys),
        strategy=StrategySettings(kind=kind),
        model=ResNetModel(),
        training=TrainingSettings(global_batch_size=batch),
    )


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fit_module, "read_machine", lambda: Machine(TWO_UNEQUAL))
    requests: list[SummaryRequest] = []

    def ask(chosen: Profile, *options: str, found: ModelSummary = FOUND) -> tuple[int, str]:
        def summarize(request: SummaryRequest) -> ModelSummary:
            requests.append(request)
            return found

        monkeypatch.setattr(fit_module, "summarize_model", summarize)
        path = tmp_path / "p.toml"
        write_profile(path, chosen)
        answer = CliRunner().invoke(app, ["fit", str(path), *options], env={"COLUMNS": "250"})
        assert all(request.with_variants for request in requests)
        return answer.exit_code, answer.output

    return ask


def test_that_ways_are_a_table_with_memory_time_and_what_changes(asked) -> None:
    status, text = asked(profile(128))
    lines = text.splitlines()
    assert status == 0
    assert lines[0].split()[:5] == ["way", "fits", "step", "RTX", "4090"]
    as_it_is = next(line for line in lines if "As it is" in line)
    shown = "no 1.00x 24.7 GiB of 22.0 GiB 24.7 GiB of 10.0 GiB \N{EN DASH} 24 the same"
    assert as_it_is.split()[3:] == shown.split()
    first = next(line for line in lines if line.startswith("1 "))
    assert " yes " in first
    assert "The quickest that fits: " in text
    assert "training.mixed_precision = true" in lines[-1]


def test_that_a_script_gets_one_document(asked) -> None:
    status, text = asked(profile(128), "--json")
    document = json.loads(text)
    assert status == 0
    as_it_is, first = document["rungs"][:2]
    assert (as_it_is["fits"], as_it_is["fix"], first["fits"]) == (False, None, True)
    assert {memory["device"] for memory in first["memory"]} == {RTX_4090.key, RTX_3060.key}
    paths = [change["path"] for change in first["fix"]["changes"]]
    assert ["training", "mixed_precision"] in paths


def test_that_what_fits_already_is_said(asked) -> None:
    status, text = asked(profile(8, both=False))
    assert status == 0
    assert "It fits as it is." in text


def test_that_it_is_said_where_nothing_helps(asked) -> None:
    huge = LARGE.model_copy(update={"weight_bytes": 2**40, "layers": ()})
    variants = tuple(each.model_copy(update={"step": huge}) for each in VARIANTS)
    status, text = asked(profile(8), found=ModelSummary(step=huge, variants=variants))
    assert status == 1
    assert "Nothing of this fits" in text


def test_that_why_nothing_is_known_is_said(asked) -> None:
    problem = Problem(code="data_file_missing", message="There is no such file.")
    status, text = asked(profile(8), found=ModelSummary(problems=(problem,)))
    assert (status, "There is no such file." in text) == (1, True)
    status, text = asked(profile(8), found=ModelSummary(needs_start=True))
    assert (status, "are not there before the run" in text) == (1, True)
    status, text = asked(profile(8), found=ModelSummary())
    assert (status, "cannot be estimated" in text) == (1, True)


def test_that_what_does_not_train_is_refused(asked) -> None:
    status, text = asked(Profile(task="evaluate"))
    assert status == 2
    assert "fit_without_training" in text

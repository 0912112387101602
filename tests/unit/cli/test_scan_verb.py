"""`gpupanel scan PROFILE`: what is in the data, for people and for scripts."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.cli.verbs import scan as scan_module
from gpupanel.domain.data import ImagesData
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import DataScan
from gpupanel.runs.directory.profile_file import write_profile
from tests.unit.trainer.test_scan_of_images import make_many


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    make_many(tmp_path / "images", {"cat": 12, "dog": 12, "\x1b[2Jeel": 12})
    for number in range(15):
        (tmp_path / "images" / "dog" / f"bad{number}.png").write_text("none")
    path = tmp_path / "p.toml"
    write_profile(path, Profile(data=ImagesData(path=str(tmp_path / "images"))))
    return path


def test_that_the_report_is_one_json_document(profile: Path) -> None:
    answer = CliRunner().invoke(app, ["scan", str(profile), "--json"])
    assert answer.exit_code == 1  # too many cannot be read
    found = DataScan.model_validate(json.loads(answer.stdout))
    assert found.is_complete
    assert found.sets[0].examples == 51
    assert found.unreadable_count == 15


def test_that_people_read_problems_with_their_fixes_then_the_contents(profile: Path) -> None:
    answer = CliRunner().invoke(app, ["scan", str(profile)], env={"COLUMNS": "300"})
    assert answer.exit_code == 1
    text = answer.stdout
    assert "51 training examples, scanned in" in text
    assert "→ Skip 15 unreadable images: data.unreadable_share = 0.2942" in text
    assert "... and 5 more; --json names them" in text
    assert text.index("unreadable images") < text.index("Pixels, width x height")
    assert "\x1b[2J" not in text
    assert r"\x1b[2Jeel" in text


def test_that_data_without_problems_says_so(tmp_path: Path) -> None:
    path = tmp_path / "digits.toml"
    write_profile(path, Profile())
    answer = CliRunner().invoke(app, ["scan", str(path)])
    assert answer.exit_code == 0
    assert "No problems found." in answer.stdout


def test_that_a_bad_profile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[data]\nsource = 'nothing'\n")
    answer = CliRunner().invoke(app, ["scan", str(tmp_path / "bad.toml"), "--json"])
    assert answer.exit_code == 2
    assert json.loads(answer.stdout)["problems"]


def test_that_an_interrupt_ends_it(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> DataScan:
        raise KeyboardInterrupt

    monkeypatch.setattr(scan_module, "scan_data", interrupted)
    answer = CliRunner().invoke(app, ["scan", str(profile)])
    assert answer.exit_code == 130
    assert "Traceback" not in answer.output

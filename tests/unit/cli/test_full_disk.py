"""Files that the terminal writes, on a disk that is full."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpupanel.cli.app import app
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.runs.directory.profile_file import write_profile
from tests.fakes.small_disks import fill, small_disk  # noqa: F401 - a fixture


@pytest.mark.parametrize(
    ("verb", "option", "name"), [("check", "--fixed", "p.toml"), ("export", "-o", "p.py")]
)
def test_that_a_file_that_finds_no_space_is_reported_and_the_old_one_kept(
    tmp_path: Path,
    small_disk: Path,  # noqa: F811
    verb: str,
    option: str,
    name: str,
) -> None:
    profile = tmp_path / "profile.toml"
    write_profile(profile, Profile(name="kept", devices=DeviceSettings(visible=("cpu",))))
    old = small_disk / name
    old.write_text("what stood there before")
    fill(small_disk)
    told = CliRunner().invoke(app, [verb, str(profile), option, str(old), "--json"])
    assert told.exit_code == 1
    problems = [each for each in json.loads(told.stdout)["problems"] if each["code"] == "no_space"]
    assert len(problems) == 1
    assert str(old) in problems[0]["message"]
    assert old.read_text() == "what stood there before"
    assert sorted(path.name for path in small_disk.iterdir()) == sorted(["filler", name])

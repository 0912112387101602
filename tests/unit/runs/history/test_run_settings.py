"""What runs were started with, for tables and searches."""

import os
import time
from pathlib import Path

import pytest

from gpupanel.domain.model import CnnModel
from gpupanel.domain.profile import Profile
from gpupanel.runs.history.run_settings import RunSettings, RunSettingsReader, setting_keys
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.summaries import list_runs
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.many_runs import write_many_runs
from tests.fakes.run_directory import WrittenRun


def written(folder: Path, text: str | bytes, name: str = "one") -> RunSummary:
    root = folder / name
    root.mkdir()
    content = text if isinstance(text, bytes) else text.encode()
    (root / "profile.toml").write_bytes(content)
    return RunSummary(name=name, path=root, profile_name=name)


def read(run: RunSummary) -> RunSettings:
    return RunSettingsReader().read((run,))[run.name]


def test_that_numbers_are_numbers_and_all_else_is_text(tmp_path: Path) -> None:
    text = (
        'name = "x"\n[model]\nsource = "cnn"\nfilters = [8, 16]\nbatch_norm = true\n'
        "[training]\nlearning_rate = 1e-3\nepochs = 3\nodd = nan\n"
        '[memory."GPU-1"]\npolicy = "limit"\n'
    )
    found = read(written(tmp_path, text))
    assert found.pairs == (
        ("model.source", "cnn"),
        ("model.filters", "[8, 16]"),
        ("model.batch_norm", "true"),
        ("training.learning_rate", 0.001),
        ("training.epochs", 3.0),
        ("training.odd", "NaN"),
        ("memory.GPU-1.policy", "limit"),
    )
    assert found.value_of("training.epochs") == 3.0
    assert found.value_of("epochs") is None


@pytest.mark.parametrize("content", [b"\xff", b"a = [", b"[" * 10_000, b""])
def test_that_a_damaged_profile_has_no_settings(tmp_path: Path, content: bytes) -> None:
    assert read(written(tmp_path, content)) == RunSettings()


def test_that_a_fifo_in_the_place_of_a_profile_is_not_waited_for(tmp_path: Path) -> None:
    run = written(tmp_path, "")
    (run.path / "profile.toml").unlink()
    os.mkfifo(run.path / "profile.toml")
    assert read(run) == RunSettings()


def test_that_a_profile_of_thousands_of_keys_takes_little(tmp_path: Path) -> None:
    text = "".join(f'key{number} = "{"x" * 1_000}"\n' for number in range(900))
    found = read(written(tmp_path, text))
    assert len(found.pairs) == 300
    assert all(len(str(value)) <= 200 for _, value in found.pairs)


def test_that_keys_that_differ_or_are_missing_somewhere_are_known(runs_dir: Path) -> None:
    profiles = (
        Profile(name="a"),
        Profile(name="b", model=CnnModel()),
    )
    for profile in profiles:
        with WrittenRun(runs_dir, profile) as run:
            run.begin()
            run.end()
    settings = RunSettingsReader().read(list_runs(runs_dir))
    differing = {each.key: each.differs for each in setting_keys(settings)}
    assert differing["model.source"]
    assert differing["model.filters"]
    assert not differing["training.epochs"]
    assert "name" not in differing
    # One that cannot be read makes no difference.
    with_unread = {**settings, "unread": RunSettings()}
    assert setting_keys(with_unread) == setting_keys(settings)
    numbers = {each.key: each.is_number for each in setting_keys(settings)}
    assert numbers["training.epochs"]
    assert not numbers["model.source"]


@pytest.mark.alone
def test_that_a_thousand_profiles_are_read_within_two_seconds(tmp_path: Path) -> None:
    write_many_runs(tmp_path / "runs", 1_000, TWO_UNEQUAL, steps=1)
    runs = list_runs(tmp_path / "runs")
    reader = RunSettingsReader()
    begin_s = time.process_time()
    found = reader.read(runs)
    # Measured: 0.6 s.
    assert time.process_time() - begin_s < 2.0
    # Equal settings are kept once.
    assert len({id(pair) for each in found.values() for pair in each.pairs}) < 100

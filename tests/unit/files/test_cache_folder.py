"""The cache keeps what is asked for, and nothing of writers that were killed."""

import os
import time
from pathlib import Path

import pytest

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.cache_folder import remove_unused
from gpupanel.trainer.datasets.cache_file import cached_file, marks_of

HOUR_S = 3600.0


def test_that_what_is_whole_stays_a_month_and_what_is_not_a_day(tmp_path: Path) -> None:
    for name, age_s in (
        ("asked-for.kept", 29 * 24 * HOUR_S),
        ("forgotten.kept", 31 * 24 * HOUR_S),
        (".written.kept.12", 23 * HOUR_S),
        (".killed.kept.13", 25 * HOUR_S),
    ):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)

    remove_unused(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".written.kept.12",
        "asked-for.kept",
    ]


def test_that_who_makes_a_file_anew_removes_what_killed_writers_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUPANEL_CACHE_DIR", str(tmp_path))
    source = tmp_path / "packed"
    source.touch()

    def unusable(folder: Path, error: OSError) -> ProblemError:
        return ProblemError(Problem(code="cache", message=f"{folder}: {error}"))

    def made(how: str) -> Path:
        marks = [marks_of(source.stat())]
        return cached_file("things", marks, how, lambda: None, lambda _: None, unusable)

    place = made("so")
    others = place.parent / f".{made('otherwise').name}.77"
    place.unlink()
    for unfinished in (place.parent / f".{place.name}.77", others):
        unfinished.write_bytes(bytes(1000))

    assert made("so") == place
    assert list(place.parent.glob(".*")) == [others]  # who writes that is not known here

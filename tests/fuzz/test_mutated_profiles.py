"""Profiles that something has happened to: read, or refused in sentences, and never a crash."""

import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile, profile_from_document
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.profile_file import read_profile
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fuzz.mutations import damaged, hostile_toml, with_odd_values

PROFILES = Path(__file__).parents[2] / "resources" / "profiles"
CONTENTS = [path.read_bytes() for path in sorted(PROFILES.glob("*.toml"))]
DOCUMENTS = [
    *(tomllib.loads(content.decode()) for content in CONTENTS),
    # Every key written out, so that each of them is hit.
    *(tomllib.loads(dump_profile(parse_profile(content.decode()))) for content in CONTENTS),
]
MACHINES = (CPU_ONLY, TWO_UNEQUAL)
LONGEST_S = 5.0
"""What is read while somebody waits must not take for ever, whatever number stands in it."""

FEW = settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MANY = settings(FEW, max_examples=5_000)


def look_at(profile: Profile) -> None:
    """Everything that the window does with a profile before Start."""
    assert parse_profile(dump_profile(profile)) == profile
    for inventory in MACHINES:
        preparation = prepare(profile, inventory)
        assert preparation.plan is not None or any(
            problem.is_error for problem in preparation.problems
        )
        assert all(problem.code and problem.message for problem in preparation.problems)


def assert_taken_or_refused(read: Callable[[], Profile]) -> None:
    start_s = time.monotonic()
    profile: Profile | None = None
    problems: tuple[Problem, ...] = ()
    try:
        profile = read()
    except ProblemError as error:
        problems = error.problems
    if profile is not None:
        look_at(profile)
    else:
        assert problems
    assert all(problem.code and problem.message for problem in problems)
    assert time.monotonic() - start_s < LONGEST_S


def assert_file_taken_or_refused(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    assert_taken_or_refused(lambda: read_profile(path))


def assert_document_taken_or_refused(document: dict[str, Any]) -> None:
    assert_taken_or_refused(lambda: profile_from_document(document))


@FEW
@given(content=damaged(CONTENTS))
def test_that_a_damaged_profile_is_read_or_refused(content: bytes, tmp_path: Path) -> None:
    assert_file_taken_or_refused(content, tmp_path / "profile.toml")


@FEW
@given(document=with_odd_values(DOCUMENTS))
def test_that_a_profile_with_odd_values_is_read_or_refused(document: dict[str, Any]) -> None:
    assert_document_taken_or_refused(document)


@FEW
@given(begun=st.sampled_from([b"", *CONTENTS]), content=hostile_toml())
def test_that_a_hostile_profile_is_read_or_refused(
    begun: bytes, content: bytes, tmp_path: Path
) -> None:
    assert_file_taken_or_refused(begun + b"\n" + content, tmp_path / "profile.toml")


@pytest.mark.slow
@MANY
@given(begun=st.sampled_from([b"", *CONTENTS]), content=hostile_toml())
def test_that_five_thousand_hostile_profiles_are_read_or_refused(
    begun: bytes, content: bytes, tmp_path: Path
) -> None:
    assert_file_taken_or_refused(begun + b"\n" + content, tmp_path / "profile.toml")


@pytest.mark.slow
@MANY
@given(content=damaged(CONTENTS))
def test_that_five_thousand_damaged_profiles_are_read_or_refused(
    content: bytes, tmp_path: Path
) -> None:
    assert_file_taken_or_refused(content, tmp_path / "profile.toml")


@pytest.mark.slow
@MANY
@given(document=with_odd_values(DOCUMENTS))
def test_that_five_thousand_profiles_with_odd_values_are_read_or_refused(
    document: dict[str, Any],
) -> None:
    assert_document_taken_or_refused(document)

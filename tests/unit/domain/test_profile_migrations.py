"""A profile of an older format is read by a newer gpupanel."""

from typing import Any

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import SCHEMA_VERSION
from gpupanel.domain.profile_migrations import MIGRATIONS, migrated
from gpupanel.domain.profile_toml import parse_profile


def epochs_were_rounds(document: dict[str, Any]) -> dict[str, Any]:
    document["training"]["epochs"] = document["training"].pop("rounds")
    return document


def names_were_titles(document: dict[str, Any]) -> dict[str, Any]:
    return {("name" if key == "title" else key): value for key, value in document.items()}


BOTH = (epochs_were_rounds, names_were_titles)


def test_that_each_format_but_the_present_one_has_a_migration() -> None:
    assert len(MIGRATIONS) == SCHEMA_VERSION - 1


def test_that_migrations_are_carried_out_one_after_the_other() -> None:
    oldest = {"title": "x", "training": {"rounds": 3}}
    wanted = {"schema_version": 3, "name": "x", "training": {"epochs": 3}}
    assert migrated(oldest, BOTH) == wanted
    assert migrated({**oldest, "schema_version": 1}, BOTH) == wanted
    assert oldest == {"title": "x", "training": {"rounds": 3}}
    second = {"schema_version": 2, "title": "x", "training": {"epochs": 3}}
    assert migrated(second, BOTH) == wanted


@pytest.mark.parametrize("version", [3, 4, 0, -1, True, "1", 1.0, None, [1]])
def test_that_the_present_a_newer_and_no_format_are_left_as_they_are(version: object) -> None:
    document = {"schema_version": version, "title": "x"}
    assert migrated(document, BOTH) is document


def test_that_a_newer_profile_is_refused_with_the_reason() -> None:
    with pytest.raises(ProblemError, match=f"format version {SCHEMA_VERSION + 1}"):
        parse_profile(f"schema_version = {SCHEMA_VERSION + 1}")

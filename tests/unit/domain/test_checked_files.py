"""What was checked of a run's files: anything else is refused by name."""

import hashlib

import pytest

from gpupanel.domain.checked_files import CheckedFiles, digest_of
from gpupanel.domain.problem import ProblemError

ONE = CheckedFiles(digests={"profile.toml": digest_of(b"one"), "plan.json": digest_of(b"{}")})


def test_that_a_digest_is_the_sha256_that_others_compute() -> None:
    assert digest_of(b"one") == hashlib.sha256(b"one").hexdigest()


def test_that_what_was_checked_passes_and_what_was_not_is_left_to_its_reader() -> None:
    ONE.check("profile.toml", b"one")
    ONE.check("events.jsonl", b"whatever")


def test_that_anything_else_is_named_and_what_to_do() -> None:
    with pytest.raises(ProblemError) as caught:
        ONE.check("profile.toml", b"one ")
    (problem,) = caught.value.problems
    assert problem.code == "run_file_changed"
    assert problem.message == (
        "profile.toml in the run's folder was changed after the run was checked to be started, so "
        "what stands there now was not used."
    )
    assert "resume the run" in problem.hint


def test_that_what_was_checked_later_holds() -> None:
    later = ONE.and_of(CheckedFiles(digests={"profile.toml": digest_of(b"two")}))
    later.check("profile.toml", b"two")
    later.check("plan.json", b"{}")
    with pytest.raises(ProblemError):
        later.check("profile.toml", b"one")

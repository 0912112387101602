"""Text and numbers of files that anybody may have written."""

import json

import pytest

from gpupanel.domain.events import RunStarted, UnknownEvent, decode_event, encode_event
from gpupanel.domain.integer_bounds import (
    integer_beyond_64_bits,
    json_has_integer_beyond_64_bits,
)
from gpupanel.domain.plan import parse_plan
from gpupanel.domain.problem import Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.toml_text import read_toml
from gpupanel.domain.unsafe_files import unsafe_file

MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"a": [1, MOST, -(2**63), 1e300, "9" * 30, None, True]}, None),
        ({"a": 1, "b": [0, {"c": MOST + 1}]}, ("b", "1", "c")),
        ([-(2**63) - 1], ("0",)),
        (10**400, ()),
    ],
)
def test_that_an_integer_that_64_bits_cannot_hold_is_found(
    document: object, path: tuple[str, ...] | None
) -> None:
    assert integer_beyond_64_bits(document) == path
    assert json_has_integer_beyond_64_bits(json.dumps(document).encode()) == (path is not None)


def test_that_what_is_no_json_holds_no_integers() -> None:
    assert not json_has_integer_beyond_64_bits(b"9" * 30 + b"}")


@pytest.mark.parametrize("text", ["9" * 400, str(MOST + 1), "9" * 5_000])
def test_that_an_event_with_such_an_integer_is_shown_as_unknown(text: str) -> None:
    line = encode_event(RunStarted(time_s=1.0, supervisor_pid=77)).replace("77", text)
    assert isinstance(decode_event(line), UnknownEvent)
    assert isinstance(decode_event(line.encode()), UnknownEvent)


def test_that_an_event_with_many_digits_elsewhere_is_read() -> None:
    line = '{"kind":"model_saved","time_s":1.0,"path":"12345678901234567890.keras"}'
    assert not isinstance(decode_event(line), UnknownEvent)


def test_that_a_plan_with_such_an_integer_is_none() -> None:
    with pytest.raises(ValueError, match="64 bits"):
        parse_plan(b'{"a": %s}' % str(MOST + 1).encode())
    with pytest.raises(ValueError, match="validation error"):
        parse_plan(b"{}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a=" + "[" * 500, "nested too deeply"),
        ("a=" + "[" * 40 + "]" * 40, "nested too deeply"),
        (".".join("a" * 33) + "=1", "nested too deeply"),
        (".".join("a" * 100_000) + "=1", "more than 32 parts"),
        ("a=" + "9" * 5_000, "too many digits"),
        ("a=0x" + "f" * 5_000, "64 bits"),
        ("[t]\na=[1," + "9" * 20 + "]", r"t\.a\.1 is a number"),
        ("a=", "Invalid value"),
    ],
)
def test_that_toml_that_nobody_writes_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_toml(text)


def test_that_a_profile_is_toml() -> None:
    text = dump_profile(Profile(name="a.b" * 5))
    assert read_toml(text)["name"] == "a.b" * 5


def test_that_an_unsafe_file_is_named_with_what_it_is() -> None:
    problem = unsafe_file("runs/x\n/trainer.log", "a symbolic link", Severity.WARNING)
    assert problem.code == "run_folder_unsafe"
    assert problem.message.startswith(r"runs/x\n/trainer.log is a symbolic link")
    assert not problem.is_error

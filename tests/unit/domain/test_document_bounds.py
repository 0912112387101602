"""What anybody's file may hold at most: each bound is refused by its key, where it is read."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
import tomli_w
from pydantic_core import from_json

from gpupanel.domain import integer_bounds
from gpupanel.domain.document_bounds import (
    OF_A_PROFILE,
    OF_A_RECORD,
    Beyond,
    beyond_bounds,
    check_json,
    json_beyond_bounds,
)
from gpupanel.domain.events import MemoryReported, UnknownEvent, decode_event, encode_event
from gpupanel.domain.integer_bounds import json_has_integer_beyond_64_bits
from gpupanel.domain.plan import parse_plan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import parse_profile, profile_from_document
from gpupanel.domain.value import MOST_PLACES, Value
from gpupanel.runs.queue.queue_files import QueueFiles
from tests.fakes.run_directory import WrittenRun


def nested(depth: int) -> list[Any]:
    document: list[Any] = []
    for _ in range(depth - 1):
        document = [document]
    return document


@pytest.mark.parametrize(
    ("document", "beyond"),
    [
        ({"a": ["x"] * 32_768, "b": {"c": "x" * 4_096}, "d": nested(31)}, None),
        ({"a": {"b": ["x"] * 32_769}}, ("a.b", "has 32,769 entries; at most 32,768 are read")),
        ({"a": dict.fromkeys(map(str, range(40_000)))}, ("a", "has 40,000 entries")),
        ({"a": [1, "x" * 4_097]}, ("a.1", "has 4,097 characters; at most 4,096 are read")),
        ({"a": {"x" * 4_097: 1}}, ("a", "has a key of 4,097 characters")),
        ({"a": nested(32)}, (f"a{'.0' * 31}", "is nested more than 32 deep")),
        ({"a": [{"b": 2**63}]}, ("a.0.b", "is a number beyond 64 bits")),
        ({"\x1b" + "x" * 100: [2**63]}, (r"\x1b", "is a number")),
        ([None, True, 1e308], None),
    ],
)
def test_that_what_is_beyond_is_named_with_key_and_bound(
    document: object, beyond: tuple[str, str] | None
) -> None:
    found = beyond_bounds(document, OF_A_PROFILE)
    if beyond is None:
        assert found is None
        return
    assert found is not None
    assert found.path.startswith(beyond[0])
    assert found.words.startswith(beyond[1])
    assert len(found.path) < 200
    assert found.path.isprintable()


def test_that_json_is_bounded_alike() -> None:
    assert json_beyond_bounds(b'{"a": 1}', OF_A_RECORD) is None
    assert json_beyond_bounds(b'["' + b"x" * 2**16, OF_A_RECORD) is None  # no JSON
    long = json.dumps({"a": "x" * (2**16 + 1)}).encode()
    assert json_beyond_bounds(long, OF_A_RECORD) == Beyond(
        "a", "has 65,537 characters; at most 65,536 are read"
    )
    with pytest.raises(ValueError, match="a has 65,537 characters"):
        check_json(long, OF_A_RECORD)
    with pytest.raises(ValueError, match="it is a number beyond 64 bits"):
        check_json(b"9" * 30, OF_A_RECORD)


def _lists(annotation: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], type]]:
    """Every list and table with keys of a person's own in a profile, with the keys to it."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _lists(get_args(annotation)[0], path)
    elif origin in (Union, UnionType):
        for each in get_args(annotation):
            yield from _lists(each, path)
    elif isinstance(annotation, type) and issubclass(annotation, Value):
        tags = {
            name: get_args(info.annotation)[0]
            for name, info in annotation.model_fields.items()
            if info.title is None and get_origin(info.annotation) is Literal and len(path) == 1
        }
        marked = path if not tags else (*path, json.dumps(tags))
        for name, info in annotation.model_fields.items():
            yield from _lists(info.annotation, (*marked, name))
    elif origin is dict or (origin is tuple and get_args(annotation)[1:] == (...,)):
        yield path, dict if origin is dict else list
        if origin is dict:
            yield from _lists(get_args(annotation)[1], (*path, "x"))


LISTS = dict.fromkeys(_lists(Profile, ()))


def _document(path: tuple[str, ...], value: object) -> dict[str, Any]:
    document: Any = value
    for key in reversed(path):
        document = {**json.loads(key), **document} if key.startswith("{") else {key: document}
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize(
    ("path", "kind"), LISTS, ids=[".".join(each for each in path) for path, _ in LISTS]
)
def test_that_no_list_or_table_of_a_profile_is_without_a_bound(
    path: tuple[str, ...], kind: type
) -> None:
    names = [f"n{number}" for number in range(OF_A_PROFILE.entries + 1)]
    value = names if kind is list else dict.fromkeys(names, 1)
    with pytest.raises(ProblemError) as refused:
        profile_from_document(_document(path, value))  # as TOML it would take a third of a second
    (problem,) = refused.value.problems
    assert problem.code == "profile_beyond_bounds"
    assert problem.field == ".".join(key for key in path if not key.startswith("{"))
    assert "32,769 entries; at most 32,768 are read" in problem.message


def test_that_enough_lists_are_known() -> None:
    found = {path[-1] for path, _ in LISTS}
    assert found >= {"visible", "memory", "described", "placement", "class_weights", "leave_out"}
    assert found >= {"split_mib", "values", "class_names", "ignore", "filters"}
    assert NoneType not in {kind for _, kind in LISTS}


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("devices", "visible"), ["cpu"] * (MOST_PLACES + 1)),
        (("memory",), {f"GPU-{n}": {"policy": "growth"} for n in range(MOST_PLACES + 1)}),
        (
            ("devices", "described"),
            {f"GPU-{n}": {"name": "RTX"} for n in range(MOST_PLACES + 1)},
        ),
    ],
)
def test_that_a_profile_names_no_more_devices_than_there_are_places(
    keys: tuple[str, ...], value: Any
) -> None:
    with pytest.raises(ProblemError) as refused:
        parse_profile(tomli_w.dumps(_document(keys, value)))
    (problem,) = refused.value.problems
    assert (problem.code, problem.field) == ("profile_beyond_bounds", ".".join(keys))
    assert problem.message == f"{'.'.join(keys)} has 1,025 entries; at most 1,024 are read."
    fewer = value[:-1] if isinstance(value, list) else dict(list(value.items())[:-1])
    parse_profile(tomli_w.dumps(_document(keys, fewer)))


def test_that_an_event_and_a_plan_of_too_many_devices_are_not_read(runs_dir: Path) -> None:
    device = {"device_key": "cpu", "logical_device": "/device:CPU:0"}
    line = encode_event(MemoryReported(time_s=1.0, devices=()))
    assert not isinstance(decode_event(line), UnknownEvent)
    many = json.dumps({**json.loads(line), "devices": [device] * (MOST_PLACES + 1)})
    assert isinstance(decode_event(many), UnknownEvent)
    plan = json.loads(WrittenRun(runs_dir).layout.plan.read_text())
    for key in ("devices", "replicas"):
        beyond = {**plan, key: plan[key] * (MOST_PLACES + 1)}
        with pytest.raises(ValueError, match="at most 1024 items"):
            parse_plan(json.dumps(beyond).encode())
    named = {**plan, "environment": {"A": "x" * (OF_A_RECORD.characters + 1)}}
    with pytest.raises(ValueError, match=r"environment\.A has 65,537 characters"):
        parse_plan(json.dumps(named).encode())


@pytest.mark.parametrize(
    "content",
    [
        b'{"entries": [], "x": "%s"}' % (b"y" * (OF_A_RECORD.characters + 1)),
        b'{"sweeps": [%s"a"]}' % (b'"a",' * 10_000),
        b'{"version": %s}' % (b"9" * 400),
    ],
)
def test_that_a_queue_that_nobody_made_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "queue.json").write_bytes(content)
    with pytest.raises(ProblemError) as refused:
        QueueFiles(tmp_path).read()
    assert isinstance(refused.value.problems[0], Problem)


def test_that_the_digits_of_a_small_loss_are_not_taken_for_a_large_integer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[bytes] = []

    def noted(text: bytes) -> object:
        parsed.append(text)
        return from_json(text)

    monkeypatch.setattr(integer_bounds, "from_json", noted)
    assert not json_has_integer_beyond_64_bits(b'{"loss":0.00012345678901234567}')
    assert parsed == []
    assert json_has_integer_beyond_64_bits(b'{"loss":0.5,"step":123456789012345678901}')
    assert json_has_integer_beyond_64_bits(b"[-99999999999999999999]")
    assert len(parsed) == 2

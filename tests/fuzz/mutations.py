"""What can happen to a file that was right once: strategies of damage, for text and for values."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

FRAGMENTS = (
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\n",
    b"\r\n",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b"'''",
    b"=",
    b",",
    b"null",
    b"nan",
    b"-inf",
    b"1e999",
    b"-0",
    b"99999999999999999999999999",
    b"true",
    b"[[",
    b"\xf0\x9f\x94\xa5",
    b"# ",
    b"\\u0000",
)
"""What editors, torn writes, other programs and bad luck put into files."""

ODD_VALUES: tuple[Any, ...] = (
    "",
    "\x00",
    "a" * 5_000,
    "..",
    "/dev/null",
    "\u202e\U0001f525",
    "equal",
    "cpu",
    "auto",
    0,
    1,
    2,
    -1,
    7,
    2**31 - 1,
    2**31,
    2**63 - 1,
    10**30,
    0.0,
    -0.5,
    0.5,
    1.0,
    1e-300,
    1e300,
    float("nan"),
    float("inf"),
    float("-inf"),
    True,
    False,
    [],
    [0],
    [1, 2],
    [-1, 10**12],
    ["cpu"],
    ["cpu", "cpu"],
    [[1], [2]],
    [1] * 2_000,
    {},
    {"policy": "limit", "limit_mib": 1},
    {"policy": "split", "split_mib": [1, 10**9]},
    {"": ""},
)
"""Values that are of the wrong kind, out of every bound, or right by chance."""

_Edit = Callable[[bytes], bytes]


def _spans() -> st.SearchStrategy[tuple[float, float]]:
    return st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 0.05))


def _deleted(span: tuple[float, float]) -> _Edit:
    def edit(content: bytes) -> bytes:
        start = int(span[0] * len(content))
        return content[:start] + content[start + 1 + int(span[1] * len(content)) :]

    return edit


def _inserted(place: float, fragment: bytes) -> _Edit:
    def edit(content: bytes) -> bytes:
        start = int(place * len(content))
        return content[:start] + fragment + content[start:]

    return edit


def _cut_off(place: float) -> _Edit:
    return lambda content: content[: int(place * len(content))]


def _repeated(span: tuple[float, float]) -> _Edit:
    def edit(content: bytes) -> bytes:
        start = int(span[0] * len(content))
        end = start + 1 + int(span[1] * len(content))
        return content[:end] + content[start:end] + content[end:]

    return edit


def _lines_swapped(first: float, second: float) -> _Edit:
    def edit(content: bytes) -> bytes:
        lines = content.split(b"\n")
        one, two = int(first * (len(lines) - 1)), int(second * (len(lines) - 1))
        lines[one], lines[two] = lines[two], lines[one]
        return b"\n".join(lines)

    return edit


def _zeroed(span: tuple[float, float]) -> _Edit:
    """Some file systems give zeros for what had not reached the disk when the power went."""

    def edit(content: bytes) -> bytes:
        start = int(span[0] * len(content))
        end = min(len(content), start + 1 + int(span[1] * len(content)))
        return content[:start] + bytes(end - start) + content[end:]

    return edit


def edits() -> st.SearchStrategy[_Edit]:
    """One damage to a file's bytes."""
    place = st.floats(0.0, 1.0)
    return st.one_of(
        st.builds(_deleted, _spans()),
        st.builds(_inserted, place, st.sampled_from(FRAGMENTS)),
        st.builds(_cut_off, place),
        st.builds(_repeated, _spans()),
        st.builds(_lines_swapped, place, place),
        st.builds(_zeroed, _spans()),
    )


def damaged(contents: Sequence[bytes], most: int = 5) -> st.SearchStrategy[bytes]:
    """One of the contents after one to ``most`` damages."""

    def apply(content: bytes, damages: list[_Edit]) -> bytes:
        for damage in damages:
            content = damage(content)
        return content

    return st.builds(apply, st.sampled_from(contents), st.lists(edits(), min_size=1, max_size=most))


@st.composite
def with_odd_values(
    draw: st.DrawFn, documents: Sequence[dict[str, Any]], most: int = 4
) -> dict[str, Any]:
    """One of the documents in which up to ``most`` values are others, added or gone."""
    document: dict[str, Any] = _copied(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, most))):
        table = document
        while True:
            key = draw(st.sampled_from([*table, "a_key_of_nobody"]))
            inner = table.get(key)
            if isinstance(inner, dict) and inner and draw(st.integers(0, 4)):
                table = inner
                continue
            break
        if key in table and not draw(st.integers(0, 5)):
            del table[key]
        else:
            table[key] = _copied(draw(st.sampled_from(ODD_VALUES)))
        if not document:
            break
    return document


def _copied(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _copied(value) for key, value in node.items()}
    return [_copied(each) for each in node] if isinstance(node, list) else node


HOSTILE_NUMBERS = (
    "9" * 19,
    "-" + "9" * 400,
    "9" * 5_000,
    "1e999",
    "-1e999",
    "1" + "0" * 400 + ".5",
    "0." + "0" * 400 + "1",
)


def hostile_json() -> st.SearchStrategy[bytes]:
    """JSON, or nearly so, that no program writes: deep, with numbers beyond everything."""
    leaves = st.sampled_from(
        (*HOSTILE_NUMBERS, "Infinity", "-Infinity", "NaN", '"\\ud800"', "null")
    )
    deep = st.integers(1, 3_000).map(lambda depth: "[" * depth + "]" * depth)
    values = st.recursive(
        st.one_of(leaves, deep),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda each: f"[{','.join(each)}]"),
            st.dictionaries(st.sampled_from(_JSON_KEYS), inner, max_size=4).map(
                lambda each: "{" + ",".join(f'"{key}":{value}' for key, value in each.items()) + "}"
            ),
        ),
        max_leaves=6,
    )
    kinds = st.sampled_from(
        ("epoch_done", "steps_done", "run_ended", "run_started", "run_restarted")
    )
    events = st.tuples(kinds, values, values).map(
        lambda each: f'{{"kind":"{each[0]}","time_s":{each[1]},"step":{each[2]},"epoch":{each[2]}}}'
    )
    return st.one_of(values, events).map(str.encode)


_JSON_KEYS = ("devices", "strategy", "number", "profile", "time_s", "readings", "kind", "key")


def hostile_toml() -> st.SearchStrategy[bytes]:
    """TOML, or nearly so, that no program writes."""
    values = st.one_of(
        st.sampled_from(
            (
                *HOSTILE_NUMBERS,
                "inf",
                "nan",
                "0x" + "f" * 5_000,
                '"\\u0000"',
                '"~nobody/x"',
                '"/dev/zero"',
            )
        ),
        st.integers(1, 3_000).map(lambda depth: "[" * depth + "]" * depth),
        st.integers(1, 2_000).map(lambda depth: "{a=" * depth + "1" + "}" * depth),
    )
    keys = st.one_of(
        st.sampled_from(("name", "schema_version", "task", "notes", "a")),
        st.integers(1, 5_000).map(lambda parts: ".".join("a" * parts)),
    )
    tables = st.sampled_from(("", "[data]", "[model]", "[training]", "[strategy]", "[devices]"))
    inner = st.sampled_from(("path", "source", "epochs", "seed", "shares", "kind", "visible"))
    lines = st.tuples(tables, st.one_of(keys, inner), values).map(
        lambda each: f"{each[0]}\n{each[1]} = {each[2]}"
    )
    return st.lists(lines, min_size=1, max_size=4).map(lambda each: "\n".join(each).encode())

"""Pieces of a script, put together."""

from gpupanel.planning.script.sections import (
    indented,
    joined,
    lines_of,
    with_imports_first,
)


def test_that_parts_stand_below_each_other_and_apart_from_definitions() -> None:
    assert joined("\nx = 1\n", "", "y = 2") == "x = 1\ny = 2"
    assert joined("def f():\n    pass", "x = 1") == "def f():\n    pass\n\n\nx = 1"
    assert joined("x = 1", "def f():\n    pass") == "x = 1\n\n\ndef f():\n    pass"
    assert indented("a\n\n    b") == "    a\n\n        b"


def test_that_what_a_section_imports_stands_at_its_top_once() -> None:
    code = "import pyarrow as pa\nimport csv\n\n\ndef f():\n    pass\n\n\nimport json\n\n# x\ny = 1"
    first = (
        "import csv\nimport json\n\nimport pyarrow as pa\n\n\ndef f():\n    pass\n\n\n# x\ny = 1"
    )
    assert with_imports_first(code) == first
    assert with_imports_first(first) == first
    assert with_imports_first("x = 1\nfrom math import pi\nimport math") == (
        "import math\nfrom math import pi\n\nx = 1"
    )
    taken = "from math import pi\nimport math\nfrom math import e, pi\n\nx = 1"
    assert with_imports_first(taken) == "import math\nfrom math import e, pi\n\nx = 1"
    assert with_imports_first("x = 1") == "x = 1"


def test_that_pieces_stand_one_below_the_other_whatever_lines_are_around_them() -> None:
    assert lines_of(["a", "\nb\n    c\n", "", "d"]) == "a\nb\n    c\n\nd"

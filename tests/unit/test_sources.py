"""A source of data is a value, a file that reads it and a file that writes its part of a script."""

import ast
import inspect
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import gpupanel
from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import kinds_of
from gpupanel.domain.value import Value
from gpupanel.planning.script.source_script import SourceScript, script_of
from gpupanel.trainer.datasets.read import source_of
from gpupanel.trainer.datasets.source import Source

VALUES: tuple[type[Value], ...] = get_args(get_args(DataSettings)[0])
PACKAGE = Path(gpupanel.__file__).parent
MAY_NAME_A_SOURCE = ("domain/data.py", "trainer/datasets/", "planning/script/sources/")
MAY_NAME_THE_DEFAULT = ("domain/profile.py", "ui/panels/data_panel/")


def one_of(values: type[Value]) -> DataSettings:
    """One with defaults."""
    new: DataSettings = next(kind for kind in kinds_of(DataSettings) if kind.values is values).new()
    return new


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize(("found_by", "protocol"), [(source_of, Source), (script_of, SourceScript)])
def test_that_each_source_has_its_files(
    values: type[Value], found_by: object, protocol: type
) -> None:
    assert callable(found_by)
    found = type(found_by(one_of(values)))

    assert protocol in found.__mro__
    assert found.__module__.endswith(f".{one_of(values).module}")
    offered = {name for name in vars(protocol) if not name.startswith("_")}
    own = {name for name in vars(found) if not name.startswith("_")}
    assert "read" in own <= offered
    for name in own:
        method, offered_method = getattr(found, name), getattr(protocol, name)
        assert list(inspect.signature(method).parameters) == list(
            inspect.signature(offered_method).parameters
        )
        assert get_type_hints(method)["data"] is values
        assert get_type_hints(method)["return"] == get_type_hints(offered_method)["return"]


def test_that_no_two_sources_share_a_file() -> None:
    assert len({one_of(values).module for values in VALUES}) == len(VALUES)


def test_that_no_other_file_names_a_source() -> None:
    names = {values.__name__ for values in VALUES}
    found = {
        (str(path.relative_to(PACKAGE)), alias.name)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in names
    }
    others = {each for each in found if not each[0].startswith(MAY_NAME_A_SOURCE)}
    assert {name for _, name in others} == {"DigitsData"}
    assert {path for path, _ in others if not path.startswith(MAY_NAME_THE_DEFAULT)} == set()

"""A public class is found by its name: no other has it."""

import ast
from collections import defaultdict

from tests.unit.parsed_package import parsed_package


def test_that_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path, tree in parsed_package().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}

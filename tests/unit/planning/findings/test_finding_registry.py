"""Every rule of findings stands in the registry once, and says nothing where nothing is known."""

from importlib import import_module
from inspect import isfunction, isgeneratorfunction, signature
from pkgutil import iter_modules

import pytest

from gpupanel.planning import findings
from gpupanel.planning.findings.context import FindingContext
from gpupanel.planning.findings.registry import (
    CLUSTER_FINDING_RULES,
    FINDING_RULES,
    FindingRule,
)

MODULES = [
    import_module(f"{findings.__name__}.{found.name}")
    for found in iter_modules(findings.__path__)
    if found.name.endswith("_findings")
]


def test_that_every_rule_of_every_module_is_in_the_registry_once() -> None:
    rules = {
        member
        for module in MODULES
        for name, member in vars(module).items()
        if isfunction(member) and isgeneratorfunction(member)
        if member.__module__ == module.__name__ and not name.startswith("_")
    }
    assert rules == set(FINDING_RULES)
    assert len(FINDING_RULES) == len(rules)
    assert {rule.__module__ for rule in FINDING_RULES} == {module.__name__ for module in MODULES}


@pytest.mark.parametrize("rule", FINDING_RULES, ids=lambda rule: rule.__name__)
def test_that_a_rule_asks_for_the_context_alone(rule: FindingRule) -> None:
    (parameter,) = signature(rule).parameters.values()
    assert parameter.annotation is FindingContext


def test_that_rules_about_clusters_are_some_of_all_in_their_order() -> None:
    chosen = [rule for rule in FINDING_RULES if rule in CLUSTER_FINDING_RULES]
    assert chosen == list(CLUSTER_FINDING_RULES)
    assert len(chosen) < len(FINDING_RULES)

"""Every rule stands in the registry once, and says nothing about what it does not know."""

from collections.abc import Callable
from importlib import import_module
from inspect import get_annotations, isfunction, isgeneratorfunction, signature
from pkgutil import iter_modules
from types import ModuleType

import pytest

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.planning import rules
from gpupanel.planning.context import PlanningContext, planning_context
from gpupanel.planning.prepare import prepare
from gpupanel.planning.rules import registry
from gpupanel.planning.rules.registry import RULES, SCRIPT_RULES, Rule
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL

MODULES = [
    import_module(f"{rules.__name__}.{found.name}") for found in iter_modules(rules.__path__)
]
KINDS = pytest.mark.parametrize("kind", StrategyKind)


def rules_of(module: ModuleType) -> list[Callable[..., object]]:
    """Its public functions that yield something, or ask for a context."""
    functions = [
        member
        for name, member in vars(module).items()
        if isfunction(member) and member.__module__ == module.__name__ and not name.startswith("_")
    ]
    return [
        function
        for function in functions
        if isgeneratorfunction(function) or PlanningContext in get_annotations(function).values()
    ]


def test_that_every_rule_of_every_module_is_in_the_registry_once() -> None:
    known = {rule for module in MODULES for rule in rules_of(module)}
    assert known - {registry.rules_of} == {*RULES, *SCRIPT_RULES}
    for rules_of_kind in (RULES, SCRIPT_RULES):
        assert len(rules_of_kind) == len(set(rules_of_kind))
        assert all(isgeneratorfunction(rule) for rule in rules_of_kind)


def test_that_every_rule_module_has_a_rule() -> None:
    with_rules = {rule.__module__ for rule in (*RULES, *SCRIPT_RULES)}
    assert with_rules == {module.__name__ for module in MODULES} - {registry.__name__}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_that_a_rule_asks_for_the_context_alone(rule: Rule) -> None:
    (parameter,) = signature(rule).parameters.values()
    assert parameter.annotation is PlanningContext


@KINDS
@pytest.mark.parametrize("task", ["train", "evaluate"])
def test_that_without_any_device_nothing_is_said_of_devices(kind: StrategyKind, task: str) -> None:
    # Values that would be reported to be unused, or not to fit, on devices.
    strategy = StrategySettings(
        kind=kind,
        shares=(1, 2),
        all_reduce=AllReduce.NCCL,
        workers=40,
        parameter_servers=2,
        placement={"nowhere": 9},
    )
    profile = Profile(task=task, strategy=strategy)
    context = planning_context(profile, DeviceInventory(devices=()))

    assert (context.devices, context.layout, context.shares, context.plan) == ((), None, None, None)
    assert (context.logical_device_count, context.working_replicas) == (0, 0)
    fields = {problem.field for rule in RULES for problem in rule(context)}
    assert fields <= ({"model.source", "strategy.kind"} if task == "evaluate" else set())


@KINDS
@pytest.mark.parametrize("inventory", [CPU_ONLY, TWO_UNEQUAL], ids=["CPU", "GPUs"])
def test_that_the_plan_is_the_one_that_the_rules_had(
    kind: StrategyKind, inventory: DeviceInventory
) -> None:
    profile = Profile(strategy=StrategySettings(kind=kind))
    context = planning_context(profile, inventory)
    assert context.plan is not None
    assert context.plan.shares == context.shares
    assert context.plan.is_like(prepare(profile, inventory).plan)


def test_that_shares_that_do_not_fit_leave_no_plan_and_count_as_none() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(1, 2))
    context = planning_context(Profile(strategy=strategy), TWO_UNEQUAL)
    assert context.layout is not None
    assert (context.shares, context.plan, context.working_replicas) == (None, None, 2)


def test_that_problems_are_reported_by_severity_and_then_in_the_order_of_the_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    severities = (Severity.HINT, Severity.ERROR, Severity.WARNING, Severity.ERROR, Severity.HINT)
    problems = [
        Problem(code=f"number_{number}", severity=severity, message="It is so.")
        for number, severity in enumerate(severities)
    ]
    found = tuple(lambda _context, each=each: iter([each]) for each in problems)
    monkeypatch.setattr("gpupanel.planning.rules.registry.RULES", found)

    codes = [problem.code for problem in prepare(Profile(), CPU_ONLY).problems]

    assert codes == ["number_1", "number_3", "number_2", "number_0", "number_4"]

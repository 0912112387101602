"""What is found wrong with the nodes of a cluster."""

from typing import Any

import pytest

from gpupanel.domain.cluster import ClusterNode, ClusterReading
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Problem, Severity
from gpupanel.planning.cluster_check import cluster_problems, is_public
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.unit.domain.test_cluster import node, reading


def said(name: str, inventory: DeviceInventory = CPU_ONLY, **changes: Any) -> ClusterNode:
    known = node(name, inventory)
    assert known.report is not None
    report = {"tensorflow": "2.21.0", "sees_folder": True, **changes}
    return known.model_copy(update={"report": known.report.model_copy(update=report)})


def problems(*nodes: ClusterNode, here: str = "a") -> tuple[Problem, ...]:
    found: ClusterReading = reading(*nodes)
    return cluster_problems(found.model_copy(update={"here": here}))


def codes(*nodes: ClusterNode, here: str = "a") -> list[str]:
    return [problem.code for problem in problems(*nodes, here=here)]


def test_that_nodes_that_are_alike_have_no_problem() -> None:
    assert codes(said("a"), said("b", TWO_UNEQUAL)) == []


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"tensorflow": None}, "node_without_tensorflow", "b has no TensorFlow"),
        ({"tensorflow": "2.19"}, "node_versions_differ", "TensorFlow 2.19, and 2.21.0"),
        ({"gpupanel": "9"}, "node_versions_differ", "gpupanel 9"),
        ({"python": "3.13"}, "node_versions_differ", "Python 3.13"),
        ({"sees_folder": False}, "node_without_folder", "b does not see"),
    ],
)
def test_that_a_node_that_cannot_train_with_the_others_is_named(
    changes: dict[str, Any], code: str, words: str
) -> None:
    (problem,) = problems(said("a"), said("b", **changes))
    assert (problem.code, problem.severity) == (code, Severity.ERROR)
    assert words in problem.message


def test_that_nothing_is_compared_where_the_own_node_did_not_answer() -> None:
    assert codes(said("b", gpupanel="9"), here="elsewhere") == []


def test_that_gpus_of_rays_without_a_driver_are_wrong() -> None:
    gpus = {"gpus": 2.0}
    assert codes(said("a").model_copy(update=gpus)) == ["node_without_driver"]
    assert codes(said("a", TWO_UNEQUAL).model_copy(update=gpus)) == []


@pytest.mark.parametrize(("skew_s", "words"), [(90.0, "90 s ahead of"), (-7.0, "7 s behind")])
def test_that_a_clock_that_differs_is_said_with_its_direction(skew_s: float, words: str) -> None:
    (problem,) = problems(said("a"), said("b").model_copy(update={"clock_skew_s": skew_s}))
    assert (problem.code, problem.severity) == ("node_clock_differs", Severity.WARNING)
    assert words in problem.message
    assert codes(said("a").model_copy(update={"clock_skew_s": 0.2})) == []


def test_that_an_address_of_the_internet_is_warned_about() -> None:
    (problem,) = problems(said("a").model_copy(update={"address": "8.8.8.8"}))
    assert (problem.code, problem.severity) == ("cluster_network_public", Severity.WARNING)
    assert not is_public("10.0.0.1")
    assert not is_public("127.0.0.1")
    assert not is_public("head.example.org")


def test_that_a_node_that_does_not_answer_is_named_with_the_reason() -> None:
    busy = node("b", None).model_copy(update={"reason": "no answer within 20 s"})
    (problem,) = problems(said("a"), busy)
    assert problem.code == "node_not_answering"
    assert "no answer within 20 s" in problem.message
    assert codes(said("a"), node("b", None)) == ["node_not_answering"]

"""Why a cluster cannot be joined, in words that a person can act on."""

import socket
import sys
from types import ModuleType

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.runs.cluster.cluster_problems import ray_not_installed
from gpupanel.runs.cluster.driver import connecting
from gpupanel.runs.cluster.driver.connecting import connect, refusal


def test_that_a_ray_that_is_not_installed_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    # What it sets for Ray's library is the driver process's alone.
    for name in ("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "RAY_DEDUP_LOGS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr("os.environ", {})
    with pytest.raises(ProblemError) as raised:
        connect("auto")
    (problem,) = raised.value.problems
    assert problem.code == "ray_not_installed"
    assert problem.command == "pip install 'gpupanel[cluster]'"


def test_that_a_head_that_does_not_answer_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", ModuleType("ray"))
    monkeypatch.setattr("os.environ", {})
    monkeypatch.setattr(connecting, "_check_joined", lambda address, head: None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ProblemError) as raised:
        connect(f"127.0.0.1:{port}")
    (problem,) = raised.value.problems
    assert problem.code == "cluster_not_found"
    assert "Connection refused" in problem.message


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("Version mismatch: The cluster was started with"), "cluster_versions_differ"),
        (SystemExit(15), "cluster_not_found"),
        (ConnectionError("Could not find any running Ray instance."), "cluster_not_found"),
        (
            RuntimeError("No node info found matching attributes: ''"),
            "machine_not_in_cluster",
        ),
        (
            RuntimeError(
                "This node has an IP address of 10.0.0.9, and Ray expects this IP address to be "
                "either the GCS address or one of the Raylet addresses."
            ),
            "machine_not_in_cluster",
        ),
        (
            Exception("Head node temp_dir not found, its raylet may not have started"),
            "cluster_refused",
        ),
    ],
)
def test_that_what_ray_raises_has_a_problem_of_its_own(error: BaseException, code: str) -> None:
    problem = refusal("10.0.0.1:6379", error)
    assert problem.code == code
    assert problem.hint


def test_that_a_bundle_which_cannot_take_ray_says_how_to_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    problem = ray_not_installed()
    assert problem.command == "pipx install 'gpupanel[cluster]'"
    assert "brings its own Python, without Ray" in problem.message

"""What the nodes of a job answer, and what is said where they do not."""

import os
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.job_node import JobNode
from gpupanel.domain.problem import ProblemError
from gpupanel.runs.slurm.job_nodes import ANSWER, is_job_of_several_nodes, read_nodes
from gpupanel.runs.slurm.node_answer import address_towards
from tests.fakes.devices import CPU_ONLY

_SCONTROL = """#!/bin/sh
case "$*" in
    *hostnames*) echo one; echo two;;
    *) echo "NodeName=one Arch=x NodeAddr=10.0.0.1 x"; echo "NodeName=two NodeAddr=10.0.0.2 x";;
esac
"""


class Commands:
    """Slurm's, as they answer on the first node."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def set(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def answer(self, *answers: str) -> None:
        (self.folder / "answers").write_text("\n".join(answers) + "\n")
        self.set("srun", f'#!/bin/sh\necho "$@" > {self.folder}/asked\ncat {self.folder}/answers\n')


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands = Commands(tmp_path)
    commands.set("scontrol", _SCONTROL)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "[one,two]")
    return commands


def line_of(name: str, address: str) -> str:
    node = JobNode(name=name, address=address, visible_devices="0", inventory=CPU_ONLY)
    return ANSWER.decode() + node.model_dump_json()


def problem_of(refused: pytest.ExceptionInfo[ProblemError]) -> tuple[str, str]:
    (problem,) = refused.value.problems
    return problem.code, f"{problem.message} {problem.detail}"


def test_that_nodes_are_in_the_order_of_the_job_whatever_their_shells_print(
    commands: Commands,
) -> None:
    commands.answer("Welcome!", line_of("two", "10.0.0.2"), "", line_of("one", "10.0.0.1"))
    one, two = read_nodes()
    assert (one.name, one.address, two.name, two.address) == ("one", "10.0.0.1", "two", "10.0.0.2")
    asked = (commands.folder / "asked").read_text()
    assert asked.startswith("--overlap --nodes=2 --ntasks=2 --ntasks-per-node=1 ")
    assert asked.endswith("node_answer two 10.0.0.2 10.0.0.1\n")


def test_that_a_node_that_does_not_answer_is_named(commands: Commands) -> None:
    commands.answer(line_of("one", "10.0.0.1"), "bash: python: not found")
    with pytest.raises(ProblemError) as refused:
        read_nodes()
    code, said = problem_of(refused)
    assert (code, said.startswith("two did not answer")) == ("nodes_not_known", True)
    assert "not found" in said


@pytest.mark.parametrize("answer", ["{}", "no JSON", '{"name": "--wrap=id"}'])
def test_that_an_answer_of_something_else_is_refused(commands: Commands, answer: str) -> None:
    commands.answer(ANSWER.decode() + answer)
    with pytest.raises(ProblemError) as refused:
        read_nodes()
    assert problem_of(refused)[0] == "nodes_not_known"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("srun", "#!/bin/sh\necho no step >&2\nexit 1\n"),
        ("scontrol", "#!/bin/sh\necho no step >&2\nexit 1\n"),
        ("scontrol", "#!/bin/sh\n"),
    ],
)
def test_that_what_slurm_says_is_shown(commands: Commands, name: str, text: str) -> None:
    commands.answer(line_of("one", "10.0.0.1"))
    commands.set(name, text)
    with pytest.raises(ProblemError) as refused:
        read_nodes()
    code, said = problem_of(refused)
    assert code == "nodes_not_known"
    assert "no step" in said or "'[one,two]'" in said


def test_that_a_machine_without_slurm_says_so(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ProblemError, match="scontrol did not answer"):
        read_nodes()


@pytest.mark.parametrize(
    ("job", "nodes", "several"),
    [("7", "2", True), ("7", "1", False), ("7", "", False), ("7", "x", False), ("", "2", False)],
)
def test_that_only_a_job_of_several_nodes_is_one(
    monkeypatch: pytest.MonkeyPatch, job: str, nodes: str, several: bool
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", job)
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", nodes)
    assert is_job_of_several_nodes() is several


def test_that_a_node_answers_what_it_has_and_how_the_others_reach_it() -> None:
    words = ("last", "127.0.0.1", "192.0.2.1")
    done = subprocess.run(
        python_module_command("gpupanel.runs.slurm.node_answer", *words),
        env={**os.environ, "SLURMD_NODENAME": "first", "CUDA_VISIBLE_DEVICES": "1,0"},
        capture_output=True,
        check=True,
        timeout=60.0,
    )
    (line,) = done.stdout.splitlines()
    node = JobNode.model_validate_json(line.removeprefix(ANSWER))
    assert (node.name, node.address, node.visible_devices) == ("first", "127.0.0.1", "1,0")
    assert node.inventory.device("cpu") is not None


def test_that_the_address_towards_another_machine_is_of_this_one() -> None:
    assert address_towards("127.0.0.1") == "127.0.0.1"
    with pytest.raises(OSError, match=r".+"):
        address_towards("a-name-that-nobody-has.invalid")
    with socket.socket() as own:
        own.bind((address_towards("localhost"), 0))

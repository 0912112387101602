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
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.runs.slurm.job_nodes import ANSWER, is_job_of_several_nodes, read_nodes
from gpupanel.runs.slurm.node_answer import address_towards
from tests.fakes.devices import CPU_ONLY

_SCONTROL = """#!/bin/sh
case "$*" in
    *hostnames*) echo one; echo two;;
    *) echo "NodeName=one Arch=x NodeAddr=10.0.0.1 x"; echo "NodeName=two NodeAddr=10.0.0.2 x";;
esac
"""


_SRUN = """#!/bin/sh
for word; do case "$word" in --nodelist=*) node=${{word#*=}};; esac; done
echo "$@" > {folder}/asked-$node
[ ! -e {folder}/answer-$node ] || cat {folder}/answer-$node
"""


class Commands:
    """Slurm's, as they answer on the first node."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def set(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def answer(self, **answers: str) -> None:
        """What srun answers of each node; a node without an answer says nothing."""
        for node, answer in answers.items():
            (self.folder / f"answer-{node}").write_text(f"{answer}\n")
        self.set("srun", _SRUN.format(folder=self.folder))


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands = Commands(tmp_path)
    commands.set("scontrol", _SCONTROL)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "[one,two]")
    return commands


def line_of(name: str, address: str) -> str:
    node = JobNode(
        name=name,
        address=address,
        visible_devices="0",
        inventory=CPU_ONLY,
        sample=TelemetrySample(time_s=0.0, readings=()),
    )
    return ANSWER.decode() + node.model_dump_json()


def problem_of(refused: pytest.ExceptionInfo[ProblemError]) -> tuple[str, str]:
    (problem,) = refused.value.problems
    return problem.code, f"{problem.message} {problem.detail}"


def test_that_nodes_are_in_the_order_of_the_job_whatever_their_shells_print(
    commands: Commands,
) -> None:
    commands.answer(two=f"Welcome!\n{line_of('two', '10.0.0.2')}\n", one=line_of("one", "10.0.0.1"))
    one, two = read_nodes()
    assert (one.name, one.address, two.name, two.address) == ("one", "10.0.0.1", "two", "10.0.0.2")
    for node in ("one", "two"):
        asked = (commands.folder / f"asked-{node}").read_text()
        assert asked.startswith(f"--overlap --nodes=1 --ntasks=1 --nodelist={node} ")
        assert asked.endswith("node_answer two 10.0.0.2 10.0.0.1\n")


def test_that_a_node_that_does_not_answer_is_named(commands: Commands) -> None:
    commands.answer(one=line_of("one", "10.0.0.1"), two="bash: python: not found")
    with pytest.raises(ProblemError) as refused:
        read_nodes()
    code, said = problem_of(refused)
    assert (code, said.startswith("two did not answer")) == ("nodes_not_known", True)
    assert "not found" in said


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        "no JSON",
        '{"name": "--wrap=id"}',
        "of another node",
        "twice",
    ],
)
def test_that_an_answer_of_something_else_is_refused(commands: Commands, answer: str) -> None:
    own = line_of("two", "10.0.0.2")
    said = {"of another node": line_of("three", "10.0.0.2"), "twice": f"{own}\n{own}"}
    commands.answer(one=line_of("one", "10.0.0.1"), two=said.get(answer, ANSWER.decode() + answer))
    with pytest.raises(ProblemError) as refused:
        read_nodes()
    assert problem_of(refused)[0] == "nodes_not_known"


def test_that_of_an_answer_without_end_only_its_end_is_shown(commands: Commands) -> None:
    commands.answer(one="x" * 2**20 + "the end", two=line_of("two", "10.0.0.2"))
    with pytest.raises(ProblemError) as refused:
        read_nodes()
    detail = refused.value.problems[0].detail
    assert detail.endswith("xthe end")
    assert len(detail) <= 2**14


def test_that_more_nodes_than_a_run_can_have_are_not_asked(commands: Commands) -> None:
    commands.set("scontrol", "#!/bin/sh\nseq 1025\n")
    with pytest.raises(ProblemError) as refused:
        read_nodes()
    assert "1,025 nodes" in problem_of(refused)[1] + refused.value.problems[0].detail
    assert not list(commands.folder.glob("asked-*"))


def test_that_a_name_that_no_node_can_have_is_handed_to_no_command(commands: Commands) -> None:
    commands.answer()
    commands.set("scontrol", "#!/bin/sh\necho -- --wrap=id\n")
    with pytest.raises(ProblemError) as refused:
        read_nodes()
    assert problem_of(refused)[0] == "nodes_not_known"
    assert not list(commands.folder.glob("asked-*"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("srun", "#!/bin/sh\necho no step >&2\nexit 1\n"),
        ("scontrol", "#!/bin/sh\necho no step >&2\nexit 1\n"),
        ("scontrol", "#!/bin/sh\n"),
    ],
)
def test_that_what_slurm_says_is_shown(commands: Commands, name: str, text: str) -> None:
    commands.answer(one=line_of("one", "10.0.0.1"))
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

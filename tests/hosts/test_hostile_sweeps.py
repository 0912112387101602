"""A host that means ill with sweeps: nothing is written or shown that a folder could not do."""

import json
from pathlib import Path

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile_toml import parse_profile
from gpupanel.hosts.here import sweeps
from gpupanel.hosts.here.link_state import LinkCondition
from tests.hosts.conftest import HELLO
from tests.patience import wait_until

ELSEWHERE = Path("/nowhere")
NAME = "a-sweep"
SWEEP = 'name = "digits"\n[sweep.values]\n"training.learning_rate" = [0.1, 0.01]\n'
BAD_NAMES = ["../escaped", "/etc/cron.d/x", "..", ".", ".hidden", "a/b", "a\0b", "", "x" * 300]


def piece(file: str, content: str, *, is_first: bool = True) -> dict[str, object]:
    return {"type": "part", "content": {"path": file, "content": content, "is_first": is_first}}


def answer(**content: object) -> dict[str, object]:
    return {"type": "answer", "content": content}


def record(*events: dict[str, object]) -> str:
    return "".join(json.dumps({"time_s": 1.0, **each}) + "\n" for each in events)


def connected(told, **answers):
    host = told(HELLO, answers={name.replace("_", " "): each for name, each in answers.items()})
    wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)
    return host


def below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("name", BAD_NAMES)
def test_that_a_sweep_whose_name_is_a_path_is_neither_listed_nor_copied(told, tmp_path, name):
    said = [piece("sweep.toml", SWEEP), answer(names=[name, NAME], name=NAME)]
    host = connected(told, sweeps=said)
    before = below(tmp_path)
    with pytest.raises(ProblemError) as refused:
        host.sweeps(ELSEWHERE).read("")
    assert refused.value.problems[0].code == "host_not_understood"
    assert below(tmp_path) == before


@pytest.mark.parametrize("name", [each for each in BAD_NAMES if each])
def test_that_a_sweep_that_is_started_or_shown_has_a_name_of_a_folder(told, name):
    said = {"start_sweep": [answer(name=name)], "sweeps": [answer(names=[], name=name)]}
    host = connected(told, **said)
    for order in (
        lambda: host.sweeps(ELSEWHERE).start(parse_profile(SWEEP)),
        lambda: host.sweeps(ELSEWHERE).read(""),
    ):
        with pytest.raises(ProblemError) as refused:
            order()
        assert refused.value.problems[0].code == "host_not_understood"


@pytest.mark.parametrize(
    "file", ["../x", "/etc/x", "stop", "../../a-run/profile.toml", "run.lock", "", "sweep.toml/x"]
)
def test_that_files_of_other_names_are_not_written(told, tmp_path, file):
    host = connected(told, sweeps=[piece(file, "malicious"), answer(names=[NAME], name=NAME)])
    with pytest.raises(ProblemError) as refused:
        host.sweeps(ELSEWHERE).read(NAME)
    assert refused.value.problems[0].code == "host_not_understood"
    for path in (tmp_path / "here").rglob("*"):
        assert not path.is_file() or b"malicious" not in path.read_bytes()
    for path in (host.runs_dir / "sweeps", *(host.runs_dir / "sweeps").rglob("*")):
        assert path.stat().st_mode & 0o077 == 0


def test_that_a_record_without_end_is_cut_off(told, monkeypatch):
    monkeypatch.setattr(sweeps, "MOST_RECORD_BYTES", 1_000)
    many = [piece("trials.jsonl", "x" * 400, is_first=False)] * 9
    host = connected(told, sweeps=[*many, answer(names=[NAME], name=NAME)])
    with pytest.raises(ProblemError) as refused:
        host.sweeps(ELSEWHERE).read(NAME)
    assert refused.value.problems[0].code == "host_run_too_large"
    sizes = [path.stat().st_size for path in host.runs_dir.rglob("*") if path.is_file()]
    assert sum(sizes) <= 1_000


def test_that_a_link_among_the_copies_is_not_followed(told, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    host = connected(
        told,
        sweeps=[
            piece("sweep.toml", SWEEP),
            piece("trials.jsonl", "no\n", is_first=False),
            answer(names=[NAME], name=NAME),
        ],
    )
    folder = host.runs_dir / "sweeps" / NAME
    folder.mkdir(parents=True)
    (folder / "trials.jsonl").symlink_to(victim)
    with pytest.raises(ProblemError) as refused:
        host.sweeps(ELSEWHERE).read(NAME)
    assert "symbolic link" in refused.value.problems[0].message
    assert victim.read_text() == "mine"


def test_that_trials_of_a_host_lead_nowhere_else_and_say_nothing_to_a_terminal(told):
    chosen = {
        "kind": "trial_chosen",
        "entry": "00000001",
        "values": {"\x1b]52;c;evil\x07": "\u202e"},
    }
    begun = [
        {"kind": "trial_started", "number": 1, "run": run} for run in ("../../x", "/etc", "..")
    ]
    problem = {"code": "x", "message": "\x1b[2J"}
    content = record(
        {"kind": "sweep_begun", "trial_count": 10**9},
        {**chosen, "number": 1},
        *begun,
        {"kind": "sweep_ended", "problem": problem},
        {"kind": "nothing known"},
    )
    said = [piece("sweep.toml", SWEEP), piece("trials.jsonl", content)]
    host = connected(told, sweeps=[*said, answer(names=[NAME], name=NAME)])
    status = host.sweeps(ELSEWHERE).read(NAME).shown
    (trial,) = status.trials
    assert trial.run is None
    assert "\x1b" not in status.problem.message


def test_that_a_host_that_never_answers_keeps_no_window_from_ending(told):
    import threading

    host = connected(told)
    ends = threading.Event()

    def read() -> None:
        with pytest.raises(ProblemError):
            host.sweeps(ELSEWHERE).read("")
        ends.set()

    threading.Thread(target=read, daemon=True).start()
    assert not ends.wait(0.3)
    host.end()
    assert ends.wait(10.0)

"""A host that means ill, or is none: nothing is written, run or shown that was not asked for."""

import time
from pathlib import Path

import pytest

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.hosts.here.received_files import ReceivedFiles
from gpupanel.hosts.lines import MOST_LINE_BYTES, PROTOCOL
from gpupanel.hosts.operations.exports import FilePiece
from gpupanel.runs.history.summaries import list_runs
from tests.hosts.conftest import HELLO
from tests.patience import wait_until

DEVICES, QUEUE, RUNS = 1, 2, 3
"""The numbers of the first calls of a window: devices, the queue, then runs."""


def outline(**changed: object) -> dict[str, object]:
    files = {"profile.toml": "schema_version = 1\n", "events.jsonl": "{}\n"}
    content = {"name": "a-run", "stamp": "1", "is_running": False, "files": files, **changed}
    return {"type": "part", "number": RUNS, "content": {"outline": content}}


def everything_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "name", ["../escaped", "/etc/cron.d/x", "..", ".", ".hidden", "a/b", "a\0b", "", "x" * 300]
)
def test_that_a_run_whose_name_is_a_path_is_not_copied(told, tmp_path, name):
    host = told(HELLO, outline(name=name), outline(name="a-run"))
    wait_until(lambda: host.copies.runs_problem is not None)
    wait_until(lambda: (host.runs_dir / "a-run").is_dir())
    assert [path.name for path in host.runs_dir.iterdir()] == ["a-run"]
    assert not (tmp_path / "here" / "cache" / "escaped").exists()


@pytest.mark.parametrize(
    "file", ["../x", "/etc/passwd", "run.lock", "checkpoints/x", "code/model.py", "model.keras"]
)
def test_that_a_file_of_another_name_is_not_written(told, tmp_path, file):
    files = {"profile.toml": "", file: "malicious", "../../x": "malicious"}
    host = told(HELLO, outline(files=files))
    wait_until(lambda: (host.runs_dir / "a-run" / "profile.toml").exists())
    for path in (tmp_path / "here").rglob("*"):
        assert not path.is_file() or b"malicious" not in path.read_bytes()


def test_that_a_link_in_the_copies_is_not_followed(told, tmp_path):
    host = told(HELLO, outline())
    wait_until(lambda: (host.runs_dir / "a-run" / "profile.toml").exists())
    victim = tmp_path / "victim"
    victim.write_text("mine")
    copy = host.mirror.opened("a-run")
    events = host.runs_dir / "a-run" / "events.jsonl"
    events.unlink()
    events.symlink_to(victim)
    from gpupanel.hosts.operations.runs import RunPiece, ToldUpTo

    told_up_to = ToldUpTo(device=1, number=1, offset=3)
    copy.take(RunPiece(file="events.jsonl", content="no\n", told=told_up_to, is_first=True))
    assert victim.read_text() == "mine"


def test_that_a_line_without_end_ends_the_connection(told):
    host = told(HELLO, raw=b"x" * (MOST_LINE_BYTES + 2**20))
    wait_until(lambda: host.link.state.kind is LinkCondition.REFUSED)
    assert host.link.state.problem.code == "host_not_understood"


def test_that_lines_that_are_none_end_the_connection(told):
    host = told(HELLO, b"not json")
    wait_until(lambda: host.link.state.kind is LinkCondition.REFUSED)
    assert host.link.state.problem.code == "host_not_understood"


def test_that_another_version_is_a_sentence_with_both_and_the_way_on(told):
    host = told({**HELLO, "protocol": PROTOCOL + 1})
    wait_until(lambda: host.link.state.kind is LinkCondition.REFUSED)
    problem = host.link.state.problem
    assert problem.code == "host_another_version"
    assert "9.9" in problem.message


def test_that_what_a_shell_prints_before_is_passed_over(told):
    host = told(b"Welcome to lab!", b"", b"\xff\xfe", HELLO)
    wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)


def test_that_an_answer_of_another_kind_is_a_problem_and_not_an_answer(told):
    answer = {"type": "answer", "number": 3, "content": {"path": 7}}
    host = told(HELLO, answer)
    wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)
    # Said before it was asked: nobody waits for it, and nothing comes of it.
    assert host.link.state.kind is LinkCondition.CONNECTED


def test_that_control_characters_of_a_host_are_seen_and_do_nothing(told):
    message = {"code": "x", "message": "\x1b]52;c;evil\x07 \u202e"}
    refusal = {"type": "refusal", "number": RUNS, "content": [message]}
    host = told(HELLO, refusal)
    wait_until(lambda: host.copies.runs_problem is not None)
    assert "\x1b" not in host.copies.runs_problem.message
    assert "\u202e" not in host.copies.runs_problem.message


def test_that_a_run_that_is_damaged_there_is_listed_as_such_here(told):
    files = {"profile.toml": "no [toml", "plan.json": "[" * 10_000, "events.jsonl": "\x00\xff\n"}
    host = told(HELLO, outline(files=files))
    wait_until(lambda: (host.runs_dir / "a-run" / "events.jsonl").exists())
    assert list_runs(host.runs_dir)[0].flaw is not None


def test_that_checkpoints_and_models_of_a_host_are_names_without_content(told):
    host = told(
        HELLO, outline(folders=["step-10", "evil"], present=["model.keras", "code/model.py"])
    )
    run = host.runs_dir / "a-run"
    wait_until(lambda: (run / "code" / "model.py").exists())  # which is written last
    assert everything_below(run / "checkpoints") == {"step-10"}
    for name in ("model.keras", "code/model.py"):
        assert (run / name).stat().st_size == 0


@pytest.mark.parametrize("name", ["evil.sh", "../evil.sh", "code/evil.py", "/tmp/evil"])
def test_that_no_other_file_is_said_to_be_there(told, name):
    host = told(HELLO, outline(present=[name]))
    wait_until(lambda: host.copies.runs_problem is not None)
    assert not everything_below(host.runs_dir)


def test_that_a_run_that_is_called_as_the_folder_of_sweeps_is_none(told):
    gone = {"type": "part", "number": RUNS, "content": {"gone": "sweeps"}}
    host = told(HELLO)
    wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)
    sweep = host.runs_dir / "sweeps" / "a-sweep"
    sweep.mkdir(parents=True)
    host.end()
    host = told(HELLO, outline(name="sweeps"), gone, outline())
    wait_until(lambda: (host.runs_dir / "a-run" / "profile.toml").exists())
    assert sweep.is_dir()
    assert everything_below(host.runs_dir / "sweeps") == {"a-sweep"}


def test_that_a_run_larger_than_a_copy_may_be_is_refused_by_name(told, monkeypatch):
    from gpupanel.hosts.here import mirror
    from gpupanel.hosts.operations.runs import RunPiece

    monkeypatch.setattr(mirror, "_MOST_BYTES_A_RUN", 100)
    host = told(HELLO)
    wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)
    with pytest.raises(ProblemError) as refused:
        host.mirror.opened("big").take(RunPiece(file="events.jsonl", content="x" * 101))
    assert refused.value.problems[0].code == "host_run_too_large"


def test_that_a_run_that_is_shown_for_days_is_told_anew_in_few_lines(told, monkeypatch):
    from gpupanel.hosts.here import mirror
    from gpupanel.hosts.operations.runs import RunPiece, ToldUpTo

    def lines(count: int, *, is_first: bool = False) -> RunPiece:
        place = ToldUpTo(device=1, number=1, offset=count)
        return RunPiece(file="events.jsonl", content="x\n" * count, told=place, is_first=is_first)

    monkeypatch.setattr(mirror, "_MOST_BYTES_A_RUN", 100)
    host = told(HELLO)
    copy, events = host.mirror.opened("long"), host.runs_dir / "long" / "events.jsonl"
    copy.take(lines(40, is_first=True))
    copy.take(RunPiece(is_filled=True))
    assert copy.told()
    with pytest.raises(ProblemError):
        copy.take(lines(20))
    assert not copy.told(), "it is asked for from its start"
    copy.take(lines(5, is_first=True))
    copy.take(lines(1))
    assert events.read_text() == "x\n" * 6


@pytest.mark.parametrize("host", ["-oProxyCommand=evil", "", "a b", "a\nb", "-", "x" * 300])
def test_that_a_name_that_is_an_option_is_no_host(host):
    from gpupanel.hosts.here.ssh import host_problem

    assert host_problem(host) is not None


@pytest.mark.parametrize("host", ["lab", "ada@lab.example.org", "ssh://ada@lab:22", "10.0.0.7"])
def test_that_names_of_ssh_are_hosts(host):
    from gpupanel.hosts.here.ssh import host_problem

    assert host_problem(host) is None


def test_that_a_command_there_with_odd_characters_stays_one_word():
    from gpupanel.hosts.here.ssh import ssh_command

    *_, script = ssh_command("lab", "/opt/my tools/'x; touch /tmp/evil'")
    import shlex

    words = shlex.split(script)
    assert words[:2] == ["sh", "-ec"]
    assert shlex.split(words[2].rpartition("exec ")[2])[0] == "/opt/my tools/'x; touch /tmp/evil'"


def test_that_a_run_of_the_queue_that_is_no_copy_is_not_opened_here(told):
    entry = {"id": "00000001", "name": "x", "runs_dir": "/runs", "added_s": 1.0, "is_filled": True}
    entries = [{**entry, "run": run} for run in ("/runs/a-run", "/etc", "/runs/../etc", "/runs")]
    news = {"type": "part", "number": QUEUE, "content": {"line": {"entries": entries}}}
    host = told(HELLO, news)
    queue = host.queue(Path())
    wait_until(lambda: bool(queue.read().entries))
    runs = [each.run for each in queue.read().entries]
    assert runs == [host.runs_dir / "a-run", None, None, None]


def test_that_a_host_with_a_thousand_devices_fills_no_window(told):
    device = {"key": "cpu", "kind": "cpu", "name": "x"}
    sample = {"time_s": 1.0, "readings": []}
    for count in (1_000, 2):
        devices = [{**device, "key": f"GPU-{number}"} for number in range(count)]
        content = {"inventory": {"devices": devices}, "sample": sample}
        host = told(HELLO, {"type": "part", "number": DEVICES, "content": content})
        wait_until(lambda made=host: made.link.state.kind is LinkCondition.CONNECTED)
        if count == 2:
            assert len(host.devices.inventory().devices) == 2
        else:
            time.sleep(0.3)
            assert not host.devices._has_news.is_set()
        host.end()


BAD_PATHS = ["../x", "/etc/x", "a/../../x", "", ".", "a/b/c/d/e/f/g/h/i", "a\0"]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_that_a_file_that_a_host_sends_is_written_below_its_folder_alone(tmp_path, path):
    folder = tmp_path / "received"
    folder.mkdir()
    with pytest.raises(ProblemError):
        ReceivedFiles(folder).take(FilePiece(path=path, content="x", is_first=True))
    assert everything_below(tmp_path) == {"received"}


def test_that_a_file_that_a_host_sends_is_whole(tmp_path):
    received = ReceivedFiles(tmp_path)
    received.take(FilePiece(path="variables/index", is_first=True))
    for piece in ("\x00\xff", "", "abc"):
        received.take(FilePiece(path="variables/index", content=piece))
    assert (tmp_path / "variables" / "index").read_bytes() == b"\x00\xffabc"


def test_that_copies_are_private_to_their_owner(told):
    host = told(HELLO, outline())
    wait_until(lambda: (host.runs_dir / "a-run" / "profile.toml").exists())
    for path in (host.mirror.root, host.runs_dir, host.runs_dir / "a-run"):
        assert path.stat().st_mode & 0o077 == 0
    assert RunLayout(host.runs_dir / "a-run").profile.stat().st_mode & 0o077 == 0

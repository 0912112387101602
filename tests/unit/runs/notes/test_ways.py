"""Notes by programs of this machine: a command, sendmail, the desktop."""

import json
import os
import sys
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import psutil
import pytest

from gpupanel.domain.notes import NoteKind, NoteSettings, PostedNote, Way
from gpupanel.runs.notes import ways
from gpupanel.runs.notes.delivery import NotDeliveredError
from gpupanel.runs.notes.trial import try_ways
from gpupanel.runs.notes.ways import deliver
from tests.patience import wait_until

NOTE = PostedNote(
    key="ab12",
    kind=NoteKind.ENDED,
    title="digits: fertig: “gut”",
    text="Two\nlines; `rm`",
    time_s=1.0,
)


def program(path: Path, lines: str) -> Path:
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{lines}\n")
    path.chmod(0o700)
    return path


def test_that_a_command_gets_title_and_text_as_they_are(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    command = program(
        tmp_path / "tell me",
        f"names = ('KIND', 'TITLE', 'TEXT', 'RUN')\n"
        f"said = [os.environ['GPUPANEL_NOTE_' + name] for name in names]\n"
        f"json.dump([sys.argv[1:], said], open({str(told)!r}, 'w'))",
    )
    deliver(NOTE, Way.COMMAND, NoteSettings(command=f"'{command}' --to 'two words'"))
    arguments, said = json.loads(told.read_text())
    assert arguments == ["--to", "two words", NOTE.title, NOTE.text]
    assert said == ["ended", NOTE.title, NOTE.text, ""]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("print('no such\\x1b[31m user'); sys.exit(3)", r"ended with 3: no such\x1b[31m user."),
        ("print('x' * 10_000_000); sys.exit(1)", "ended with 1: xxx"),
        ("os.kill(os.getpid(), 9)", "ended with -9."),
    ],
)
def test_that_a_command_that_fails_is_told_with_its_last_words(
    tmp_path: Path, lines: str, words: str
) -> None:
    command = program(tmp_path / "fails", lines)
    with pytest.raises(NotDeliveredError) as caught:
        deliver(NOTE, Way.COMMAND, NoteSettings(command=str(command)))
    assert words in str(caught.value)
    assert len(str(caught.value)) < 1_000


def test_that_a_command_that_does_not_end_is_ended_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "_LIMIT_S", 1.5)
    pid = tmp_path / "pid"
    command = program(
        tmp_path / "stays",
        f"child = os.fork()\nif child: open({str(pid)!r}, 'w').write(str(child))\ntime.sleep(60)",
    )
    with pytest.raises(NotDeliveredError, match="was not done"):
        deliver(NOTE, Way.COMMAND, NoteSettings(command=str(command)))
    child = int(pid.read_text())
    wait_until(lambda: not psutil.pid_exists(child))


def test_that_a_command_may_leave_a_child_that_holds_its_output(tmp_path: Path) -> None:
    command = program(tmp_path / "leaves", "if os.fork() == 0: time.sleep(3)")
    deliver(NOTE, Way.COMMAND, NoteSettings(command=str(command)))


@pytest.mark.parametrize("command", ["/no/such/command", "'unfinished", "/etc/passwd"])
def test_that_a_command_that_cannot_be_started_is_told(command: str) -> None:
    with pytest.raises(NotDeliveredError) as caught:
        deliver(NOTE, Way.COMMAND, NoteSettings(command=command))
    assert not caught.value.may_go_well


def test_that_mail_goes_to_sendmail_as_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, arguments = tmp_path / "sent", tmp_path / "arguments"
    sendmail = program(
        tmp_path / "sendmail",
        f"open({str(sent)!r}, 'wb').write(sys.stdin.buffer.read())\n"
        f"json.dump(sys.argv[1:], open({str(arguments)!r}, 'w'))",
    )
    monkeypatch.setattr(ways, "_SENDMAIL", (str(sendmail),))
    note = NOTE.model_copy(update={"title": "digits\nBcc: everybody@example.org"})
    deliver(note, Way.MAIL, NoteSettings(mail="ada@example.org"))
    assert json.loads(arguments.read_text()) == ["-i", "--", "ada@example.org"]
    mail = message_from_bytes(sent.read_bytes(), policy=default)
    assert mail["To"] == "ada@example.org"
    assert mail["Bcc"] is None
    assert mail["Subject"] == r"digits\nBcc: everybody@example.org"
    assert mail["Message-ID"].startswith("<ab12@")
    assert mail.get_content().strip() == NOTE.text


def test_that_mail_without_sendmail_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "_SENDMAIL", ())
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotDeliveredError, match="no sendmail"):
        deliver(NOTE, Way.MAIL, NoteSettings(mail="ada@example.org"))


def test_that_the_desktop_is_told_by_its_own_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told.json"
    program(tmp_path / "notify-send", f"json.dump(sys.argv[1:], open({str(told)!r}, 'w'))")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    deliver(NOTE, Way.DESKTOP, NoteSettings(desktop=True))
    assert json.loads(told.read_text())[-3:] == ["--", NOTE.title, NOTE.text]


def test_that_an_address_that_is_none_is_not_tried() -> None:
    settings = NoteSettings(webhook="ftp://example.org", mail="-x")
    assert [each.failure for each in try_ways(settings)] == [
        "The webhook is no address of the web.",
        "That is no address of one person's mail.",
    ]

"""Who besides the one who asks can log in."""

import pwd
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from gpupanel.devices import login_users
from gpupanel.devices.child_process import ChildAnswer, ChildEnd
from gpupanel.devices.login_users import listed_accounts, other_login_users

ACCOUNTS = """\
root:x:0:0:root:/root:/bin/bash
daemon:x:1:1::/usr/sbin:/usr/sbin/nologin
gdm:x:120:120::/var/lib/gdm:/bin/bash
ann:x:1000:1000:Ann,,,:/home/ann:/bin/bash
bob:x:1001:1001:Bob:/home/bob:/usr/bin/zsh
cem:x:1002:1002:Cem:/home/cem:
mail:x:1003:1003::/home/mail:/usr/sbin/nologin
backup:x:1004:1004::/home/backup:/bin/false
odd:x:1005:1005::/home/odd:/opt/shell
far:x:5000001:5000001:from a directory service:/home/far:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
half a line
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(psutil, "users", list)
    (tmp_path / "etc").mkdir()
    shells = "# shells\n/bin/sh\n/bin/bash\n/usr/bin/zsh\n/usr/sbin/nologin\n/bin/false\n"
    (tmp_path / "etc/shells").write_text(shells)
    (tmp_path / "etc/login.defs").write_text("#UID_MIN 5\nUID_MIN\t\t\t 1000\nUID_MAX 60000\n")
    return tmp_path


def others(root: Path, own_number: int = 1000) -> tuple[str, ...]:
    return other_login_users(own_number, root, lambda: ACCOUNTS)


def test_that_people_with_a_shell_count_and_services_do_not(root: Path) -> None:
    assert others(root) == ("bob", "cem", "far")
    assert others(root, own_number=0) == ("ann", "bob", "cem", "far")


def test_that_people_begin_where_the_system_says(root: Path) -> None:
    (root / "etc/login.defs").write_text("UID_MIN 1002\n")
    assert others(root) == ("cem", "far")
    (root / "etc/login.defs").unlink()
    assert others(root) == ("bob", "cem", "far")


def test_that_without_a_list_of_shells_the_usual_ones_count(root: Path) -> None:
    (root / "etc/shells").unlink()
    assert others(root) == ("cem",)


def test_that_who_is_logged_in_counts_whatever_the_list_says(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in ("120", "1000", "1003", "1005", "1999"):
        (root / "run/user" / number).mkdir(parents=True)
    (root / "run/user/lost+found").mkdir()
    entries = {1999: SimpleNamespace(pw_name="zoe", pw_shell="")}
    monkeypatch.setattr(pwd, "getpwuid", entries.__getitem__)
    assert others(root) == ("bob", "cem", "far", "odd", "zoe")
    entries.clear()
    assert others(root) == ("bob", "cem", "far", "odd", "user 1999")


def test_that_sessions_of_older_systems_count(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [SimpleNamespace(name=name) for name in ("ann", "eve", "gone")]
    monkeypatch.setattr(psutil, "users", lambda: sessions)
    numbers = {"ann": SimpleNamespace(pw_uid=1000), "eve": SimpleNamespace(pw_uid=1005)}
    monkeypatch.setattr(pwd, "getpwnam", numbers.__getitem__)
    assert others(root) == ("bob", "cem", "far", "odd")


def test_that_a_machine_of_one_person_has_no_others(root: Path) -> None:
    alone = "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1000:Ann:/home/ann:/bin/bash\n"
    assert other_login_users(1000, root, lambda: alone) == ()


def test_that_the_accounts_are_those_of_this_machine() -> None:
    listed = listed_accounts().splitlines()
    assert pwd.getpwuid(0).pw_name in [line.split(":")[0] for line in listed]


@pytest.mark.parametrize("answer", [ChildAnswer(ChildEnd.TIME_WAS_UP), OSError("no getent")])
def test_that_a_directory_service_that_does_not_answer_leaves_the_local_accounts(
    answer: ChildAnswer | OSError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object) -> ChildAnswer:
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(login_users, "ask_child", ask)
    assert listed_accounts() == Path("/etc/passwd").read_text(encoding="utf-8", errors="replace")

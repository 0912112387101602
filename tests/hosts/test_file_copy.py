"""Files of this machine are copied to a host by rsync: all, once, and to the end."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.hosts.here.copy_problems import copy_problem
from gpupanel.hosts.here.file_copy import CopyProgress, CopySize, copy_files, measured
from tests.hosts.conftest import Lab
from tests.patience import wait_until

pytestmark = pytest.mark.skipif(shutil.which("rsync") is None, reason="rsync is not installed")
LARGE = 3 * 2**20


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    """A folder of images, one of them large."""
    folder = tmp_path / "laptop" / "flowers"
    for name in ("rose", "tulip"):
        (folder / name).mkdir(parents=True)
        for number in range(3):
            (folder / name / f"{number}.png").write_bytes(os.urandom(1_000))
    (folder / "rose" / "large.png").write_bytes(os.urandom(LARGE))
    return folder


@pytest.fixture
def fake_rsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has lines of a shell in place of rsync."""

    def write(lines: str) -> None:
        rsync = tmp_path / "bin" / "rsync"
        rsync.parent.mkdir()
        rsync.write_text(f"#!/bin/sh\n{lines}")
        rsync.chmod(0o755)
        monkeypatch.setenv("PATH", f"{rsync.parent}{os.pathsep}{os.environ['PATH']}")

    return write


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def size_of(*paths: Path) -> CopySize:
    return measured(paths, Event(), lambda _: None)


def copied(
    lab: Lab, *paths: Path, place: str = "", told: list[CopyProgress] | None = None
) -> Problem | None:
    told = [] if told is None else told
    place = place or str(lab.folder / "there" / "data")
    files = lab.connected().files
    return files.copy(paths, place, size_of(*paths), Event(), told.append)


def test_that_a_folder_is_there_whole_and_sent_once(lab, flowers):
    there, told = lab.folder / "there" / "data", list[CopyProgress]()
    assert copied(lab, flowers, told=told) is None
    assert tree(there / "flowers") == tree(flowers)
    before = lab.relay.bytes_sent
    (flowers / "tulip" / "new.png").write_bytes(b"new")
    (there / "flowers" / "of_there.txt").write_text("stays")
    assert copied(lab, flowers) is None
    assert lab.relay.bytes_sent - before < 100_000
    assert tree(there / "flowers") == {**tree(flowers), "of_there.txt": b"stays"}


@pytest.mark.long
def test_that_it_is_told_how_far_it_is(lab, flowers):
    told = list[CopyProgress]()
    (flowers / "rose" / "large.png").write_bytes(os.urandom(4 * LARGE))
    lab.relay.bytes_per_s = LARGE
    assert copied(lab, flowers, told=told) is None
    fractions = [each.fraction for each in told]
    assert fractions == sorted(fractions)
    assert [each for each in fractions if 0.1 < each < 0.9]
    # What ssh has taken is not all there yet.
    assert told[-1].bytes_per_s == pytest.approx(LARGE, rel=0.7)


def test_that_a_copy_that_was_cut_goes_on_where_it_was(lab, flowers):
    there = lab.folder / "there" / "data"
    lab.relay.bytes_per_s = LARGE / 4.0

    def cut() -> None:
        wait_until(lambda: lab.relay.bytes_sent > 0.6 * LARGE)
        lab.relay.cut()

    thread = Thread(target=cut)
    thread.start()
    told = list[CopyProgress]()
    copying = Thread(target=copied, args=(lab, flowers), kwargs={"told": told})
    copying.start()
    wait_until(lambda: any(each.is_waiting for each in told), 60.0)
    thread.join()
    assert not (there / "flowers" / "rose" / "large.png").exists(), "half a picture is none"
    lab.relay.bytes_per_s = 0.0
    before = lab.relay.bytes_sent
    lab.relay.mend()
    lab.hosts[0].link.try_again()
    copying.join(60.0)
    assert tree(there / "flowers") == tree(flowers)
    assert lab.relay.bytes_sent - before < 0.8 * LARGE


@pytest.mark.long
def test_that_a_copy_that_is_not_wanted_any_more_leaves_no_process(lab, flowers):
    lab.relay.bytes_per_s = LARGE / 10.0
    cancelled, files, size = Event(), lab.connected().files, size_of(flowers)
    place = str(lab.folder / "there" / "data")
    thread = Thread(target=files.copy, args=((flowers,), place, size, cancelled, lambda _: None))
    thread.start()
    wait_until(lambda: copying(flowers))
    cancelled.set()
    thread.join(10)
    assert not thread.is_alive()
    assert not copying(flowers)


def copying(folder: Path) -> list[psutil.Process]:
    found = psutil.process_iter(["cmdline"])
    return [each for each in found if str(folder) in (each.info["cmdline"] or [])]


@pytest.mark.parametrize(
    "name", ["a b", 'it\'s "odd"', "-rf", "a:b", "$(touch evil)", "back\\slash", "*", "é\nx", "~"]
)
def test_that_names_are_names(lab, tmp_path, name):
    folder = tmp_path / "laptop" / name
    folder.mkdir(parents=True)
    (folder / name).write_text("content")
    place = lab.folder / "there" / name / "data"
    assert copied(lab, folder, place=str(place)) is None
    assert tree(place / name) == {name: b"content"}
    assert not [*Path.home().glob("evil"), *tmp_path.rglob("evil")]


def test_that_what_links_lead_to_is_copied_in_their_place(lab, flowers, tmp_path):
    elsewhere = tmp_path / "laptop" / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.png").write_bytes(b"a")
    (flowers / "lily").symlink_to(elsewhere)
    (flowers / "rose" / "linked.png").symlink_to(elsewhere / "a.png")
    assert copied(lab, flowers) is None
    there = lab.folder / "there" / "data" / "flowers"
    assert (there / "lily" / "a.png").read_bytes() == b"a"
    assert not [path for path in there.rglob("*") if path.is_symlink()]


def test_that_a_folder_that_leads_into_itself_is_refused_before_anything_is_sent(flowers):
    (flowers / "rose" / "round").symlink_to(flowers)
    with pytest.raises(ProblemError) as refused:
        size_of(flowers)
    assert refused.value.problems[0].code == "copy_in_a_circle"


def test_that_a_fifo_is_waited_for_by_nobody(lab, flowers):
    os.mkfifo(flowers / "rose" / "fifo")
    assert size_of(flowers).files == 7
    assert copied(lab, flowers) is None
    assert not (lab.folder / "there" / "data" / "flowers" / "rose" / "fifo").exists()


def test_that_what_cannot_be_read_is_named_and_the_rest_is_there(lab, flowers):
    (flowers / "rose" / "gone.png").symlink_to("/nowhere/at/all.png")
    warning = copied(lab, flowers)
    assert warning is not None
    assert warning.code == "copy_not_whole"
    assert "gone.png" in warning.detail
    there = lab.folder / "there" / "data" / "flowers"
    assert len(tree(there)) == 7


def test_that_an_empty_folder_and_two_of_one_name_are_refused(flowers, tmp_path):
    (tmp_path / "empty").mkdir()
    for paths, code in (
        ((tmp_path / "empty",), "copy_of_nothing"),
        ((flowers / "rose" / "0.png", flowers / "tulip" / "0.png"), "copy_of_same_names"),
    ):
        with pytest.raises(ProblemError) as refused:
            size_of(*paths)
        assert refused.value.problems[0].code == code


def test_that_a_name_that_no_profile_can_hold_is_refused_before_anything_is_sent(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    (folder / "a.png").write_bytes(b"content")
    with pytest.raises(ProblemError) as refused:
        size_of(folder)
    (problem,) = refused.value.problems
    assert problem.code == "path_unusable"
    problem.model_dump_json()  # it is said in whole words


def test_that_a_copy_that_ends_again_and_again_beside_a_connection_gives_up(
    lab, flowers, tmp_path, fake_rsync, monkeypatch
):
    begun = tmp_path / "begun"
    fake_rsync(
        f"echo x >> {begun}\nprintf '       1,000   1%%\\r  1000  1%%\\r'\n"
        "sleep 0.3\nprintf '  2000  2%%\\r'\nsleep 0.1\nexit 255\n"
    )
    monkeypatch.setattr("gpupanel.hosts.here.files._MOST_UNEXPLAINED", 2)
    with pytest.raises(ProblemError) as refused:
        copied(lab, flowers)
    assert refused.value.problems[0].code == "copy_cut"
    assert len(begun.read_text().split()) == 3


def test_that_a_copy_that_was_cut_once_and_is_cut_at_its_next_beginning_goes_on(
    lab, flowers, tmp_path, fake_rsync
):
    begun = tmp_path / "begun"
    fake_rsync(
        f"echo x >> {begun}\ntimes=$(wc -l < {begun})\n[ $times = 3 ] && exit 0\n"
        "sleep 0.3\nprintf '  %s   1%%\\r' $((1000 * (2 - times)))\nsleep 0.3\nexit 255\n"
    )
    assert copied(lab, flowers) is None
    assert len(begun.read_text().split()) == 3


def test_that_what_rsync_wrote_last_is_told_though_it_writes_nothing_more(flowers, fake_rsync):
    fake_rsync("printf '\\r  0   0%%'\nprintf '\\r  1500   1%%'\nsleep 1\nexit 255\n")
    told = list[CopyProgress]()
    with pytest.raises(ProblemError):
        copy_files((flowers,), "lab", "/data", CopySize(7, 3_000), Event(), told.append)
    assert [each.bytes_done for each in told] == [1500]
    assert told[0].fraction == 0.5


@pytest.mark.parametrize(
    ("size_bytes", "code"), [(2**60, "copy_without_room"), (1_000, "copy_failed")]
)
def test_that_a_failure_without_a_word_is_laid_to_a_disk_only_where_that_has_no_room(
    lab, flowers, fake_rsync, size_bytes, code
):
    fake_rsync("exit 11\n")
    files, place = lab.connected().files, str(lab.folder / "there" / "data")
    with pytest.raises(ProblemError) as refused:
        files.copy((flowers,), place, CopySize(7, size_bytes), Event(), lambda _: None)
    assert refused.value.problems[0].code == code


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a small disk")
def test_that_a_disk_without_room_is_said(lab, flowers):
    place = lab.folder / "there" / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        host = lab.connected()
        assert host.files.place(str(place), ("flowers",)).free_bytes <= 2**20
        with pytest.raises(ProblemError) as refused:
            copied(lab, flowers, place=str(place))
        assert refused.value.problems[0].code == "copy_without_room"
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_that_a_place_is_looked_at_before_it_is_made(lab):
    files, there = lab.connected().files, lab.folder / "there"
    (there / "data" / "flowers").mkdir(parents=True)
    found = files.place(str(there / "data"), ("flowers", "trees"))
    assert found.taken == ("flowers",)
    assert found.free_bytes > 0
    new = files.place(str(there / "new" / "deep"), ("flowers",))
    assert new.taken == ()
    assert not (there / "new").exists()
    (there / "file").write_text("")
    with pytest.raises(ProblemError):
        files.place(str(there / "file"), ())


@pytest.mark.parametrize(
    ("exit_code", "said", "code"),
    [
        (12, "sh: 1: rsync: not found\n", "rsync_not_there"),
        (127, "zsh: command not found: rsync\n", "rsync_not_there"),
        (11, 'write failed on "x": No space left on device (28)\n', "copy_without_room"),
        (11, 'write failed on "x": Disk quota exceeded (122)\n', "copy_without_room"),
        (255, "ssh: connect to host lab port 22: No route to host\n", "copy_cut"),
        (23, "rsync: mkstemp failed: Permission denied (13)\n", "copy_not_permitted"),
        (2, "protocol version mismatch -- is your shell clean?\n", "copy_failed"),
    ],
)
def test_that_what_rsync_says_is_a_sentence(exit_code, said, code):
    assert copy_problem("lab", exit_code, said).code == code


@pytest.mark.parametrize("name", ["ssh://root@lab", "fe80::1", "lab:22", "it's", "$(touch evil)"])
def test_that_ssh_is_given_the_name_of_the_host_as_it_is(flowers, tmp_path, monkeypatch, name):
    asked = tmp_path / "asked"
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {asked}\nexit 255\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("RSYNC_RSH", "false")
    with pytest.raises(ProblemError) as refused:
        copy_files((flowers,), name, "/data", size_of(flowers), Event(), lambda _: None)
    assert refused.value.problems[0].code == "copy_cut"
    words = asked.read_text().splitlines()
    assert words[words.index("--") + 1 :][:2] == [name, "rsync"]
    assert not [*tmp_path.rglob("evil"), *Path.cwd().glob("evil")]


def test_that_a_machine_without_rsync_is_told_so(lab, flowers, monkeypatch):
    files, size = lab.connected().files, size_of(flowers)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ProblemError) as refused:
        files.copy((flowers,), str(lab.folder / "there"), size, Event(), lambda _: None)
    assert refused.value.problems[0].code == "rsync_not_started"

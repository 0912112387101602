"""Notes arrive, once, whatever fails or dies on the way."""

import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.notes import NoteKind, NoteSettings, PostedNote, Way, WebhookForm
from gpupanel.runs.locations import notes_dir
from gpupanel.runs.notes import courier, posting
from gpupanel.runs.notes.courier import Courier
from gpupanel.runs.notes.delivery import NotDeliveredError
from gpupanel.runs.notes.note_settings import NOTES_FILE
from gpupanel.runs.notes.outbox import Outbox
from gpupanel.runs.notes.posting import post
from gpupanel.runs.notes.waking import wake_courier
from tests.fakes.note_receiver import NoteReceiver
from tests.patience import wait_until

SETTINGS = NoteSettings(command="true")


def note(key: str = "ab12", time_s: float | None = None) -> PostedNote:
    return PostedNote(
        key=key,
        kind=NoteKind.ENDED,
        title="digits: completed",
        text="It took 2 s.",
        time_s=time.time() if time_s is None else time_s,
    )


@pytest.fixture
def outbox() -> Outbox:
    NOTES_FILE.write(SETTINGS)
    return Outbox(notes_dir())


class Taker:
    """Takes notes, the first ones in vain."""

    def __init__(self, *failures: NotDeliveredError) -> None:
        self.failures, self.taken = list(failures), list[str]()

    def __call__(self, note: PostedNote, way: Way, settings: NoteSettings) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.taken.append(note.key)


def test_that_what_is_posted_twice_is_taken_once(outbox: Outbox) -> None:
    taker = Taker()
    assert outbox.post(note(), SETTINGS.ways)
    assert not outbox.post(note(), SETTINGS.ways)
    Courier(outbox, taker).run()
    assert not outbox.post(note(), SETTINGS.ways)
    Courier(outbox, taker).run()
    assert taker.taken == ["ab12"]


def test_that_what_is_posted_by_another_process_just_as_it_arrives_is_taken_once(
    outbox: Outbox,
) -> None:
    taker = Taker()
    outbox.post(note(), SETTINGS.ways)
    (letter,) = outbox.letters()
    content = letter.path.read_bytes()
    Courier(outbox, taker).run()
    letter.path.write_bytes(content)  # it had looked for the note before it arrived
    Courier(outbox, taker).run()
    assert taker.taken == ["ab12"]
    assert outbox.letters() == []


def test_that_a_note_that_does_not_arrive_is_tried_again_later(
    outbox: Outbox, capfd: pytest.CaptureFixture[str]
) -> None:
    taker = Taker(NotDeliveredError("The server is away."))
    outbox.post(note(), SETTINGS.ways)
    carrying = Courier(outbox, taker)
    carrying.step()
    (letter,) = outbox.letters()
    assert letter.tries == 1
    assert 0.0 < letter.next_s - time.time() <= 5.0
    carrying.step()
    assert taker.taken == []  # not yet
    outbox.put_off(letter, -1.0)
    carrying.step()
    assert taker.taken == ["ab12"]
    assert not carrying.step()
    assert "The server is away." in capfd.readouterr().err


def test_that_what_no_try_will_mend_waits_for_the_settings(outbox: Outbox) -> None:
    taker = Taker(NotDeliveredError("No such address.", may_go_well=False))
    outbox.post(note(), SETTINGS.ways)
    Courier(outbox, taker).step()
    (letter,) = outbox.letters()
    assert letter.next_s - time.time() > 30.0


def test_that_a_note_of_last_month_is_given_up(outbox: Outbox) -> None:
    taker = Taker(NotDeliveredError("The server is away."))
    outbox.post(note(time_s=time.time() - 30 * 86_400), SETTINGS.ways)
    Courier(outbox, taker).run()
    assert outbox.letters() == []


def test_that_a_clock_that_was_set_back_holds_no_note_back(outbox: Outbox) -> None:
    taker = Taker()
    outbox.post(note(), SETTINGS.ways)
    (letter,) = outbox.letters()
    outbox.put_off(letter, 10 * 365 * 86_400.0)
    Courier(outbox, taker).step()
    assert taker.taken == ["ab12"]


def test_that_a_way_that_was_switched_off_is_not_taken(outbox: Outbox) -> None:
    taker = Taker()
    outbox.post(note(), SETTINGS.ways)
    NOTES_FILE.write(NoteSettings(mail="ada"))
    Courier(outbox, taker).run()
    assert taker.taken == []


def test_that_notes_wait_while_the_settings_cannot_be_read(outbox: Outbox) -> None:
    taker = Taker()
    outbox.post(note(), SETTINGS.ways)
    NOTES_FILE.path().write_text("webhook = ")
    Courier(outbox, taker).step()
    assert taker.taken == []
    assert len(outbox.letters()) == 1


def test_that_what_is_no_note_is_left_alone(outbox: Outbox, tmp_path: Path) -> None:
    taker = Taker()
    outbox.post(note(), SETTINGS.ways)
    waiting = outbox.folder / "waiting"
    (waiting / "odd.command.json").write_text("{}")
    (waiting / "link.command.json").symlink_to(tmp_path / "elsewhere")
    Courier(outbox, taker).run()
    assert taker.taken == ["ab12"]
    assert (waiting / "odd.command.json").read_text() == "{}"


def test_that_a_kind_that_nobody_wants_is_not_posted() -> None:
    NOTES_FILE.write(NoteSettings(command="true", ended=False))
    post(NoteKind.ENDED, "digits: completed", "It took 2 s.", about="end")
    assert not notes_dir().exists()


def test_that_couriers_that_are_killed_lose_nothing() -> None:
    """One at a time, killed at any moment: each note arrives; few of them twice."""
    with NoteReceiver() as receiver:
        NOTES_FILE.write(NoteSettings(webhook=f"{receiver.url}/hook"))
        outbox = Outbox(notes_dir())
        keys = {f"{number:02}" for number in range(40)}
        for key in keys:
            outbox.post(note(key), (Way.WEBHOOK,))
        deaths = 0
        while outbox.letters():
            command = python_module_command("gpupanel.runs.notes.courier", str(outbox.folder))
            before = len(receiver.received)
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
                if deaths < 6:
                    wait_until(lambda: len(receiver.received) > before)  # noqa: B023
                    time.sleep(0.002 * deaths)
                    process.send_signal(signal.SIGKILL)
                    deaths += 1
        arrived = [request.document["key"] for request in receiver.received]
    assert set(arrived) == keys
    # Killed between the answer and the note about it: once a death, at the most.
    assert len(arrived) <= len(keys) + deaths


def test_that_a_courier_is_started_where_something_waits() -> None:
    with NoteReceiver() as receiver:
        NOTES_FILE.write(NoteSettings(webhook=f"{receiver.url}/hook"))
        outbox = Outbox(notes_dir())
        outbox.post(note(), (Way.WEBHOOK,))
        wake_courier(outbox)
        wait_until(lambda: not outbox.letters())
        assert [request.document["key"] for request in receiver.received] == ["ab12"]
    assert "a-secret" not in (outbox.folder / "courier.log").read_text()


def test_that_a_fault_in_one_note_holds_no_other_up(outbox: Outbox) -> None:
    taken = []

    def take(note: PostedNote, way: Way, settings: NoteSettings) -> None:
        if note.key == "odd":
            raise RuntimeError("with an address in its words")
        taken.append(note.key)

    outbox.post(note("odd", 1e9), SETTINGS.ways)
    outbox.post(note("fine"), SETTINGS.ways)
    Courier(outbox, take).step()
    assert taken == ["fine"]


def test_that_a_server_that_answers_a_letter_at_a_time_is_given_up(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(courier, "_LIMIT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as slow:

        def drip() -> None:
            with slow.accept()[0] as connection, suppress(OSError):
                connection.recv(65536)
                for letter in "HTTP/1.1 200 OK and so on and so on":
                    connection.sendall(letter.encode())
                    time.sleep(0.2)

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{slow.getsockname()[1]}/"
        NOTES_FILE.write(NoteSettings(webhook=url))
        outbox.post(note(), (Way.WEBHOOK,))
        Courier(outbox).step()
        (letter,) = outbox.letters()
        assert letter.tries == 1
        thread.join()
    assert "did not answer" in capfd.readouterr().err


def test_that_names_that_are_no_utf_8_are_posted_and_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(posting, "wake_courier", lambda outbox: None)
    with NoteReceiver() as receiver:
        NOTES_FILE.write(
            NoteSettings(webhook=f"{receiver.url}/hook", webhook_form=WebhookForm.NTFY)
        )
        odd = "/runs/caf\udce9"
        post(NoteKind.ENDED, "caf\udce9\x1b[31m: completed", f"in {odd}", run=odd, about="end")
        Courier(Outbox(notes_dir())).run()
    (request,) = receiver.received
    assert request.body == "in /runs/caf\\xe9"
    assert request.headers["title"] == "caf\\xe9\\x1b[31m: completed"

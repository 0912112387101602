"""Notes to webhooks: what each server takes, and what its answer means."""

import socket
from email.header import decode_header

import pytest

from gpupanel.domain.notes import NoteKind, NoteSettings, PostedNote, WebhookForm
from gpupanel.runs.notes import webhook
from gpupanel.runs.notes.delivery import NotDeliveredError
from gpupanel.runs.notes.webhook import send_to_webhook, webhook_request
from tests.fakes.note_receiver import NoteReceiver

NOTE = PostedNote(
    key="ab12", kind=NoteKind.FAILED, title="digits: failed", text="Why <so> & how.", time_s=1.0
)
ROOM = "https://matrix.org/_matrix/client/v3/rooms/!a:matrix.org"


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("https://ntfy.sh/my-runs", b"Why <so> & how."),
        ("https://ntfy.example.org/my-runs", b"Why <so> & how."),
        (
            "https://hooks.slack.com/services/T/B/x",
            b'{"text": "digits: failed\\nWhy &lt;so&gt; &amp; how."}',
        ),
        (
            "https://chat.example.org/hooks/abc",
            b'{"text": "digits: failed\\nWhy &lt;so&gt; &amp; how."}',
        ),
        (
            "https://discord.com/api/webhooks/1/x",
            b'{"content": "digits: failed\\nWhy <so> & how.", "allowed_mentions": {"parse": []}}',
        ),
    ],
)
def test_that_each_server_gets_what_it_takes(address: str, text: bytes) -> None:
    request = webhook_request(NOTE, NoteSettings(webhook=address))
    assert (request.url, request.method, request.body) == (address, "POST", text)


def test_that_a_matrix_room_gets_a_message_of_which_it_takes_one() -> None:
    settings = NoteSettings(webhook=f"{ROOM}?access_token=secret")
    request = webhook_request(NOTE, settings)
    assert request.url == f"{ROOM}/send/m.room.message/ab12"
    assert request.method == "PUT"
    assert request.headers["Authorization"] == "Bearer secret"
    assert b"digits: failed" in request.body


def test_that_a_title_beyond_ascii_stays_what_it_is_in_a_header() -> None:
    note = NOTE.model_copy(update={"title": "Ölflecken: “gut”"})
    request = webhook_request(note, NoteSettings(webhook="https://ntfy.sh/x"))
    ((content, charset),) = decode_header(request.headers["Title"])
    assert isinstance(content, bytes)
    assert content.decode(charset or "") == note.title


def test_that_another_server_gets_all_by_its_names() -> None:
    with NoteReceiver() as receiver:
        send_to_webhook(NOTE, NoteSettings(webhook=f"{receiver.url}/hook"))
    (request,) = receiver.received
    document = request.document
    assert document.pop("machine") == socket.gethostname()
    assert document == {
        "title": "digits: failed",
        "text": "Why <so> & how.",
        "kind": "failed",
        "run": "",
        "time_s": 1.0,
        "key": "ab12",
    }


def test_that_the_form_can_be_chosen() -> None:
    settings = NoteSettings(webhook="https://home.example.org/x", webhook_form=WebhookForm.NTFY)
    assert webhook_request(NOTE, settings).body == NOTE.text.encode()


@pytest.mark.parametrize(
    ("answer", "may_go_well"), [(302, False), (404, False), (403, False), (429, True), (503, True)]
)
def test_that_an_answer_other_than_well_is_told_and_not_taken_for_success(
    answer: int, may_go_well: bool
) -> None:
    with NoteReceiver(answer) as receiver, pytest.raises(NotDeliveredError) as caught:
        send_to_webhook(NOTE, NoteSettings(webhook=f"{receiver.url}/a-secret"))
    assert str(answer) in str(caught.value)
    assert "a-secret" not in str(caught.value)
    assert caught.value.may_go_well is may_go_well
    assert len(receiver.received) == 1


def test_that_a_server_that_is_not_there_is_told_without_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/a-secret"
    with pytest.raises(NotDeliveredError, match="takes no connections") as caught:
        send_to_webhook(NOTE, NoteSettings(webhook=url))
    assert caught.value.may_go_well
    assert "a-secret" not in f"{caught.value!r} {caught.value.__cause__}"


def test_that_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "_LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = NoteSettings(webhook=f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with pytest.raises(NotDeliveredError, match="did not answer"):
            send_to_webhook(NOTE, settings)


def test_that_a_server_that_speaks_otherwise_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as odd:
        settings = NoteSettings(webhook=f"http://127.0.0.1:{odd.getsockname()[1]}/")
        from threading import Thread

        def answer() -> None:
            with odd.accept()[0] as connection:
                connection.recv(65536)
                connection.sendall(b"\x00\x01SSH-2.0\r\n\r\n")

        thread = Thread(target=answer)
        thread.start()
        with pytest.raises(NotDeliveredError, match="not understood"):
            send_to_webhook(NOTE, settings)
        thread.join()

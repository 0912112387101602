"""Which notes are sent, by which ways, and what is wrong with these."""

import pytest

from gpupanel.domain.notes import (
    NoteKind,
    NoteSettings,
    Way,
    WebhookForm,
    setting_problems,
    webhook_form,
)

ROOM = "https://matrix.org/_matrix/client/v3/rooms/!a:matrix.org"


def test_that_without_a_way_nothing_is_wanted() -> None:
    assert NoteSettings().ways == ()
    assert not any(NoteSettings().wants(kind) for kind in NoteKind)


def test_that_every_kind_has_a_switch_and_every_way_a_setting() -> None:
    names = {*NoteSettings.model_fields}
    assert {kind.value for kind in NoteKind} <= names
    assert {way.value for way in Way} <= names
    settings = NoteSettings(command="x", mail="ada", ended=False)
    assert settings.ways == (Way.COMMAND, Way.MAIL)
    assert [kind for kind in NoteKind if not settings.wants(kind)] == [NoteKind.ENDED]


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("https://ntfy.sh/mine", WebhookForm.NTFY),
        ("https://ntfy.example.org/mine", WebhookForm.NTFY),
        ("https://hooks.slack.com/services/a/b/c", WebhookForm.SLACK),
        ("https://chat.example.org/hooks/abc", WebhookForm.SLACK),
        ("https://discord.com/api/webhooks/1/x", WebhookForm.DISCORD),
        ("https://discord.com/channels/1", WebhookForm.JSON),
        (f"{ROOM}?access_token=x", WebhookForm.MATRIX),
        ("https://example.org/notify", WebhookForm.JSON),
    ],
)
def test_that_an_address_tells_what_it_takes(address: str, form: WebhookForm) -> None:
    assert webhook_form(NoteSettings(webhook=address)) is form
    chosen = NoteSettings(webhook=address, webhook_form=WebhookForm.SLACK)
    assert webhook_form(chosen) is WebhookForm.SLACK


@pytest.mark.parametrize(
    ("webhook", "mail", "codes"),
    [
        ("", "", []),
        ("https://ntfy.sh/x", "ada@example.org", []),
        ("http://127.0.0.1:8080/x", "ada", []),
        ("ntfy.sh/x", "", ["webhook_no_address"]),
        ("file:///etc/passwd", "", ["webhook_no_address"]),
        ("https://[::1", "", ["webhook_no_address"]),
        ("https://host:port/", "", ["webhook_no_address"]),
        ("https://ntfy.sh/x\r\nHost: y", "", ["webhook_no_address"]),
        ("http://example.org/x", "", ["webhook_not_encrypted"]),
        (ROOM, "", ["webhook_no_token"]),
        ("", "ada@example.org, bob@example.org", ["mail_no_address"]),
        ("", "-oQ/tmp", ["mail_no_address"]),
        ("", "ada@example.org\nBcc: all@example.org", ["mail_no_address"]),
        ("", "@example.org", ["mail_no_address"]),
        ("", "ada@", ["mail_no_address"]),
    ],
)
def test_that_what_is_no_address_is_told(webhook: str, mail: str, codes: list[str]) -> None:
    found = setting_problems(NoteSettings(webhook=webhook, mail=mail))
    assert [problem.code for problem in found] == codes
    assert all(problem.hint for problem in found)

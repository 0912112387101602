"""Notes to a webhook: what each kind of server takes, sent by the standard library."""

import json
import socket
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from typing import IO, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from typing_extensions import override

from gpupanel.domain.notes import NoteKind, NoteSettings, PostedNote, WebhookForm, webhook_form
from gpupanel.runs.notes.delivery import NotDeliveredError

_LIMIT_S: Final = 20.0
_URGENT: Final = frozenset(
    {NoteKind.FAILED, NoteKind.STALLED, NoteKind.OUT_OF_MEMORY, NoteKind.NEEDS_YOU}
)
_AGAIN: Final = frozenset({408, 425, 429, *range(500, 600)})
"""Answers after which it may go well later; of any other the same request gets the same."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """What is sent.

    Attributes:
        url: Where.
        method: Of HTTP.
        headers: By their names.
        body: Bytes.
    """

    url: str
    body: bytes
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)


def webhook_request(note: PostedNote, settings: NoteSettings) -> WebhookRequest:
    """What the webhook is sent of a note.

    The forms are those of https://docs.ntfy.sh/publish/, https://api.slack.com/messaging/webhooks,
    https://discord.com/developers/docs/resources/webhook and
    https://spec.matrix.org/v1.11/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid.
    """
    url, whole = settings.webhook, f"{note.title}\n{note.text}"
    match webhook_form(settings):
        case WebhookForm.NTFY:
            headers = {
                "Content-Type": "text/plain; charset=utf-8",
                "Title": _header(note.title),
                "Priority": "high" if note.kind in _URGENT else "default",
            }
            return WebhookRequest(url, note.text.encode(), headers=headers)
        case WebhookForm.SLACK:
            # Of these marks its own markup is made.
            return _json(url, {"text": _escaped(whole)})
        case WebhookForm.DISCORD:
            return _json(url, {"content": whole[:2_000], "allowed_mentions": {"parse": []}})
        case WebhookForm.MATRIX:
            return _to_matrix(note, url, whole)
        case _:
            return _json(
                url,
                {
                    "title": note.title,
                    "text": note.text,
                    "kind": note.kind.value,
                    "run": note.run,
                    "machine": socket.gethostname(),
                    "time_s": note.time_s,
                    "key": note.key,
                },
            )


def send_to_webhook(note: PostedNote, settings: NoteSettings) -> None:
    """Send a note; returns when the server has taken it.

    Raises:
        NotDeliveredError: It has not; its words do not name the address, which is a secret.
    """
    wanted = webhook_request(note, settings)
    try:
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked with the settings
            wanted.url, wanted.body, {"User-Agent": "gpupanel", **wanted.headers}
        )
        request.method = wanted.method
        # What else the answer says nobody reads: it may come for ever.
        with _OPENER.open(request, timeout=_LIMIT_S):
            return
    except urllib.error.HTTPError as error:
        with error:
            raise NotDeliveredError(
                f"The server of the webhook answers {error.code}{_meaning(error.code)}.",
                may_go_well=error.code in _AGAIN,
            ) from None
    except (OSError, HTTPException, ValueError) as error:
        # Not "from error": its own words may have the address in them.
        raise NotDeliveredError(
            _reason(error), may_go_well=not isinstance(error, ValueError)
        ) from None


def _to_matrix(note: PostedNote, url: str, whole: str) -> WebhookRequest:
    """The key is the transaction's: the server takes each only once."""
    parts = urlsplit(url)
    query = parse_qsl(parts.query)
    token = dict(query).get("access_token", "")
    left = urlencode([each for each in query if each[0] != "access_token"])
    path = parts.path.rstrip("/")
    if not path.endswith("/send/m.room.message"):
        path = f"{path}/send/m.room.message"
    place = urlunsplit((parts.scheme, parts.netloc, f"{path}/{quote(note.key)}", left, ""))
    made = _json(place, {"msgtype": "m.text", "body": whole})
    headers = {**made.headers, "Authorization": f"Bearer {token}"}
    return WebhookRequest(place, made.body, "PUT", headers)


def _json(url: str, document: dict[str, object]) -> WebhookRequest:
    headers = {"Content-Type": "application/json"}
    return WebhookRequest(url, json.dumps(document).encode(), headers=headers)


def _header(text: str) -> str:
    """A text as headers have it: RFC 2047 where it is not ASCII, as ntfy reads it."""
    from email.header import Header

    return text if text.isascii() else Header(text, "utf-8", maxlinelen=10_000).encode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _meaning(code: int) -> str:
    if 300 <= code < 400:
        return ", another address: set that one"
    return {
        401: ", not allowed: its token or password is another one",
        403: ", not allowed",
        404: ", not found: the address has changed, or was mistyped",
        410: ", gone: the address is no longer in use",
        413: ", too long",
        429: ", too many at once",
    }.get(code, "")


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    match cause:
        case TimeoutError():
            return f"The server of the webhook did not answer within {_LIMIT_S:.0f} s."
        case socket.gaierror():
            return (
                "The server of the webhook has no address: its name is wrong, or there is no "
                "network."
            )
        case ConnectionRefusedError():
            return "The server of the webhook takes no connections."
        case OSError() if cause.strerror:
            return f"The server of the webhook cannot be reached: {cause.strerror}."
    return f"The webhook's answer was not understood ({type(cause).__name__})."


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Another address would get a GET without the note, and be taken for success."""

    @override
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirects)

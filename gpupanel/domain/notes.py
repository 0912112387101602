"""Notes that reach a person who is elsewhere: what they are of, and the ways that they take."""

from typing import Final
from urllib.parse import SplitResult, urlsplit

from gpupanel.domain.choice import ChoiceEnum
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Value


class NoteKind(ChoiceEnum):
    """What a note is of; each is a switch of :class:`NoteSettings` of that name."""

    ENDED = "ended", "A run has ended"
    FAILED = "failed", "A run has failed"
    STALLED = "stalled", "A run stands still"
    OUT_OF_MEMORY = "out_of_memory", "Out of memory"
    NEEDS_YOU = "needs_you", "Something waits for you"
    QUEUE_EMPTY = "queue_empty", "The queue is empty"


class Way(ChoiceEnum):
    """How a note reaches a person."""

    DESKTOP = "desktop", "Desktop"
    COMMAND = "command", "Command"
    WEBHOOK = "webhook", "Webhook"
    MAIL = "mail", "Mail"


class WebhookForm(ChoiceEnum):
    """What a webhook is sent."""

    BY_ADDRESS = "by_address", "By its address", "What the address is known to take."
    NTFY = "ntfy", "ntfy", "Plain text with a title, as ntfy takes it."
    SLACK = "slack", "Slack", "JSON with “text”, as Slack, Mattermost and Rocket.Chat take it."
    DISCORD = "discord", "Discord", "JSON with “content”."
    MATRIX = "matrix", "Matrix", "A message to a room, by Matrix's client API."
    JSON = "json", "JSON", "Title, text, kind, run and machine by their names."


_LINE: Final = 2_000
"""Characters of an address or a command."""


class NoteSettings(Value):
    """The file ``notes.toml`` in the person's folder of settings."""

    ended: bool = setting(
        "A run has ended", "It was completed, stopped or suspended.", default=True
    )
    failed: bool = setting(
        "A run has failed",
        "It failed, or its processes were killed; also where it was started again.",
        default=True,
    )
    stalled: bool = setting(
        "A run stands still",
        "It made no step for long, and was ended or started again.",
        default=True,
    )
    out_of_memory: bool = setting(
        "Out of memory",
        "A card or the machine had too little memory; also where the run goes on with less.",
        default=True,
    )
    needs_you: bool = setting(
        "Something waits for you",
        "A waiting run cannot be started, or a run waits for a cluster.",
        default=True,
    )
    queue_empty: bool = setting(
        "The queue is empty", "The last run of the queue has ended.", default=True
    )
    desktop: bool = setting(
        "Desktop",
        "A notification of this machine's desktop, also while no window is open; by notify-send.",
        default=False,
    )
    command: str = setting(
        "Command",
        "Is run with title and text as its last two arguments; without a shell.",
        default="",
        max_length=_LINE,
        examples=["~/bin/tell-me"],
    )
    webhook: str = setting(
        "Webhook",
        "An address that each note is sent to, as of ntfy, Slack, Discord or a Matrix room. "
        "Whoever knows it can send there, too: it is kept in your settings alone.",
        default="",
        max_length=_LINE,
        examples=["https://ntfy.sh/adas-trainings"],
    )
    webhook_form: WebhookForm = setting(
        "The webhook takes", "What is sent there.", default=WebhookForm.BY_ADDRESS, advanced=True
    )
    mail: str = setting(
        "Mail",
        "An address that notes are mailed to, by this machine's sendmail.",
        default="",
        max_length=320,
        examples=["ada@example.org"],
    )

    @property
    def ways(self) -> tuple[Way, ...]:
        """Those that are set."""
        return tuple(way for way in Way if getattr(self, way.value))

    def wants(self, kind: NoteKind) -> bool:
        """Whether notes of that kind are sent at all."""
        return bool(self.ways) and bool(getattr(self, kind.value))


class PostedNote(Value):
    """What a person is told.

    Attributes:
        key: The same for the same happening, whoever notices it.
        title: What happened, in a few words.
        text: One or several sentences.
        run: The directory of the run; empty: it is about none.
        time_s: When it happened, seconds since the epoch (UTC).
    """

    key: str
    kind: NoteKind
    title: str
    text: str
    run: str = ""
    time_s: float


def webhook_form(settings: NoteSettings) -> WebhookForm:
    """What the webhook takes, by its address where nobody says it."""
    if settings.webhook_form is not WebhookForm.BY_ADDRESS:
        return settings.webhook_form
    address = urlsplit(settings.webhook)
    host, path = (address.hostname or "").lower(), address.path
    if "/_matrix/client/" in path:
        return WebhookForm.MATRIX
    if host in ("discord.com", "discordapp.com") and path.startswith("/api/webhooks/"):
        return WebhookForm.DISCORD
    if host == "hooks.slack.com" or path.startswith("/hooks/"):
        return WebhookForm.SLACK
    if "ntfy" in host.split("."):
        return WebhookForm.NTFY
    return WebhookForm.JSON


def setting_problems(settings: NoteSettings) -> tuple[Problem, ...]:
    """What is wrong with the ways; those of severity error cannot be used."""
    found = (_webhook_problem(settings), _mail_problem(settings.mail))
    return tuple(problem for problem in found if problem is not None)


def _webhook_problem(settings: NoteSettings) -> Problem | None:
    if not settings.webhook:
        return None
    address = _split(settings.webhook)
    if address is None or address.scheme not in ("http", "https") or not address.hostname:
        return Problem(
            code="webhook_no_address",
            field="webhook",
            message="The webhook is no address of the web.",
            hint="It begins with https://, as https://ntfy.sh/some-name does.",
        )
    if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in settings.webhook):
        return Problem(
            code="webhook_no_address",
            field="webhook",
            message="The webhook has blanks or control characters in it.",
            hint="Copy the address again, without what stands beside it.",
        )
    if webhook_form(settings) is WebhookForm.MATRIX and "access_token=" not in address.query:
        return Problem(
            code="webhook_no_token",
            field="webhook",
            message="The address of the Matrix room has no access token.",
            hint="It ends with ?access_token=, and the token of the account that sends.",
        )
    if address.scheme == "http" and address.hostname not in ("localhost", "127.0.0.1", "::1"):
        return Problem(
            code="webhook_not_encrypted",
            severity=Severity.WARNING,
            field="webhook",
            message="Notes to this webhook can be read on their way.",
            hint="Take an address that begins with https://, if the server has one.",
        )
    return None


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        _ = parts.port  # refuses one that is no number
    except ValueError:
        return None
    return parts


def _mail_problem(mail: str) -> Problem | None:
    if not mail:
        return None
    name, at, domain = mail.partition("@")
    is_odd = any(not character.isprintable() or character in ' ,;:<>()[]"\\' for character in mail)
    if is_odd or (at and not (name and domain and "@" not in domain)) or mail.startswith("-"):
        return Problem(
            code="mail_no_address",
            field="mail",
            message="That is no address of one person's mail.",
            hint="Such as ada@example.org, or the name of a user of this machine.",
        )
    return None

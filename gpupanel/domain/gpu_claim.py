"""What the gpupanel of another user says of a GPU: who holds it, since when, until about when."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import Field

from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_beginning

LAST_MOMENT_S: Final = 2.0**33
"""In the year 2242: what any calendar can show, and no run waits for."""
_MOST_NAMED: Final = 3
Moment = Annotated[float, Field(ge=0.0, le=LAST_MOMENT_S)]
"""Seconds since the epoch (UTC)."""
MOST_CLAIMS: Final = 64
"""To one GPU: more users than any machine lets compute on it at once."""


class GpuClaim(Value):
    """A run of another user holds a GPU.

    Attributes:
        user: Whose run it is, as :class:`~gpupanel.domain.telemetry.DeviceProcess` names a user:
            the number of one whom the system does not know.
        since_s: Since when.
        until_s: When it is likely to end, by its own estimate; ``None``: it does not know yet.
    """

    user: str
    since_s: Moment
    until_s: Moment | None = None

    def words(self, now_s: float) -> str:
        """Who, since when and until when: "ada, since 19:05, free about 21:40".

        What can only be a clock that is wrong is left out: a beginning that is still to come, an
        end that is past.

        Args:
            now_s: The present, seconds since the epoch (UTC).
        """
        who = f"user {self.user}" if self.user.isdecimal() else visible_beginning(self.user)
        parts = [who]
        if self.since_s <= now_s:
            parts.append(f"since {_clock(self.since_s, now_s)}")
        if self.until_s is not None and self.until_s > now_s:
            parts.append(f"free about {_clock(self.until_s, now_s)}")
        return ", ".join(parts)


def claim_words(claims: Iterable[GpuClaim], now_s: float) -> str:
    """The claims to one GPU in words; empty where there are none.

    Args:
        claims: Of different users.
        now_s: The present, seconds since the epoch (UTC).
    """
    words = [claim.words(now_s) for claim in claims]
    if len(words) > _MOST_NAMED:
        words[_MOST_NAMED:] = [f"{len(words) - _MOST_NAMED} others"]
    return "; ".join(words)


def _clock(moment_s: float, now_s: float) -> str:
    """The time of day by the clock on the wall, of another day with its date."""
    moment, now = (datetime.fromtimestamp(each, UTC).astimezone() for each in (moment_s, now_s))
    return f"{moment:%H:%M}" if moment.date() == now.date() else f"{moment:%Y-%m-%d %H:%M}"

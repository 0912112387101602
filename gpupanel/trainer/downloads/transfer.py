"""Takes a file from a server of which nothing is believed: no length, no redirect, no promise."""

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import IO, BinaryIO
from urllib.parse import urlsplit

from typing_extensions import override

_PIECE_BYTES = 256 * 1024
_TIMEOUT_S = 30.0
_SLOW_S = 120.0
_SLOWEST_BYTES = 16 * 1024
"""Fewer in so many seconds are no download: a server that sends a byte now and then has no end."""
_LENGTH_DIGITS = 18

_NETWORK_ERRORS = (OSError, http.client.HTTPException, ValueError)
"""Of urllib: besides its own, what the system says of the network, and addresses and lengths that
cannot be read."""


class TransferError(Exception):
    """The file did not come; its text says why."""


class TooLargeError(Exception):
    """More came than the file can have."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect from an encrypted connection to one that is not, nor to FTP."""

    @override
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urlsplit(newurl).scheme not in ("https", req.type):
            reason = f"it redirects to {newurl}, and that connection is not encrypted"
            raise urllib.error.HTTPError(req.full_url, code, reason, headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def transfer(
    url: str, output: BinaryIO, most_bytes: int, on_progress: Callable[[int, int | None], None]
) -> None:
    """Write what the server sends for an address.

    Args:
        url: Of ``https``; of ``http`` where that is what is published.
        output: Where it is written.
        most_bytes: Of the file.
        on_progress: Called with bytes done and bytes in all (``None``: unknown); may raise.

    Raises:
        TransferError: There is no network, the server refuses, or it does not send all.
        TooLargeError: It sends more than ``most_bytes``.
        OSError: It cannot be written.
    """
    try:
        answer = urllib.request.build_opener(_Redirects).open(url, timeout=_TIMEOUT_S)
    except _NETWORK_ERRORS as error:
        raise _failed(error) from error
    with answer:
        total = _length(answer.headers.get("Content-Length"))
        done, slow_done, slow_s = 0, 0, time.monotonic() + _SLOW_S
        while piece := _read(answer):
            done += len(piece)
            if done > most_bytes:
                raise TooLargeError
            output.write(piece)
            on_progress(done, total)
            if time.monotonic() > slow_s:
                if done - slow_done < _SLOWEST_BYTES:
                    raise TransferError(
                        f"only {done - slow_done:,} bytes came within {_SLOW_S:.0f} seconds"
                    )
                slow_done, slow_s = done, time.monotonic() + _SLOW_S
    if total is not None and done != total:
        raise TransferError(f"{done:,} of {total:,} bytes came")


def _read(answer: http.client.HTTPResponse) -> bytes:
    """What came by now, so that a slow server keeps nobody from stopping."""
    try:
        return answer.read1(_PIECE_BYTES)
    except _NETWORK_ERRORS as error:
        raise _failed(error) from error


def _length(text: str | None) -> int | None:
    """What the server says; ``None``: nothing, or no length."""
    is_length = text is not None and text.isascii() and text.isdecimal()
    return int(text) if text and is_length and len(text) <= _LENGTH_DIGITS else None


def _failed(error: Exception) -> TransferError:
    reason = getattr(error, "reason", None) or error
    if isinstance(error, urllib.error.HTTPError):
        error.close()  # it holds the connection
    return TransferError(str(reason) or type(error).__name__)

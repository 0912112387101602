"""Downloads of tensorflow-datasets come to an end, whatever the server does.

It asks by ``requests`` without a time limit, which then has none: a server that takes the
connection and says nothing holds the run for ever
(https://requests.readthedocs.io/en/latest/user/advanced/#timeouts).
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

SILENT_S: Final = 30.0
"""A server that says nothing for so long is not waited for, neither before its answer nor in it."""
_RETRIES: Final = 2
"""Of the package 10, each after a pause that doubles: a quarter of an hour before a sentence."""


def bound_requests() -> None:
    """Give every request of this process, which has no other use, a time limit."""
    from requests.adapters import HTTPAdapter

    HTTPAdapter.send = _bounded(HTTPAdapter.send)  # type: ignore[method-assign]


def _bounded(send: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(send)
    def bounded(
        adapter: Any,  # noqa: ANN401 - of requests, which has no types
        request: Any,  # noqa: ANN401
        stream: bool = False,  # noqa: FBT001, FBT002 - called by position, too
        timeout: Any = None,  # noqa: ANN401
        *others: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        adapter.max_retries = adapter.max_retries.new(total=_RETRIES)
        limit = SILENT_S if timeout is None else timeout
        return send(adapter, request, stream, limit, *others, **named)

    return bounded

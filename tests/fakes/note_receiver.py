"""A server of this machine that receives notes, as ntfy or Slack would."""

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: str

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.body)


class NoteReceiver:
    """Listens within a ``with`` block.

    Attributes:
        answers: What it answers, one after the other; then 200.
        received: All requests so far.
    """

    def __init__(self, *answers: int) -> None:
        self.answers = list(answers)
        self.received: list[Received] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def _take(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length).decode()
                if len(body.encode()) < length:
                    return  # whoever sent it was killed meanwhile: half a request is none
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.received.append(Received(self.command, self.path, headers, body))
                code = receiver.answers.pop(0) if receiver.answers else 200
                self.send_response(code)
                if 300 <= code < 400:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            do_POST = do_PUT = do_GET = _take

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

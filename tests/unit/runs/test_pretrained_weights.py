"""Which pretrained network can be had: what is kept comes first, then what a server offers."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from typing_extensions import override

from gpupanel.domain import applications
from gpupanel.files.keras_cache import place_of
from gpupanel.planning.own_data import Pretrained, pretrained_networks
from gpupanel.runs.questions.pretrained_weights import pretrained_at_hand


class _Storage(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    # Nobody listens there.
    monkeypatch.setattr(applications, "_GOOGLE", "http://127.0.0.1:9/")


@pytest.fixture
def _storage(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with HTTPServer(("127.0.0.1", 0), _Storage) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/"
        monkeypatch.setattr(applications, "_GOOGLE", address)
        monkeypatch.setenv("no_proxy", "*")
        yield
        server.shutdown()
        thread.join()


def test_that_without_a_cache_and_a_server_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    assert pretrained_at_hand() is None


@pytest.mark.usefixtures("_storage")
def test_that_the_smallest_is_downloaded_where_none_is_kept() -> None:
    assert pretrained_at_hand() == Pretrained(pretrained_networks()[0], is_here=False)


@pytest.mark.usefixtures("_storage")
def test_that_one_that_is_kept_is_taken_before_a_download() -> None:
    kept = pretrained_networks()[2]
    place_of(kept.weights).parent.mkdir(parents=True)
    place_of(kept.weights).touch()
    assert pretrained_at_hand() == Pretrained(kept, is_here=True)

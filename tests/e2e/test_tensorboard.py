"""The curves of a real run, as the real TensorBoard serves them."""

import http.client
import json
import time
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.tensorboard import TensorBoards
from tests.forked.terminal import answered, gpupanel
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("tensorboard") is None, reason="TensorBoard is not installed"),
]

PROFILE = """
schema_version = 1
name = "curves"
[devices]
visible = ["cpu"]
[model]
source = "mlp"
[training]
epochs = 2
tensorboard = true
"""


def test_that_the_curves_of_a_run_are_served(tmp_path: Path) -> None:
    profile = tmp_path / "p.toml"
    profile.write_text(PROFILE)
    run = answered(gpupanel("run", profile, "--json"))["run"]
    boards = TensorBoards()
    try:
        place = urlsplit(boards.address_of(RunLayout(Path(run)), Event()))
        until_s, tags = time.monotonic() + PATIENCE_S, {}
        while len(tags) < 2 and time.monotonic() < until_s:
            connection = http.client.HTTPConnection(place.hostname or "", place.port)
            connection.request("GET", "/data/plugin/scalars/tags")
            tags = json.loads(connection.getresponse().read())
            connection.close()
            time.sleep(0.2)
    finally:
        boards.close()
    assert set(tags) == {"train", "validation"}
    assert {"epoch_loss", "epoch_accuracy"} <= set(tags["train"])

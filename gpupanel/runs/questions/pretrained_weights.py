"""Which pretrained network can be had: from Keras's cache, or else from the server of its weights.

Imported by a worker's thread: ``urllib.request`` takes a while.
"""

import http.client
import urllib.request
from typing import Final

from gpupanel.files.keras_cache import is_here
from gpupanel.planning.own_data import Pretrained, pretrained_networks

_LIMIT_S: Final = 3.0
"""A person waits for the settings meanwhile."""


def pretrained_at_hand() -> Pretrained | None:
    """The smallest network with weights in Keras's cache, else the smallest that can be downloaded.

    The server is asked for the size of the file, and nothing is downloaded.

    Returns:
        ``None`` where there is none: nothing is kept, and the server does not answer.
    """
    networks = pretrained_networks()
    for network in networks:
        if is_here(network.weights):
            return Pretrained(network, is_here=True)
    smallest = networks[0]
    return Pretrained(smallest, is_here=False) if _answers(smallest.weights.url) else None


def _answers(url: str) -> bool:
    question = urllib.request.Request(url, method="HEAD")  # noqa: S310 - of Keras, with https
    try:
        with urllib.request.urlopen(question, timeout=_LIMIT_S):  # noqa: S310 - likewise
            return True
    except (OSError, http.client.HTTPException, ValueError):
        return False

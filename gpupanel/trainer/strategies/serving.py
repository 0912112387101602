"""TensorFlow's server in a process of a gang."""

from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf

from gpupanel.trainer.strategies.loopback import check_listening, listen_on_loopback_only
from gpupanel.trainer.strategies.port_taken import PortTaken

_PORT_TAKEN = "Could not start gRPC server"


@contextmanager
def serving() -> Iterator[None]:
    """Start TensorFlow's server within: on loopback, or its node's one address only, or not at all.

    Raises:
        PortTaken: The server could not be started for that.
        ProblemError: It would be, or is, open to the network.
    """
    listen_on_loopback_only()
    try:
        yield
    except tf.errors.UnknownError as error:
        if _PORT_TAKEN in str(error):
            raise PortTaken from error
        raise
    check_listening()

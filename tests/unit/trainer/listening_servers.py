"""What TensorFlow's servers listen on, before and after they are kept on loopback.

``python tests/unit/trainer/listening_servers.py``, in a network of its own: the first server is
open to whoever can reach it. Prints one JSON document.
"""

import json
import os
import socket

from gpupanel.trainer.private_network import enter_handed_over

enter_handed_over()

import psutil  # noqa: E402 - the network is entered before anything starts a thread
import tensorflow as tf  # noqa: E402

from gpupanel.trainer.strategies import loopback  # noqa: E402


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listening_with_another_server() -> tuple[tf.distribute.Server, list[str]]:
    port = free_port()
    server = tf.distribute.Server({"worker": [f"127.0.0.1:{port}"]}, protocol="grpc")
    return server, [
        connection.laddr.ip.removeprefix("::ffff:")
        for connection in psutil.Process().net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
    ]


open_server, addresses = listening_with_another_server()
entries = [
    entry for library in loopback._libraries() for entry in loopback._entries(library, b"bind")
]
loopback.listen_on_loopback_only()
kept_server, kept_addresses = listening_with_another_server()
print(
    json.dumps({"entries": len(entries), "before": addresses, "after": kept_addresses}), flush=True
)
os._exit(0)

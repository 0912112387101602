"""A network of a run's own: its processes reach each other on loopback, and nobody else does.

TensorFlow's servers ask nobody who they are, so another user of the machine must not reach their
ports at all. A network namespace (network_namespaces(7)) has ports and a loopback of its own, and
no way out. Whoever may not make one makes a user namespace (user_namespaces(7)) with it, in which
everybody keeps the number that they have outside.

``python -m gpupanel.trainer.private_network`` makes one and keeps it until its standard input is
closed. The supervisor opens it meanwhile and hands it to the run's processes, and each of them
enters it before it starts its first thread. What a kernel permits cannot be read anywhere (under
AppArmor the namespace is granted and every right in it refused), so all of it is tried here.
"""

import ctypes
import errno
import fcntl
import os
import socket
import struct
import sys
import threading
from pathlib import Path
from typing import NoReturn

from gpupanel.domain.process_environment import NETWORK_READY, NETWORK_VARIABLE

# linux/sched.h, linux/sockios.h, linux/if.h, linux/capability.h
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_GET_FLAGS, _SET_FLAGS = 0x8913, 0x8914
_UP = 0x1
_INTERFACE_REQUEST = struct.Struct("=16sh22x")
_CAPABILITY_HEADER = struct.pack("=Ii", 0x20080522, 0)
_NO_CAPABILITIES = bytes(24)

_WAYS = (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK)
"""Root makes a network alone: in a user namespace it could not read the files of other users."""

_LIMITED = "no more namespaces are permitted"

_inside = threading.Event()

_libc = ctypes.CDLL(None, use_errno=True)


def handed_over() -> tuple[int, int] | None:
    """Descriptors of the user and the network namespace that the supervisor handed over.

    ``None``: the run has no network of its own, or this process is in it already.
    """
    text = os.environ.get(NETWORK_VARIABLE)
    if not text:
        return None
    user, network = text.split(",")
    return int(user), int(network)


def enter_handed_over() -> None:
    """Enter what :func:`handed_over` names, if anything, for good; before the first thread.

    Raises:
        OSError: The kernel does not permit it.
    """
    handed = handed_over()
    if handed is None:
        return
    enter(*handed)
    _inside.set()
    for descriptor in handed:
        os.close(descriptor)
    del os.environ[NETWORK_VARIABLE]  # what this process starts is inside already


def leads_nowhere() -> bool:
    """Whether this process has entered a network of the run's own: it reaches nothing else."""
    return _inside.is_set()


def enter(user: int, network: int) -> None:
    """Go on in these namespaces, with no right that this process did not have outside.

    Raises:
        OSError: The kernel does not permit it, as to a process with several threads.
    """
    is_another_user_namespace = os.fstat(user).st_ino != Path("/proc/self/ns/user").stat().st_ino
    if is_another_user_namespace:
        _check(_libc.setns(user, _NEW_USER))
    _check(_libc.setns(network, _NEW_NETWORK))
    if is_another_user_namespace:
        # Who enters one has every right in it, such as to read what it forbade itself to read.
        _check(_libc.capset(_CAPABILITY_HEADER, _NO_CAPABILITIES))


def main() -> int:
    """Make a network, say so in a line, and keep it until standard input is closed."""
    reasons = []
    for way in _WAYS:
        try:
            _make_and_enter(way)
        except OSError as error:
            words = os.strerror(error.errno or errno.EPERM)
            reasons.append(_LIMITED if error.errno == errno.ENOSPC else words)
        else:
            sys.stdout.write(f"{NETWORK_READY}\n")
            sys.stdout.flush()
            sys.stdin.read()
            return 0
    sys.stderr.write(reasons[-1])
    return 1


def _make_and_enter(way: int) -> None:
    """Let a child make it, and enter it from here as the run's processes will.

    Raises:
        OSError: The kernel does not permit one of the steps.
    """
    answers, answer = os.pipe()
    waits, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        _make_and_wait(way, answer, waits)
    os.close(answer)
    try:
        number = int(os.read(answers, 16) or 0)
        if number:
            raise OSError(number, os.strerror(number))
        enter(*(os.open(f"/proc/{child}/ns/{kind}", os.O_RDONLY) for kind in ("user", "net")))
    finally:
        for descriptor in (answers, waits, end):
            os.close(descriptor)
        os.waitpid(child, 0)


def _make_and_wait(way: int, answer: int, waits: int) -> NoReturn:
    """In the child: make it, answer with the error's number or 0, stay until it was entered."""
    try:
        _make(way)
    except OSError as error:
        os.write(answer, str(error.errno).encode())
    else:
        os.write(answer, b"0")
        os.read(waits, 1)
    finally:
        os._exit(0)


def _make(way: int) -> None:
    user, group = os.geteuid(), os.getegid()
    _check(_libc.unshare(way))
    if way & _NEW_USER:
        # Without it nobody may map a group; what this process may do as its groups stays.
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        loopback = _INTERFACE_REQUEST.pack(b"lo", 0)
        flags = _INTERFACE_REQUEST.unpack(fcntl.ioctl(control, _GET_FLAGS, loopback))[1]
        fcntl.ioctl(control, _SET_FLAGS, _INTERFACE_REQUEST.pack(b"lo", flags | _UP))


def _check(status: int) -> None:
    if status:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    sys.exit(main())

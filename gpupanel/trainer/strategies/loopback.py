"""Keeps TensorFlow's servers on this machine's loopback, or on one address of a cluster's network.

The workers of a run talk over gRPC, which has no authentication here, and TensorFlow binds its
server to every address (``AddListeningPort("0.0.0.0:PORT")`` in ``grpc_server_lib.cc``, read in
TensorFlow 2.21) whatever its cluster says. It has no setting for that, so the entry of ``bind`` in
the import tables of TensorFlow's own libraries is pointed at a function that turns "every address"
into 127.0.0.1, or into the one that the supervisor names for a run on several machines. Nothing
else of the process is touched, and what came of it is checked afterwards:
a process that listens elsewhere does not go on.
"""

import ctypes
import mmap
import os
import socket
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import psutil

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.process_environment import LISTEN_VARIABLE

_LOOPBACK = "127.0.0.1"
_TENSORFLOW = "libtensorflow"
_BIND = b"bind"

# elf.h: the dynamic section is a list of (tag, value); a relocation is (offset, info, addend).
_PT_DYNAMIC = 2
_DT_NULL, _DT_PLTRELSZ, _DT_STRTAB, _DT_SYMTAB, _DT_JMPREL = 0, 2, 5, 6, 23
_RELOCATION = struct.Struct("<QQq")
_SYMBOL_BYTES = 24

_Bind = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, use_errno=True
)


class _ProgramHeader(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("physical", ctypes.c_uint64),
        ("file_bytes", ctypes.c_uint64),
        ("memory_bytes", ctypes.c_uint64),
        ("alignment", ctypes.c_uint64),
    )


class _LoadedObject(ctypes.Structure):
    _fields_ = (
        ("base", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("headers", ctypes.POINTER(_ProgramHeader)),
        ("header_count", ctypes.c_uint16),
    )


_Visit = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(_LoadedObject), ctypes.c_size_t, ctypes.c_void_p
)


@dataclass(frozen=True, slots=True)
class _Library:
    """A library in this process: where it is, and where its dynamic section is."""

    base: int
    dynamic: int


def listening_address() -> str:
    """Where this process's server listens: loopback, unless the run is on several machines."""
    return os.environ.get(LISTEN_VARIABLE) or _LOOPBACK


def listen_on_loopback_only() -> None:
    """Make every server that TensorFlow starts from now on listen there; import it before.

    Raises:
        ProblemError: That cannot be done on this system.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32 or sys.byteorder != "little":
        raise ProblemError(_exposed(f"there is no way to prevent it on {sys.platform}"))
    entries = [entry for library in _libraries() for entry in _entries(library, _BIND)]
    if not entries:
        raise ProblemError(_exposed("TensorFlow's libraries do not import bind as they used to"))
    function = ctypes.cast(_bind_on_loopback, ctypes.c_void_p).value
    for entry in entries:
        _write(entry, function or 0)


def check_listening() -> None:
    """See that this process listens there only.

    Raises:
        ProblemError: It listens elsewhere.
    """
    exposed = [
        f"{address.ip}:{address.port}"
        for connection in psutil.Process().net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
        and not _is_permitted((address := connection.laddr).ip)
    ]
    if exposed:
        raise ProblemError(_exposed(f"it listens on {', '.join(exposed)}"))


def _is_permitted(address: str) -> bool:
    plain = address.removeprefix("::ffff:")
    return plain.startswith("127.") or address == "::1" or plain == listening_address()


def _exposed(why: str) -> Problem:
    return Problem(
        code="not_on_loopback",
        field="strategy.kind",
        message="TensorFlow's server would be open to the network, without authentication, so the "
        f"run does not continue: {why}.",
        hint="Use a strategy of one process: mirrored.",
    )


def _bind(descriptor: int, address: int, size: int) -> int:
    """``bind`` of the C library, with the permitted one for a stream socket's "every address"."""
    content = ctypes.string_at(address, size)
    if _is_stream(descriptor):
        content = _narrowed(content)
    buffer = ctypes.create_string_buffer(content, len(content))
    return int(_libc.bind(descriptor, buffer, len(content)))


def _is_stream(descriptor: int) -> bool:
    kind, size = ctypes.c_int(), ctypes.c_uint32(ctypes.sizeof(ctypes.c_int))
    asked = (socket.SOL_SOCKET, socket.SO_TYPE, ctypes.byref(kind), ctypes.byref(size))
    return _libc.getsockopt(descriptor, *asked) == 0 and kind.value == socket.SOCK_STREAM


def _narrowed(address: bytes) -> bytes:
    """A ``sockaddr`` with the permitted one in the place of "every address".

    Layouts of ``sockaddr_in`` and ``sockaddr_in6`` (ip(7), ipv6(7)): family and port take 4 bytes;
    then 4 bytes of address, or 4 of flow and 16 of address. Peers come over IPv4, so an IPv6
    socket, which takes both, gets the IPv4 address in IPv6's writing.
    """
    (family,) = struct.unpack_from("=H", address)
    if family == socket.AF_INET and address[4:8] == bytes(4):
        return address[:4] + socket.inet_aton(listening_address()) + address[8:]
    if family == socket.AF_INET6 and address[8:24] == bytes(16):
        return address[:8] + _mapped(listening_address()) + address[24:]
    return address


def _mapped(address: str) -> bytes:
    """An IPv4 address in IPv6's writing (RFC 4291, 2.5.5.2)."""
    return socket.inet_pton(socket.AF_INET6, f"::ffff:{address}")


def _libraries() -> list[_Library]:
    """TensorFlow's libraries in this process."""
    found: list[_Library] = []

    def visit(loaded: "ctypes._Pointer[_LoadedObject]", _size: int, _data: object) -> int:
        one = loaded.contents
        if _TENSORFLOW in (one.name or b"").decode(errors="replace").rsplit("/", 1)[-1]:
            found.extend(
                _Library(one.base, one.base + header.address)
                for header in one.headers[: one.header_count]
                if header.kind == _PT_DYNAMIC
            )
        return 0

    _libc.dl_iterate_phdr(_Visit(visit), None)
    return found


def _entries(library: _Library, name: bytes) -> Iterator[int]:
    """Addresses of a library's import table that hold the address of the function of that name."""
    section = dict(_dynamic_section(library.dynamic))
    if _DT_JMPREL not in section:
        return
    content = ctypes.string_at(section[_DT_JMPREL], section[_DT_PLTRELSZ])
    for offset, info, _ in _RELOCATION.iter_unpack(content):
        if _symbol_name(section, info >> 32) == name:
            yield library.base + offset


def _dynamic_section(address: int) -> Iterator[tuple[int, int]]:
    while True:
        tag, value = struct.unpack("<qQ", ctypes.string_at(address, 16))
        if tag == _DT_NULL:
            return
        yield tag, value
        address += 16


def _symbol_name(section: dict[int, int], symbol: int) -> bytes:
    entry = ctypes.string_at(section[_DT_SYMTAB] + symbol * _SYMBOL_BYTES, 4)
    return ctypes.string_at(section[_DT_STRTAB] + int.from_bytes(entry, "little"))


def _write(address: int, value: int) -> None:
    page = address & ~(mmap.PAGESIZE - 1)
    if _libc.mprotect(ctypes.c_void_p(page), mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE):
        raise ProblemError(_exposed("the import table of TensorFlow's library is sealed"))
    ctypes.c_uint64.from_address(address).value = value


_libc = ctypes.CDLL(None, use_errno=True)
_bind_on_loopback = _Bind(_bind)
"""Kept as long as the process lives: TensorFlow calls it."""

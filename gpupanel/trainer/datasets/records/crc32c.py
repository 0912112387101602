"""Checksums of TFRecord files: CRC-32C (Castagnoli), masked as TensorFlow does it.

No library that is here anyway has them, so they are calculated with NumPy, many bytes at once: a
checksum is linear over bits, so that of a row is that of its bytes one by one, each from a table
of its place, taken together by exclusive or. The check value of "123456789" is e3069283 (RFC 3720,
B.4); how it is masked: ``tensorflow/tsl/lib/hash/crc32c.h``.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_POLYNOMIAL = 0x82F63B78
_MASK = 0xA282EAD8
_ONES = 0xFFFFFFFF
_WIDTH = 1024
"""Bytes of a row; its tables take 1 MiB, which stays in a core's cache."""
_ROWS = 64
"""Of so many at once what is calculated stays there, too: more take three times as long."""
Bytes = bytes | memoryview


def _of_one_byte() -> npt.NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table


def _of_each_place() -> npt.NDArray[np.uint32]:
    """Of each byte followed by so many zeros as come after its place, shape [places, 256]."""
    tables = np.empty((_WIDTH, 256), np.uint32)
    last = tables[-1] = _of_one_byte()
    for place in range(_WIDTH - 2, -1, -1):
        after = tables[place + 1]
        tables[place] = last[after & 0xFF] ^ (after >> 8)
    return tables


_TABLES = _of_each_place()
_LAST: Sequence[int] = _TABLES[-1].tolist()
_FLAT = _TABLES.reshape(-1)
_FIRSTS = np.arange(_WIDTH, dtype=np.intp) * 256
# A state of 32 bits followed by a row of zeros: that of its four bytes at the start of one.
_OVER_ROW: Sequence[Sequence[int]] = _TABLES[:4].tolist()


def masked_crc(data: bytes) -> int:
    """The masked CRC of a few bytes, such as the length of a record."""
    state = _ONES
    for byte in data:
        state = _LAST[(state ^ byte) & 0xFF] ^ (state >> 8)
    return _masked(state ^ _ONES)


def masked_crcs(pieces: Sequence[Bytes]) -> list[int]:
    """The masked CRC of each of several pieces of any length."""
    found, first = [0] * len(pieces), 0
    while first < len(pieces):
        end, rows = first, 0
        # Small ones together: what is calculated of each by itself takes longest.
        while end < len(pieces) and (more := -(-len(pieces[end]) // _WIDTH)) + rows <= _ROWS:
            end, rows = end + 1, rows + more
        if end == first:
            found[first], end = _long(pieces[first]), first + 1
        else:
            found[first:end] = _short(pieces[first:end])
        first = end
    return found


def _long(piece: Bytes) -> int:
    whole, state = np.frombuffer(piece, np.uint8), 0
    # Zeros before the first byte change nothing, and fill the first row. That a checksum begins
    # with ones is the same as to turn round the first 32 bits.
    start = (len(whole) - 4) % _WIDTH + 4
    head = np.zeros(2 * _WIDTH, np.uint8)
    head[-start:] = whole[:start]
    head[-start : 4 - start or None] ^= 0xFF
    block = _ROWS * _WIDTH
    blocks = (whole[at : at + block] for at in range(start, len(whole), block))
    for rows in (head, *blocks):
        for of_row in _of_rows(rows.reshape(-1, _WIDTH)):
            state = of_row ^ (_over_row(state) if state else 0)
    return _masked(state ^ _ONES)


def _short(pieces: Sequence[Bytes]) -> list[int]:
    # Of short ones the last places of a row are enough.
    longest = max(map(len, pieces))
    width = _WIDTH if longest > _WIDTH else max(8, 8 * math.ceil(longest / 8))
    counts = [max(1, -(-len(piece) // width)) for piece in pieces]
    rows = np.zeros((sum(counts), width), np.uint8)
    flat, end = rows.reshape(-1), 0
    for piece, count in zip(pieces, counts, strict=True):
        end += count * width
        first = end - len(piece)
        flat[first:end] = np.frombuffer(piece, np.uint8)
        flat[first : min(end, first + 4)] ^= 0xFF
    states, place, found = _of_rows(rows), 0, []
    for piece, count in zip(pieces, counts, strict=True):
        state = 0
        for of_row in states[place : place + count]:
            state = of_row ^ (_over_row(state) if state else 0)
        place += count
        # What remains of the ones where there are fewer bits.
        found.append(_masked(state ^ (_ONES >> (8 * min(4, len(piece)))) ^ _ONES))
    return found


def _of_rows(rows: npt.NDArray[np.uint8]) -> list[int]:
    width = rows.shape[1]
    tables = _FLAT[(_WIDTH - width) * 256 :]
    found: list[int] = np.bitwise_xor.reduce(
        np.take(tables, rows + _FIRSTS[:width]), axis=1
    ).tolist()
    return found


def _over_row(state: int) -> int:
    one, two, three, four = _OVER_ROW
    return (
        one[state & 0xFF]
        ^ two[(state >> 8) & 0xFF]
        ^ three[(state >> 16) & 0xFF]
        ^ four[state >> 24]
    )


def _masked(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + _MASK) & _ONES

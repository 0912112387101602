"""What a host compresses is read line by line, whatever it does."""

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

import pytest

from gpupanel.hosts import lines
from gpupanel.hosts.lines import LineCompressor, LineReader, LinesError


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    os.close(ends[0])


def reader_of(pipe: tuple[int, int], content: bytes) -> LineReader:
    """One to which all of it is written, as fast as it reads."""

    def write() -> None:
        with suppress(OSError), os.fdopen(pipe[1], "wb") as file:
            file.write(content)

    Thread(target=write).start()
    return LineReader(pipe[0])


def raw(content: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(content) + compressor.flush(zlib.Z_FULL_FLUSH)


def test_that_lines_are_whole_after_the_first_that_is_not_packed(pipe):
    compressor = LineCompressor()
    said = [b"short", b"x" * 2**20, b"", b"y" * (2**18 - 1), *[b"%d" % each for each in range(999)]]
    reader = reader_of(
        pipe, b"hello\n" + b"".join(compressor.compressed(each + b"\n") for each in said)
    )
    assert reader.read(5.0) == b"hello"
    reader.decompress()
    assert [reader.read(5.0) for _ in said] == said
    with pytest.raises(EOFError):
        reader.read(5.0)


def test_that_a_line_can_be_read_as_soon_as_it_has_come(pipe):
    compressor, reader = LineCompressor(), LineReader(pipe[0])
    reader.decompress()
    for line in (b"first", b"second"):
        os.write(pipe[1], compressor.compressed(line + b"\n"))
        assert reader.read(5.0) == line
    assert reader.read(0.01) is None
    os.close(pipe[1])


@pytest.mark.parametrize("pieces", [1, 7, 65_536])
def test_that_half_of_what_is_packed_waits_for_its_other_half(pipe, pieces):
    content = LineCompressor().compressed(b"a line of some length\n" * 3)
    reader = LineReader(pipe[0])
    reader.decompress()
    heard = []
    for start in range(0, len(content), pieces):
        os.write(pipe[1], content[start : start + pieces])
        while (line := reader.read(0.01)) is not None:
            heard.append(line)
    assert heard == [b"a line of some length"] * 3
    os.close(pipe[1])


def test_that_few_bytes_that_become_very_many_are_not_kept(pipe, monkeypatch):
    monkeypatch.setattr(lines, "MOST_LINE_BYTES", 2**20)
    reader = reader_of(pipe, raw(b"x" * 2**28))
    reader.decompress()
    with pytest.raises(LinesError):
        reader.read(5.0)
    assert len(reader._rest) < 2**21


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff" * 100, id="it is not packed"),
        pytest.param(zlib.compress(b"x")[2:] + b"more", id="it ends"),
    ],
)
def test_that_what_is_not_packed_as_it_should_be_ends_the_conversation(pipe, content):
    reader = reader_of(pipe, content)
    reader.decompress()
    with pytest.raises(LinesError):
        reader.read(5.0)

"""``python fake_host.py SCRIPT [ANSWERS]``: says lines as a host would, and answers what is asked.

``SCRIPT`` has the lines that are said at once; what follows hello is compressed. ``ANSWERS`` is a
JSON document: for operations by their names what is said of each call, without its number.
"""

import json
import sys
import zlib
from pathlib import Path

COMPRESSOR = zlib.compressobj(wbits=-zlib.MAX_WBITS)


def say(content: bytes) -> None:
    sys.stdout.buffer.write(COMPRESSOR.compress(content) + COMPRESSOR.flush(zlib.Z_SYNC_FLUSH))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    said = Path(sys.argv[1]).read_bytes()
    after_hello = said.find(b"\n", max(0, said.find(b'"hello"'))) + 1
    sys.stdout.buffer.write(said[:after_hello])
    say(said[after_hello:])
    answers = json.loads(Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else {}
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        for each in answers.get(asked.get("operation"), ()):
            say(json.dumps({**each, "number": asked["number"]}).encode() + b"\n")

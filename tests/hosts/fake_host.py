"""``python fake_host.py SCRIPT [ANSWERS]``: says lines as a host would, and answers what is asked.

``SCRIPT`` has the lines that are said at once. ``ANSWERS`` is a JSON document: for operations by
their names what is said of each call, without its number.
"""

import json
import sys
from pathlib import Path


def say(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    say(Path(sys.argv[1]).read_bytes())
    answers = json.loads(Path(sys.argv[2]).read_text()) if len(sys.argv) > 2 else {}
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        for each in answers.get(asked.get("operation"), ()):
            say(json.dumps({**each, "number": asked["number"]}).encode() + b"\n")

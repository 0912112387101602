"""``python fake_host.py SCRIPT``: says the lines of a file as a host would, and waits."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.stdout.buffer.write(Path(sys.argv[1]).read_bytes())
    sys.stdout.buffer.flush()
    while sys.stdin.buffer.read(1):
        pass

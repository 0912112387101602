"""``python -m gpupanel.trainer RUN_DIR``: trains the run in that directory."""

import sys
from pathlib import Path

from gpupanel.trainer.process import train_run

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m gpupanel.trainer RUN_DIR")
    sys.exit(train_run(Path(sys.argv[1])))

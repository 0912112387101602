"""A supervisor as a process of its own, with a trainer without TensorFlow.

``python tests/fakes/supervise.py MODE RUN_DIR``: the mode is that of ``tests/fakes/trainer.py``; a
mode for each process, with commas between, is that of ``tests/fakes/gang_trainer.py``.
"""

import sys
from pathlib import Path

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.supervision.process import supervise
from gpupanel.runs.supervision.supervisor import Supervisor

FAKES = Path(__file__).parent

if __name__ == "__main__":
    mode, layout = sys.argv[1], RunLayout(Path(sys.argv[2]))
    trainer = "gang_trainer.py" if "," in mode else "trainer.py"
    command = (sys.executable, str(FAKES / trainer), mode)
    sys.exit(supervise(layout, lambda run: Supervisor(run, command)))

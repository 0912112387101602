"""Stands for srun(1): starts a task out of its own process group, and ends as it does.

Its arguments are written to ``$SRUN_LOG``. SIGTERM kills the task, as srun does when it is told to
end; SIGKILL leaves it to itself.
"""

import os
import signal
import subprocess
import sys

with open(os.environ["SRUN_LOG"], "a", encoding="utf-8") as log:  # noqa: PTH123 - read by tests only
    log.write(" ".join(sys.argv[1:]) + "\n")
words = sys.argv[1:]
task = subprocess.Popen(words[words.index("env") :], start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: os.killpg(task.pid, signal.SIGKILL))
status = task.wait()
sys.exit(128 - status if status < 0 else status)

"""A process that tests devices as a test wants, without TensorFlow."""

CHILD = r"""
import json, os, signal, sys, time
from pathlib import Path
request = json.load(sys.stdin)
started = Path(sys.argv[1]) / "started"
count = int(started.read_text()) if started.exists() else 0
# A test that reads it meanwhile never finds an empty file.
started.with_suffix(".new").write_text(str(count + 1))
started.with_suffix(".new").replace(started)
(Path(sys.argv[1]) / f"{count}.json").write_text(json.dumps(request))
(Path(sys.argv[1]) / f"{count}.env").write_text(json.dumps(dict(os.environ)))
cases = request["cases"]
def say(**line):
    print(json.dumps(line), flush=True)
def begin(number):
    say(begun={"number": number})
def end(number, result="passed", **more):
    say(outcome={"number": number, "result": result, "seconds": 0.1, **more})
def is_sum(case, way, count=None):
    return case["all_reduce"] == way and count in (None, len(case["places"]))
def run(bad=lambda case: None):
    say(ready={})
    for number, case in enumerate(cases):
        begin(number)
        what = bad(case)
        if what == "hang":
            time.sleep(1000)
        if what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        end(number, what or "passed", figure=12345.6)
    say(ended={})
"""
"""Of a process that answers as a test wants: ``count`` is how many were started before it."""

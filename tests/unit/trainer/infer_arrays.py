"""Evaluates or predicts with saved models in one process: ``python infer_arrays.py RUN_DIR...``.

Devices are configured once, by the plan of the first run. Each run gets an ``ended.json``: how it
ended, or the codes of its problems.
"""

import json
import sys
from pathlib import Path

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.device_configuration import configure_devices
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.inference.examples import read_to_infer
from gpupanel.trainer.inference.infer import report_data
from gpupanel.trainer.inference.infer_arrays import inference_of
from gpupanel.trainer.interruptions import Interruptions
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.start_up import reading_for
from gpupanel.trainer.started_run import read_started_run
from tests.fakes.checked_files import as_checked

layouts = [RunLayout(Path(argument)) for argument in sys.argv[1:]]
configure_devices(read_started_run(layouts[0], as_checked(layouts[0])).plan)
for layout in layouts:
    run, record = read_started_run(layout, as_checked(layout)), TrainingRecord()
    reported: dict[str, object] = {}
    with EventWriter(layout.events) as events:
        interruptions = Interruptions(layout.requests, events)
        try:
            examples = read_to_infer(run, reading_for(run, print))
            report_data(run, examples, events)
            ended = inference_of(run, examples, events, interruptions, record).infer()
            reported = {"ended": ended and ended.name, "examples": record.examples}
        except ProblemError as error:
            reported = {"problems": {each.code: each.message for each in error.problems}}
    (layout.root / "ended.json").write_text(json.dumps(reported), encoding="utf-8")

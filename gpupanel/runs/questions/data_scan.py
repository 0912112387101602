"""A scan of a profile's data, however long it takes."""

import math
from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.scan import DataScan, ScanProgress, ScanRequest
from gpupanel.runs.questions.question import Question

scan_data: Final = Question[ScanRequest, DataScan](
    code="scan",
    process="the process that scans the data",
    work="scanning the data",
    command=python_module_command("gpupanel.trainer.tools.scan"),
    answer=DataScan,
    lines={"progress": ScanProgress, "first": DataScan, "scan": DataScan},
    limit_s=math.inf,
    grace_s=1.0,
    death_hint="The data may be damaged or too large for this machine's memory; copy the detail.",
    field="data",
)

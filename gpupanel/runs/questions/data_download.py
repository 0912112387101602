"""A download of a profile's data before a run, however long it takes."""

import math
from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.data_download import DownloadEnd, DownloadProgress, DownloadRequest
from gpupanel.runs.questions.question import Question

download_data: Final = Question[DownloadRequest, DownloadEnd](
    code="download_died",
    has_one_code=True,
    process="the process that downloads",
    work="downloading",
    command=python_module_command("gpupanel.trainer.tools.data_download"),
    answer=DownloadEnd,
    lines={"progress": DownloadProgress, "end": DownloadEnd},
    limit_s=math.inf,
    grace_s=1.0,
    death_hint="Try again, or start a run, which downloads it as well. The detail has the "
    "process's answer.",
    field="data.source",
)

"""How fast the training examples of a profile can be read on this machine."""

from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.read_speed import ReadSpeed, ReadSpeedRequest
from gpupanel.runs.questions.question import Question

measure_reading: Final = Question[ReadSpeedRequest, ReadSpeed](
    code="read_speed",
    has_one_code=True,
    process="the process that reads examples",
    work="reading examples",
    command=python_module_command("gpupanel.trainer.tools.read_speed"),
    answer=ReadSpeed,
    limit_s=4500.0,
    slow_hint="The data may be on a disk that does not answer, or one batch is very large.",
    death_hint="The data may be damaged or too large for this machine's memory; copy the detail.",
    field="data",
)

"""A preview: the counts, and every problem of the data and the model file that a profile names."""

from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Severity
from gpupanel.runs.questions.question import Question

preview_data: Final = Question[PreviewRequest, DataPreview](
    code="preview",
    process="the process that reads the data for the preview",
    work="reading the data for the preview",
    command=python_module_command("gpupanel.trainer.tools.preview"),
    answer=DataPreview,
    limit_s=120.0,
    slow_hint="A run may still read it; a very large file or a slow disk can be the cause.",
    death_hint="The data may be damaged or too large for this machine's memory; copy the detail.",
    field="data",
    severity=Severity.WARNING,
)

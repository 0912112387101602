"""Examples of a run with what it made of them."""

from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.shown_examples import ShownExamples, ShownRequest
from gpupanel.runs.questions.question import Question

_HINT: Final = "The data may be damaged, too large for this machine's memory, or on a slow disk."
shown_examples: Final = Question[ShownRequest, ShownExamples](
    code="examples_not_shown",
    has_one_code=True,
    process="the process that reads the examples",
    work="reading the examples",
    command=python_module_command("gpupanel.trainer.tools.shown_examples"),
    answer=ShownExamples,
    limit_s=120.0,
    slow_hint=_HINT,
    death_hint=_HINT,
)

"""``python -m gpupanel.trainer.tools.prediction``: a model that answers as long as somebody asks.

Each line of standard input is a :class:`~gpupanel.domain.asked_prediction.PredictionAsked` as JSON,
and is answered by a line of standard output, a
:class:`~gpupanel.domain.asked_prediction.PredictionAnswer`. What is wrong with the model or the
example is inside the answer. The process ends with its standard input.
"""

import json
import os
import sys
from typing import BinaryIO

from gpupanel.domain.asked_prediction import PredictionAsked
from gpupanel.trainer.tools.prediction.answers import Answers


def main() -> int:
    """Answer one line after the other."""
    answers = Answers()
    with _own_output() as output:
        for line in sys.stdin.buffer:
            # Not model_validate_json(), which refuses the name of a file that is no UTF-8.
            asked = PredictionAsked.model_validate(json.loads(line))
            answer = answers.answer(asked).model_copy(update={"number": asked.number})
            output.write(answer.model_dump_json().encode() + b"\n")
            output.flush()
    return 0


def _own_output() -> BinaryIO:
    """Standard output for answers alone: what libraries print goes to standard error from now."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


if __name__ == "__main__":
    status = main()
    # TensorFlow would take a second to take itself apart.
    os._exit(status)

"""Asks a process that keeps a model loaded: the first answer takes seconds, the others do not."""

import json
from contextlib import suppress
from threading import Event, Lock
from typing import Final

from pydantic import ValidationError

from gpupanel.devices.child_process import ChildAnswer, ChildEnd
from gpupanel.devices.conversation import Conversation
from gpupanel.domain.asked_prediction import PredictionAnswer, PredictionAsked
from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.device import CPU_KEY
from gpupanel.runs.questions.question import Question, variables_of

_BY_A_RUN: Final = "Predict by a run instead, on a device that has more of it."
predict_example: Final = Question[PredictionAsked, PredictionAnswer](
    code="prediction_not_answered",
    has_one_code=True,
    process="the process that predicts",
    work="predicting",
    command=python_module_command("gpupanel.trainer.tools.prediction"),
    answer=PredictionAnswer,
    limit_s=120.0,
    slow_hint=f"The model may need too much computation for this machine's CPU. {_BY_A_RUN}",
    death_hint=f"The model may be too large for this machine's memory. {_BY_A_RUN}",
)
"""Importing TensorFlow and loading a model are within the limit."""


class Predictor:
    """Starts the process when somebody asks; on the CPU, whatever GPUs there are.

    Several threads may use it: one waits for the other.

    Args:
        question: What is started, and what is said where it does not answer.
    """

    def __init__(
        self, question: Question[PredictionAsked, PredictionAnswer] = predict_example
    ) -> None:
        self._question = question
        self._process: Conversation | None = None
        self._number = 0
        self._lock = Lock()

    @property
    def process_number(self) -> int | None:
        """Of the process that keeps the model; ``None``: there is none."""
        return None if self._process is None else self._process.number

    def ask(self, asked: PredictionAsked, cancelled: Event | None = None) -> PredictionAnswer:
        """Ask, and wait for the answer.

        Whatever becomes of the process, that is the answer: a death, a time limit or an answer that
        cannot be read is a problem in it. The next question then starts another process.

        Args:
            asked: What is asked.
            cancelled: Set, by any thread, when the answer is not wanted any more: the process ends,
                and the answer is empty.
        """
        with self._lock:
            return self._answer(asked, cancelled)

    def close(self) -> None:
        """End the process, if there is one; the next question starts another.

        Waits for an answer that is waited for.
        """
        with self._lock:
            self._end()

    def _answer(self, asked: PredictionAsked, cancelled: Event | None) -> PredictionAnswer:
        self._number += 1
        asked = asked.model_copy(update={"number": self._number})
        # Not model_dump_json(), which raises for a path that is no UTF-8.
        words = json.dumps(asked.model_dump(mode="json")).encode()
        question = self._question
        try:
            if self._process is None:
                self._process = Conversation(question.command, variables_of(CPU_KEY))
            reply = self._process.ask(words, question.limit_s, cancelled)
        except OSError as error:
            self._end()
            return PredictionAnswer(problems=(question.not_started(error),))
        misread = ""
        if isinstance(reply, bytes):
            try:
                answer = PredictionAnswer.model_validate_json(reply)
            except ValidationError as error:
                misread = str(error)
            else:
                if answer.number == asked.number:
                    return answer
                misread = f"the answer {answer.number} to the question {asked.number}"
            reply = ChildAnswer(ChildEnd.BY_ITSELF, exit_code=0)
        self._end()
        if reply.end is ChildEnd.CANCELLED:
            return PredictionAnswer()
        return PredictionAnswer(problems=(question.death(reply, misread, question.limit_s),))

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError):
                process.end()

"""What is shown, copied and saved of an answer about one example."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from gpupanel.domain.asked_prediction import MOST_PREDICTED, PredictedNumber, PredictionAnswer
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.ui import formatting

_MORE_PROBABLE_THAN_NOT = 0.5
NO_LABEL = "None of its labels"


@dataclass(frozen=True, slots=True)
class GivenExample:
    """An example and its answer.

    Attributes:
        title: Its file, the cells of its row, or its text.
        answer: ``None``: it is being waited for.
    """

    title: str
    answer: PredictionAnswer | None = None

    @property
    def headline(self) -> str:
        """What it is, in few words; empty where that is not known."""
        answer = self.answer
        if answer is None or not answer.predicted:
            return ""
        first = answer.predicted[0]
        match answer.meaning:
            case "classes":
                return first.name
            case "labels":
                has = [one.name for one in answer.predicted if one.number > _MORE_PROBABLE_THAN_NOT]
                return ", ".join(has) or NO_LABEL
        return f"{first.name}: {value_text(first.number)}" if first.name else ""

    @property
    def sentences(self) -> str:
        """What is to be known of it: why there is no answer, or what was assumed."""
        answer = self.answer
        if answer is None:
            return ""
        told = [f"Given to the model as {answer.made}."] if answer.made else []
        told += [problem_sentences(each) for each in answer.problems]
        more = answer.predicted_count - len(answer.predicted)
        if more > 0 and answer.meaning == "values":
            told.append(f"{formatting.count(more)} more values are not shown.")
        return "\n".join(told)


def value_text(number: float) -> str:
    """A predicted value as people read it: to five digits at least."""
    return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.5g}"


def number_text(answer: PredictionAnswer, predicted: PredictedNumber) -> str:
    """What stands beside a name: a probability, or a value."""
    if answer.meaning == "values":
        return value_text(predicted.number)
    return formatting.fraction(predicted.number)


def as_csv(examples: Sequence[GivenExample], *, delimiter: str = ",") -> str:
    """A line for each example that was answered, and one above with the names of columns."""
    rows = [each for each in examples if each.answer is not None]
    answers = [each.answer for each in rows if each.answer is not None]
    are_values = any(each.meaning == "values" for each in answers)
    count = max((len(each.predicted) for each in answers), default=0)
    places = range(1, min(count, MOST_PREDICTED) + 1)
    second = "value" if are_values else "probability"
    head = ["example", "predicted"]
    head += [f"{what} {place}" for place in places for what in ("name", second)]
    text = io.StringIO()
    lines = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    lines.writerow([*head, "note"])
    for each, answer in zip(rows, answers, strict=True):
        cells: list[object] = [each.title, each.headline]
        for place in range(len(places)):
            one = answer.predicted[place] if place < len(answer.predicted) else None
            cells += ["", ""] if one is None else [one.name, f"{one.number:.9g}"]
        lines.writerow([*cells, each.sentences.replace("\n", " ")])
    return text.getvalue()

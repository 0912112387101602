"""Which examples an evaluation counted, in words."""

from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.number_text import count


def evaluated_text(found: EvaluationDone) -> str:
    """Which examples were evaluated, within a sentence; empty for runs of earlier versions."""
    if found.which is None:
        return ""
    words = f"{count(found.examples)} {'example' if found.examples == 1 else 'examples'}"
    if found.which == "validation":
        words += " that training held out"
    if found.learned is None:
        return words
    if not found.learned:
        return f"{words}, of which the model learned from none"
    is_all = found.learned == found.examples
    about = "about " if found.learned_is_estimate else ""
    known = "all" if is_all else f"{about}{count(found.learned)}"
    return f"{words}, of which the model learned from {known}"

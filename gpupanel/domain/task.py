"""What a run does."""

from typing import Literal

Task = Literal["train", "evaluate", "predict"]
"""What is done with the data."""

"""What a run does."""

from typing import Literal

Task = Literal["train", "evaluate", "predict", "script"]
"""Train, run a saved model, or run a program of the person's own."""

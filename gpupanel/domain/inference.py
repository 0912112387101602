"""What the tasks ``evaluate`` and ``predict`` do with a saved model."""

from typing import Literal

from gpupanel.domain.value import PositiveInt, Value


class InferenceSettings(Value):
    """The ``[inference]`` table of a profile.

    Attributes:
        examples: Which ones: all of them, or those that training with the same data settings and
            seed would learn from or validate on. Results are in the source's own order.
        batch_size: Examples of one call over all replicas; it changes speed and memory only.
        output: The file format of the predictions.
    """

    examples: Literal["all", "training", "validation"] = "all"
    batch_size: PositiveInt = 256
    output: Literal["npz", "csv"] = "npz"

"""What a saved model's file says of the data that the model was trained on."""

from typing import Literal

from gpupanel.domain.data_source import Target
from gpupanel.domain.value import Value

TRAINED_ON_MEMBER = "trained_on.json"
"""In a saved model's file; Keras passes over what it did not write."""


class TrainedOn(Value):
    """What the outputs of a model are about.

    Attributes:
        predicts: What the labels were.
        class_names: Of the classes or labels, in the order of the outputs; none for values.
        data: A digest that data of the same kind in the same place has; empty: not known.
        division: A digest of that and of all that decides which examples were held out.
    """

    schema_version: Literal[1] = 1
    predicts: Target
    class_names: tuple[str, ...] = ()
    data: str = ""
    division: str = ""

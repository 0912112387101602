"""What a saved model's file says of the data that the model was trained on."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from gpupanel.domain.data_source import Holdout, Target
from gpupanel.domain.value import Count, Fraction, PositiveInt, Value

TRAINED_ON_MEMBER = "trained_on.json"
"""In a saved model's file; Keras passes over what it did not write."""


class HeldOut(Value):
    """How a training held examples out; with the same examples it says which ones.

    Attributes:
        held_out_fraction: Of the training examples; 0: none of them, other sets may have validated.
        group: The column that says which are held out together; empty: none does.
        fold: Which part of them, of parts of that fraction; ``None``: no cross-validation.
    """

    held_out_fraction: Fraction = 0.0
    holdout: Holdout = Holdout.RANDOM
    stratify: bool = False
    group: str = ""
    fold: PositiveInt | None = None
    seed: int = 0


class TrainedOutput(Value):
    """What one of several outputs is about.

    Attributes:
        name: Its key in the dictionary that the model gives.
        predicts: What it was trained to, or each place of it.
        class_names: Of the classes, in their order; none for labels and values.
        weight: What its loss counted in the sum of all.
    """

    name: str
    predicts: Target
    class_names: tuple[str, ...] = ()
    weight: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 1.0


class TrainedOn(Value):
    """What the outputs of a model are about.

    Attributes:
        predicts: What the labels were; of arrays, what each place of them was.
        outputs: Whether an example has a row of outputs, which are classes, labels or values;
            arrays of these; or what a loss of the person's own made of them, which nobody else
            knows the meaning of.
        class_names: Of the classes or labels, in the order of the outputs; none for values.
        parts: Of several outputs, each; none: there is one.
        own_metrics: What code of the person's own measured beside the loss.
        data: A digest that data of the same kind in the same place has; empty: not known.
        content: A digest that the same training examples in the same order have, wherever they
            are; empty: not known.
        held_out: Which of them were held out; ``None``: not known.
        learned: How many examples were learned from; 0: not known.
        value_range: Least and greatest number of the examples; ``None``: not known.
        edges: Of greyscale examples: how bright the edges of most of them are, from 0 (the least
            number) to 1 (the greatest): no darker, and no brighter. ``None``: not known.
        sample: Digests of some of these, by which they are found among others: the smallest ones.
            None where they resemble each other, or are not held in memory.
    """

    # A later version may say more.
    model_config = ConfigDict(extra="ignore")

    schema_version: Literal[1] = 1
    predicts: Target
    outputs: Literal["row", "arrays", "own"] = "row"
    class_names: tuple[str, ...] = ()
    parts: tuple[TrainedOutput, ...] = ()
    own_metrics: tuple[str, ...] = ()
    data: str = ""
    content: str = ""
    held_out: HeldOut | None = None
    learned: Count = 0
    sample: tuple[str, ...] = ()
    value_range: tuple[float, float] | None = None
    edges: tuple[float, float] | None = None

    @property
    def says_data(self) -> bool:
        """Whether data that was learned from can be known again."""
        return bool(self.data or self.content)

"""A network for tables."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.kind import kind
from gpupanel.domain.model_kind import (
    MOST_LAYERS,
    ExampleKind,
    Model,
    Units,
    batch_norm_setting,
    dropout_setting,
    hidden_setting,
    synchronized_setting,
)
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Fraction, PositiveInt

MOST_EMBEDDINGS = MOST_LAYERS
MOST_UNITS = 600


class TabularModel(Model):
    """Each category becomes numbers that are learned; dense layers take these and the numbers.

    By itself a column of n categories gets 1.6 * n ** 0.56 numbers, 600 at most: fastai's rule for
    tables, found by trying.
    """

    source: Literal["table"] = kind(
        Choice(
            "table",
            "Table: embeddings and dense layers",
            "Learns an embedding of each category of a column; for tables.",
        )
    )
    embedding_units: Annotated[PositiveInt, Field(le=MOST_UNITS)] | None = setting(
        "Embedding size",
        "How many numbers represent a category of a column. Detected from how many categories the "
        "column has.",
        default=None,
        off="automatic",
        advanced=True,
    )
    hidden: Units = hidden_setting(default=(128, 64))
    dropout: Fraction = dropout_setting("after each hidden layer")
    batch_norm: bool = batch_norm_setting("hidden layer")
    batch_norm_synchronized: bool = synchronized_setting(applies={"batch_norm": (True,)})

    module: ClassVar[str] = "table"
    is_divided: ClassVar[bool] = True
    takes: ClassVar[ExampleKind] = ExampleKind.COLUMNS
    is_suggested: ClassVar[bool] = True

    def units_of(self, categories: int) -> int:
        """Numbers that stand for a category of a column with so many."""
        return self.embedding_units or min(MOST_UNITS, round(1.6 * categories**0.56))

    @override
    def least_weights(self, feature_shape: tuple[int, ...], outputs: int, token_count: int) -> int:
        """The least number of weights, as if no column were categorical."""
        count, before = 0, 1
        for units in self.hidden:
            count += before * units + (4 if self.batch_norm else 1) * units
            before = units
        return count + (before + 1) * outputs

    @property
    @override
    def normalises_batches(self) -> bool:
        return self.batch_norm

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized

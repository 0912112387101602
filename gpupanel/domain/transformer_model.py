"""A transformer for texts."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.kind import kind
from gpupanel.domain.model_kind import ExampleKind, Model, dropout_setting
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Fraction, PositiveInt

MOST_BLOCKS = 48
"""The number of blocks of the largest GPT-2."""


class TransformerModel(Model):
    """Blocks of self-attention over the words of a text, then their mean and the output.

    Words and their places become numbers that are learned. A block normalises before attention and
    before its two dense layers, and adds what each gives to what it was given; places after the
    last word of a text count nowhere. A text without words has the mean 0.
    """

    source: Literal["transformer"] = kind(
        Choice(
            "transformer",
            "Transformer: attention",
            "Every word attends to all others of its text; for texts.",
        )
    )
    width: PositiveInt = setting(
        "Embedding size",
        "How many numbers represent a word within the network.",
        default=64,
    )
    blocks: Annotated[PositiveInt, Field(le=MOST_BLOCKS)] = setting(
        "Blocks",
        "Each is attention and two dense layers.",
        default=2,
    )
    heads: PositiveInt = setting(
        "Attention heads",
        "How many attentions each block computes at once, each over the width divided by their "
        "number.",
        default=4,
        advanced=True,
    )
    hidden_units: PositiveInt = setting(
        "Hidden units",
        "Units of the first of the two dense layers in each block; usually 2 to 4 times the "
        "embedding size.",
        default=128,
        advanced=True,
    )
    dropout: Fraction = dropout_setting(
        "after attention and dense layers, and before the output", default=0.1
    )

    module: ClassVar[str] = "transformer"
    is_divided: ClassVar[bool] = True
    takes: ClassVar[ExampleKind] = ExampleKind.WORDS
    is_suggested: ClassVar[bool] = True

    @property
    @override
    def normalises_batches(self) -> bool:
        return False

    @override
    def least_weights(self, feature_shape: tuple[int, ...], outputs: int, token_count: int) -> int:
        """All of them."""
        width, hidden = self.width, self.hidden_units
        attention = 4 * width * self.heads * self.units_of_head
        dense = (width + 1) * hidden + (hidden + 1) * width
        block = attention + dense + 2 * _norm(width)
        embedded = (token_count + feature_shape[0]) * width
        return embedded + self.blocks * block + _norm(width) + (width + 1) * outputs

    @override
    def least_activations(self, feature_shape: tuple[int, ...]) -> int:
        """Each head compares each word with each, and the gradient needs all of it again."""
        words = feature_shape[0]
        return words * (self.width + self.blocks * (self.heads * words + self.hidden_units))

    @property
    def units_of_head(self) -> int:
        """Numbers that each head compares words by."""
        return max(1, self.width // self.heads)


def _norm(width: int) -> int:
    """Numbers of a layer normalisation."""
    return 2 * width
